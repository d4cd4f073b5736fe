"""What every way of reading a channel has to do, on every layout that it supports."""

from __future__ import annotations

import csv
import os
import tarfile
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from benchmarking.datasets import EmbeddedS3, prepare, upload
from benchmarking.workloads.ingestion import BadSampleError, Channel, GuardedLoad, Knobs, ReaderShare, Tolerance, make_loader, open_channel
from benchmarking.workloads.ingestion_models.images import LoadImage
from definitions.schema import ImagesDataset, TableDataset

SAMPLES = 40
IMAGES = {"type": "images", "samples": SAMPLES, "image_size": 32}
TABLE = {"type": "table", "rows": SAMPLES, "columns": 5, "partitions": 8}
SPECS = {
    "files": ImagesDataset(format="jpg", **IMAGES),
    "shards": ImagesDataset(format="tar", shard_size="16KiB", **IMAGES),
    "records": ImagesDataset(format="tfrecord", shard_size="4KiB", **IMAGES),
    "table": TableDataset(format="csv", **TABLE),
    "parquet": TableDataset(format="parquet", **TABLE),
    "chunks": ImagesDataset(format="chunks", shard_size="4KiB", **IMAGES),
}
NEEDS = {"table": "pyarrow", "parquet": "pyarrow", "chunks": "litdata"}


def is_there(case: str) -> bool:
    return case not in NEEDS or find_spec(NEEDS[case]) is not None


class World:
    """Data sets of each layout on the disk and in an S3 server of ours."""

    def __init__(self, folder: Path, server: EmbeddedS3) -> None:
        self.folder, self.server = folder, server
        self.sets = {case: prepare(case, spec, cache=folder / "cache", s3=server.target) for case, spec in SPECS.items() if is_there(case)}

    def location(self, case: str, remote: bool) -> str:
        return self.sets[case].uri if remote else str(self.sets[case].path)

    def expected(self, case: str) -> dict[str, int]:
        """Return the label of each key; of rows as Python's own csv reads them."""
        if SPECS[case].layout != "table":
            return {f"{index:06d}": index % 2 for index in range(SAMPLES)}
        found = {}
        for path in sorted(self.sets["table"].path.glob("*.csv")):
            with path.open(newline="") as file:
                found |= {f"{path.stem}-{number:06d}": int(row["label"]) for number, row in enumerate(csv.DictReader(file))}
        return found

    def uploaded(self, folder: Path, name: str) -> str:
        return upload(folder, name, self.server.target)


@pytest.fixture(scope="package")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    with EmbeddedS3(folder / "s3") as server:
        yield World(folder, server)


@pytest.fixture
def s3(world, monkeypatch):
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in world.server.environment.items():
        monkeypatch.setenv(name, value)
    return world


def keep(samples):
    return samples


def decoded(samples):
    load = GuardedLoad(LoadImage(32), Tolerance())
    return [(sample.key, load(sample), sample.label) for sample in samples]


def numbers(samples):
    return [(sample.key, sample.content, sample.label) for sample in samples]


def read(opened, knobs, epoch=0, collate=keep):
    opened.set_epoch(epoch)
    return [sample for batch in make_loader(opened, knobs, collate) for sample in batch]


def labels(samples):
    return {sample[0]: sample[2] for sample in samples}


