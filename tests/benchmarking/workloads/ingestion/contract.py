"""What every way of reading a channel has to do, on every layout that it supports."""

from __future__ import annotations

import os
import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from benchmarking.datasets import EmbeddedS3, prepare, upload
from benchmarking.workloads.ingestion import BadSampleError, Channel, GuardedLoad, Knobs, ReaderShare, Tolerance, make_loader, open_channel
from benchmarking.workloads.ingestion_models.images import LoadImage
from definitions.schema import ImagesDataset

SAMPLES = 40
EXPECTED = {f"{index:06d}": index % 2 for index in range(SAMPLES)}
SPECS = {
    "files": ImagesDataset(type="images", format="jpg", samples=SAMPLES, image_size=32),
    "shards": ImagesDataset(type="images", format="tar", samples=SAMPLES, image_size=32, shard_size="16KiB"),
}


class World:
    """Data sets of each layout on the disk and in an S3 server of ours."""

    def __init__(self, folder: Path, server: EmbeddedS3) -> None:
        self.folder, self.server = folder, server
        self.sets = {layout: prepare(layout, spec, cache=folder / "cache", s3=server.target) for layout, spec in SPECS.items()}

    def location(self, layout: str, remote: bool) -> str:
        return self.sets[layout].uri if remote else str(self.sets[layout].path)

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


def read(opened, knobs, epoch=0, collate=keep):
    opened.set_epoch(epoch)
    return [sample for batch in make_loader(opened, knobs, collate) for sample in batch]


def labels(samples):
    return {sample[0]: sample[2] for sample in samples}


class IngestionContract:
    """Inherited by each mode; `channel` says how it is announced to a job."""

    layouts = ("files", "shards")
    remote = False
    reads_by_itself = True  # each rank and each worker can open what it wants

    def reader(self, layout: str) -> str:
        raise NotImplementedError

    def input_mode(self) -> str:
        return "none"

    def damage(self, name: str) -> str:
        """What is said of damage names the object; where objects have no names, the member after which it is."""
        return name

    @pytest.fixture(params=["files", "shards"])
    def layout(self, request):
        if request.param not in self.layouts:
            pytest.skip("not a layout of this mode")
        return request.param

    def channel(self, location, layout, **more):
        return Channel(location, self.reader(layout), layout, input_mode=self.input_mode(), **more)

    def environ(self, tmp_path):
        return {**os.environ, "OUTRIDER_SCRATCH": str(tmp_path / "scratch"), "OUTRIDER_JOB": f"{tmp_path}"}

    def opened(self, s3, tmp_path, layout, knobs, share=None, location=None):
        channel = self.channel(location or s3.location(layout, self.remote), layout)
        return open_channel(channel, self.environ(tmp_path), knobs, share=share)

    def place(self, s3, folder, name):
        return s3.uploaded(folder, name) if self.remote else str(folder)

    @pytest.mark.parametrize("workers", [0, 2])
    def test_each_sample_comes_once_an_epoch(self, s3, tmp_path, layout, workers):
        knobs = Knobs(batch_size=7, loader_workers=workers)
        with self.opened(s3, tmp_path, layout, knobs) as opened:
            for epoch in (0, 1):
                samples = read(opened, knobs, epoch)
                assert len(samples) == SAMPLES
                assert labels(samples) == EXPECTED

    def test_ranks_share_what_there_is(self, s3, tmp_path, layout):
        if not self.reads_by_itself:
            pytest.skip("what has one reader cannot be shared")
        found = []
        for rank in range(3):
            knobs = Knobs(batch_size=4, loader_workers=2 if rank else 0)
            with self.opened(s3, tmp_path, layout, knobs, ReaderShare(rank, 3)) as opened:
                found.append(read(opened, knobs))
        assert sorted(sample.key for samples in found for sample in samples) == sorted(EXPECTED)
        assert all(found)

    def test_images_are_the_same_as_on_the_disk(self, s3, tmp_path, layout):
        knobs = Knobs(batch_size=16)
        with open_channel(Channel(s3.location("files", False), "files", "files"), {}, knobs) as opened:
            local = {key: image for key, image, _ in read(opened, knobs, collate=decoded)}
        with self.opened(s3, tmp_path, layout, knobs) as opened:
            here = {key: image for key, image, _ in read(opened, knobs, collate=decoded)}
        assert all((local[key] == here[key]).all() for key in EXPECTED)

    def test_the_order_follows_from_seed_and_epoch(self, s3, tmp_path, layout):
        if not self.reads_by_itself:
            pytest.skip("the order is the writer's")

        def keys(epoch, **given):
            knobs = Knobs(batch_size=8, **given)
            with self.opened(s3, tmp_path, layout, knobs) as opened:
                return [sample.key for sample in read(opened, knobs, epoch)]

        first, second, again, other = keys(0), keys(1), keys(0), keys(0, seed=1)
        assert first == again
        assert len({tuple(first), tuple(second), tuple(other)}) == 3
        by_name = sorted(EXPECTED, key=lambda key: (EXPECTED[key] if layout == "files" else 0, key))
        assert keys(0, shuffle=False) == keys(5, shuffle=False) == by_name

    def test_what_cannot_be_read_is_named(self, s3, tmp_path, layout):
        """A sample that is cut in the middle; a shard likewise."""
        folder = tmp_path / "damaged"
        broken = damaged(s3.sets[layout].path, folder)
        location = self.place(s3, folder, f"damaged-{type(self).__name__}-{layout}")
        knobs = Knobs(batch_size=8, shuffle=False)
        with (
            pytest.raises(BadSampleError, match=self.damage(broken)),
            self.opened(s3, tmp_path, layout, knobs, location=location) as opened,
        ):
            read(opened, knobs, collate=decoded)

    def test_suffixes_of_all_forms_and_cases(self, s3, tmp_path, layout):
        folder = tmp_path / "mixed"
        total = mixed(s3.sets[layout].path, folder)
        location = self.place(s3, folder, f"mixed-{type(self).__name__}-{layout}")
        knobs = Knobs(batch_size=8)
        with self.opened(s3, tmp_path, layout, knobs, location=location) as opened:
            assert len(read(opened, knobs)) == total
            assert any("not read: 2 of" in note and "1 .txt" in note for note in opened.notes)

    def test_an_empty_place_is_said(self, s3, tmp_path, layout):
        folder = tmp_path / "other"
        folder.mkdir()
        (folder / "notes.txt").write_text("x")
        location = self.place(s3, folder, f"other-{type(self).__name__}-{layout}")
        with pytest.raises(SystemExit, match=r"holds no \.\w+.* files.*1 \.txt"):
            self.opened(s3, tmp_path, layout, Knobs(), location=location)


def damaged(source: Path, folder: Path) -> str:
    """Copy a data set with one file cut in the middle, and return its name."""
    names = sorted(path for path in source.rglob("*") if path.is_file())
    for path in names:
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        content = path.read_bytes()
        target.write_bytes(content[: len(content) // 2] if path == names[-1] else content)
    return names[-1].name


def mixed(source: Path, folder: Path) -> int:
    """Copy a data set with endings of other forms and cases, beside two files that are none of it; returns its samples."""
    endings = {".jpg": (".JPG", ".jpeg", ".Jpg", ".JPEG"), ".tar": (".TAR", ".tar")}
    for number, path in enumerate(sorted(path for path in source.rglob("*") if path.is_file())):
        several = endings[path.suffix]
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
