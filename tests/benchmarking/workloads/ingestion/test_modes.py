"""Every mode on every layout that it supports."""

import json

import pytest

from definitions.formats import LAYOUTS
from definitions.ingestion import INGESTIONS
from tests.benchmarking.workloads.ingestion.contract import SPECS, IngestionContract
from tests.benchmarking.workloads.ingestion.fake_mount import fake_mount

pytestmark = pytest.mark.slow
EVERY = tuple(SPECS)


class TestLocal(IngestionContract):
    cases = EVERY

    def reader(self, layout):
        return INGESTIONS["local"].layouts[layout]

    def input_mode(self):
        return "local"


class TestMemory(IngestionContract):
    cases = EVERY

    def reader(self, layout):
        return "memory"


class TestFile(TestLocal):
    remote = True

    def input_mode(self):
        return "file"


class TestFastFile(TestFile):
    cases = tuple(case for case in EVERY if SPECS[case].layout not in INGESTIONS["fastfile"].not_emulated)

    def input_mode(self):
        return "fastfile"


class TestPipe(IngestionContract):
    cases = ("shards", "records")
    remote = True
    reads_by_itself = False

    def reader(self, layout):
        return "pipe"

    def damage(self, name):
        return r"channel_0: (.* ends within member 0000\d\d\.jpg|record at byte \d+: the file ends within it)"

    def input_mode(self):
        return "pipe"


class TestS3Map(IngestionContract):
    remote = True

    def reader(self, layout):
        return "s3_map"


class TestS3Iterable(IngestionContract):
    remote = True

    def reader(self, layout):
        return "s3_iterable"


class TestBoto3(IngestionContract):
    remote = True

    def reader(self, layout):
        return "boto3"


class TestFsspec(IngestionContract):
    """Of files on the disk."""

    def reader(self, layout):
        return "fsspec"


class TestFsspecOfS3(TestFsspec):
    remote = True
    needs = "s3fs"


class TestWebDataset(IngestionContract):
    cases = ("shards",)
    remote = True
    needs = "webdataset"

    def reader(self, layout):
        return "webdataset"


class TestLitData(IngestionContract):
    cases = ("chunks",)
    remote = True
    needs = "litdata"

    def reader(self, layout):
        return "litdata"


class TestMountpoint(IngestionContract):
    """By a fake that is called one: there is no Mountpoint where these tests run."""

    cases = EVERY
    remote = True

    def reader(self, layout):
        return "mountpoint"

    def input_mode(self):
        return "mount"

    def environ(self, tmp_path):
        return {**super().environ(tmp_path), **fake_mount(tmp_path / "fake")}


class TestMountpointCache(TestMountpoint):
    cases = ("files",)

    def reader(self, layout):
        return "mountpoint_cache"

    @pytest.fixture(autouse=True)
    def _a_cache_was_asked_for(self, tmp_path):
        yield
        given = tmp_path / "fake" / "mount.json"
        assert not given.exists() or "--cache" in json.loads(given.read_text())


CONTRACTS = {
    "local": TestLocal, "memory": TestMemory, "file": TestFile, "fastfile": TestFastFile, "pipe": TestPipe, "s3_map": TestS3Map,
    "s3_iterable": TestS3Iterable, "boto3": TestBoto3, "fsspec": TestFsspecOfS3, "webdataset": TestWebDataset, "litdata": TestLitData,
    "mountpoint": TestMountpoint, "mountpoint_cache": TestMountpointCache,
    "fsx": TestLocal, "efs": TestLocal,  # a mounted file system is a folder to a job
}  # fmt: skip


def test_each_ingestion_passes_the_contract_on_every_layout_that_it_reads():
    assert set(CONTRACTS) == set(INGESTIONS) - {"uri"}
    for name, contract in CONTRACTS.items():
        tested = {SPECS[case].layout for case in contract.cases}
        reads = set(INGESTIONS[name].layouts) - set(INGESTIONS[name].not_emulated)
        # The cache changes nothing of what the mounted folder holds.
        assert tested == (reads if name != "mountpoint_cache" else {"files"})
    assert {SPECS[case].layout for case in SPECS} == set(LAYOUTS)