class IngestionContract:
    """Inherited by each mode; `channel` says how it is announced to a job."""

    cases = ("files", "shards", "records", "table", "parquet")
    remote = False
    needs: str | None = None  # a package without which its tests are skipped
    reads_by_itself = True  # each rank and each worker can open what it wants

    def reader(self, layout: str) -> str:
        raise NotImplementedError

    def input_mode(self) -> str:
        return "none"

    def damage(self, name: str) -> str:
        """What is said of damage names the object; where objects have no names, the member after which it is."""
        return name

    @pytest.fixture
    def case(self, request):
        if not is_there(request.param):
            pytest.skip(f"{NEEDS[request.param]} is not installed")
        if self.needs is not None and find_spec(self.needs) is None:
            pytest.skip(f"{self.needs} is not installed")
        return request.param

    def channel(self, location, case, **more):
        layout = SPECS[case].layout
        return Channel(location, self.reader(layout), layout, input_mode=self.input_mode(), **more)

    def environ(self, tmp_path):
        return {**os.environ, "OUTRIDER_SCRATCH": str(tmp_path / "scratch"), "OUTRIDER_JOB": f"{tmp_path}"}

    def opened(self, s3, tmp_path, case, knobs, share=None, location=None):
        channel = self.channel(location or s3.location(case, self.remote), case)
        return open_channel(channel, self.environ(tmp_path), knobs, share=share)

    def place(self, s3, folder, name):
        return s3.uploaded(folder, name) if self.remote else str(folder)

    @pytest.mark.parametrize("workers", [0, 2])
    def test_each_sample_comes_once_an_epoch(self, s3, tmp_path, case, workers):
        knobs = Knobs(batch_size=7, loader_workers=workers)
        with self.opened(s3, tmp_path, case, knobs) as opened:
            for epoch in (0, 1):
                samples = read(opened, knobs, epoch)
                assert len(samples) == SAMPLES
                assert labels(samples) == s3.expected(case)

    def test_ranks_share_what_there_is(self, s3, tmp_path, case):
        if not self.reads_by_itself:
            pytest.skip("what has one reader cannot be shared")
        found = []
        for rank in range(3):
            knobs = Knobs(batch_size=4, loader_workers=2 if rank else 0)
            with self.opened(s3, tmp_path, case, knobs, ReaderShare(rank, 3)) as opened:
                found.append(read(opened, knobs))
        assert sorted(sample.key for samples in found for sample in samples) == sorted(s3.expected(case))
        assert all(found)

    def test_contents_are_those_on_the_disk(self, s3, tmp_path, case):
        """Images are those of the set of files, rows those of the set of CSV files."""
        is_table = SPECS[case].layout == "table"
        other, collate = ("table", numbers) if is_table else ("files", decoded)
        knobs = Knobs(batch_size=16)
        with open_channel(Channel(s3.location(other, False), other, other), {}, knobs) as opened:
            local = {key: content for key, content, _ in read(opened, knobs, collate=collate)}
        with self.opened(s3, tmp_path, case, knobs) as opened:
            here = {key: content for key, content, _ in read(opened, knobs, collate=collate)}
        assert set(here) == set(local) == set(s3.expected(case))
        # A CSV file has six digits of each number.
        assert all(np.allclose(local[key], here[key], rtol=1e-5 if is_table else 0, atol=0) for key in local)

    def test_the_order_follows_from_seed_and_epoch(self, s3, tmp_path, case):
        if not self.reads_by_itself:
            pytest.skip("the order is the writer's")

        def keys(epoch, **given):
            knobs = Knobs(batch_size=8, **given)
            with self.opened(s3, tmp_path, case, knobs) as opened:
                return [sample.key for sample in read(opened, knobs, epoch)]

        first, second, again, other = keys(0), keys(1), keys(0), keys(0, seed=1)
        assert first == again
        assert len({tuple(first), tuple(second), tuple(other)}) == 3
        expected = s3.expected(case)
        by_name = sorted(expected, key=lambda key: (expected[key] if case == "files" else 0, key))
        assert keys(0, shuffle=False) == keys(5, shuffle=False) == by_name

    def test_what_cannot_be_read_is_named(self, s3, tmp_path, case):
        """A sample that is cut in the middle; a shard likewise."""
        folder = tmp_path / "damaged"
        broken = damaged(s3.sets[case].path, folder)
        location = self.place(s3, folder, f"damaged-{type(self).__name__}-{case}")
        knobs = Knobs(batch_size=8, shuffle=False)
        collate = keep if SPECS[case].layout == "table" else decoded
        with (
            pytest.raises(BadSampleError, match=self.damage(broken)),
            self.opened(s3, tmp_path, case, knobs, location=location) as opened,
        ):
            read(opened, knobs, collate=collate)

    def test_suffixes_of_all_forms_and_cases(self, s3, tmp_path, case):
        folder = tmp_path / "mixed"
        total = mixed(s3.sets[case].path, folder)
        location = self.place(s3, folder, f"mixed-{type(self).__name__}-{case}")
        knobs = Knobs(batch_size=8)
        with self.opened(s3, tmp_path, case, knobs, location=location) as opened:
            assert len(read(opened, knobs)) == total
            assert any("not read: 2 of" in note and "1 .txt" in note for note in opened.notes)

    def test_an_empty_place_is_said(self, s3, tmp_path, case):
        folder = tmp_path / "other"
        folder.mkdir()
        (folder / "notes.txt").write_text("x")
        location = self.place(s3, folder, f"other-{type(self).__name__}-{case}")
        with pytest.raises(SystemExit, match=r"holds no \.\w+.* files.*1 \.txt"):
            self.opened(s3, tmp_path, case, Knobs(), location=location)


def damaged(source: Path, folder: Path) -> str:
    """Copy a data set with one file cut in the middle, and return its name."""
    paths = sorted(path for path in source.rglob("*") if path.is_file())
    last = [path for path in paths if path.suffix != ".json"][-1]
    for path in paths:
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes()
        target.write_bytes(content[: len(content) // 2] if path == last else content)
    return last.name


_ENDINGS = {
    ".jpg": (".JPG", ".jpeg", ".Jpg", ".JPEG"),
    ".tar": (".TAR", ".tar"),
    ".tfrecord": (".TFRecord", ".tfrecords"),
    ".csv": (".CSV", ".csv"),
    ".parquet": (".Parquet", ".parquet"),
}


def mixed(source: Path, folder: Path) -> int:
    """Copy a data set with endings of other forms and cases, beside two files that are none of it; returns its samples."""
    for number, path in enumerate(sorted(path for path in source.rglob("*") if path.is_file())):
        several = _ENDINGS.get(path.suffix, (path.suffix,))  # what an index names has its name
        target = (folder / path.relative_to(source)).with_suffix(several[number % len(several)])
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    (folder / "readme.txt").write_text("x")
    (folder / "Makefile").write_text("x")
    return SAMPLES


def tar_of(path: Path, members: dict[str, bytes], **given) -> Path:
    with tarfile.open(path, "w", **given) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, BytesIO(content))
    return path
