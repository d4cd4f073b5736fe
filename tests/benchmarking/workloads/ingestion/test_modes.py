"""Every mode on every layout that it supports."""

import pytest

from tests.benchmarking.workloads.ingestion.contract import IngestionContract

pytestmark = pytest.mark.slow
OF_DISK = {"files": "files", "shards": "tar"}


class TestLocal(IngestionContract):
    def reader(self, layout):
        return OF_DISK[layout]

    def input_mode(self):
        return "local"


class TestMemory(IngestionContract):
    def reader(self, layout):
        return "memory"


class TestFile(TestLocal):
    remote = True

    def input_mode(self):
        return "file"


class TestFastFile(TestFile):
    def input_mode(self):
        return "fastfile"


class TestPipe(IngestionContract):
    layouts = ("shards",)
    remote = True
    reads_by_itself = False

    def reader(self, layout):
        return "pipe"

    def damage(self, name):
        return r"channel_0: .* ends within member 0000\d\d\.jpg"

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
    """Of files on the disk; of S3 where s3fs is installed."""

    def reader(self, layout):
        return "fsspec"
