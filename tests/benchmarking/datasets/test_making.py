"""A set is made once, by one process, goes on after an interruption, and is mended where it is damaged."""

import multiprocessing
import os
import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from benchmarking.datasets import content_key, making, making_pool, manifest, prepare
from benchmarking.datasets.generating import Generator
from definitions.errors import OutriderError, UserError
from definitions.schema import BytesDataset


def spec(**changes):
    return BytesDataset(**{"type": "bytes", "samples": 1000, "size": 50, **changes})


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Nothing is given to other processes, however busy the machine is."""
    monkeypatch.setattr(making, "_SHORT_S", 1e9)


@pytest.fixture
def written(monkeypatch):
    """Number of the parts that are written."""
    numbers = []
    real = Generator.write_part

    def counting(self, number, data, wanted=lambda name: True):
        numbers.append(number)
        return real(self, number, data, wanted)

    monkeypatch.setattr(Generator, "write_part", counting)
    return numbers


def test_a_second_run_checks_and_does_nothing(tmp_path, written):
    first = prepare("d", spec(), cache=tmp_path)
    assert written == [0, 1, 2, 3]
    assert prepare("d", spec(), cache=tmp_path) == first
    assert prepare("d", spec(), cache=tmp_path, verify=True) == first
    assert written == [0, 1, 2, 3]


def test_the_manifest_has_all_files_with_sizes_and_checksums(tmp_path):
    import zlib

    made = prepare("d", spec(samples=3), cache=tmp_path)
    entries = list(manifest.read(made.path.parent).entries)
    assert [entry.name for entry in entries] == ["000000.bin", "000001.bin", "000002.bin"]
    for entry in entries:
        content = (made.path / entry.name).read_bytes()
        assert (entry.size_bytes, entry.checksum) == (50, zlib.crc32(content))


def test_damage_of_every_kind_is_mended_and_said_in_one_line(tmp_path, written):
    made = prepare("d", spec(), cache=tmp_path)
    before = contents(made.path)
    for number in range(500):
        (made.path / f"{number:06d}.bin").unlink()
    (made.path / "000600.bin").write_bytes(b"short")
    (made.path / "000601.bin").write_bytes(bytes(50))
    (made.path / "other.bin").write_bytes(b"x")
    written.clear()
    again = prepare("d", spec(), cache=tmp_path)
    assert again.notes == (
        "data set d was damaged, and is mended: 500 files (000000.bin, ...) missing, 2 files (000600.bin, ...) changed, "
        "1 file (other.bin) not of this set",
    )
    assert contents(made.path) == before
    assert written == [0, 1, 2]  # the last part has no damage
    assert prepare("d", spec(), cache=tmp_path).notes == ()


def test_what_keeps_size_and_time_is_found_by_verifying(tmp_path):
    made = prepare("d", spec(samples=2), cache=tmp_path)
    path = made.path / "000001.bin"
    path.write_bytes(bytes(50))
    manifest.mark(path)
    assert prepare("d", spec(samples=2), cache=tmp_path).notes == ()
    assert prepare("d", spec(samples=2), cache=tmp_path, verify=True).notes == (
        "data set d was damaged, and is mended: 1 file (000001.bin) changed",
    )


def test_a_set_that_was_copied_is_read_once_and_then_believed(tmp_path, monkeypatch):
    made = prepare("d", spec(samples=2), cache=tmp_path)
    for path in made.path.iterdir():
        os.utime(path)
    read = []
    real = manifest.checksum_of
    monkeypatch.setattr(manifest, "checksum_of", lambda path: read.append(path.name) or real(path))
    assert prepare("d", spec(samples=2), cache=tmp_path).notes == ()
    assert sorted(read) == ["000000.bin", "000001.bin"]
    prepare("d", spec(samples=2), cache=tmp_path)
    assert len(read) == 2


def test_only_the_damaged_files_of_a_part_are_written(tmp_path):
    made = prepare("d", spec(samples=2), cache=tmp_path)
    whole, broken = made.path / "000000.bin", made.path / "000001.bin"
    broken.unlink()
    inode = whole.stat().st_ino
    with whole.open("rb") as reader:
        prepare("d", spec(samples=2), cache=tmp_path)
        assert reader.read() == whole.read_bytes() != b""
    assert whole.stat().st_ino == inode


@pytest.mark.parametrize("lost", ["manifest.json", "cut"])
def test_a_set_without_its_manifest_is_made_again(tmp_path, lost):
    made = prepare("d", spec(samples=2), cache=tmp_path)
    before = contents(made.path)
    file = made.path.parent / "manifest.json"
    if lost == "cut":
        file.write_text(file.read_text()[:20])
    else:
        file.unlink()
    (made.path / "000000.bin").write_bytes(b"")
    assert contents(prepare("d", spec(samples=2), cache=tmp_path).path) == before


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch, written):
    real = Generator.write_part

    def interrupted(self, number, data, wanted=lambda name: True):
        found = real(self, number, data, wanted)
        if number == 2:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Generator, "write_part", interrupted)
        with pytest.raises(KeyboardInterrupt):
            prepare("d", spec(), cache=tmp_path)
    assert not (tmp_path / content_key(spec())).exists()
    # A finished part that lost a file since is none.
    (tmp_path / f".making-{content_key(spec())}" / "data" / "000300.bin").unlink()
    written.clear()
    said = []
    made = prepare("d", spec(), cache=tmp_path, say=said.append)
    assert written == [1, 2, 3]
    assert said == ["data set d: goes on, 1 of 4 parts are there"]
    assert contents(made.path) == contents(prepare("d", spec(), cache=tmp_path / "elsewhere").path)


def test_a_disk_without_room_is_refused_before_it_is_full(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 0, 20_000))
    with pytest.raises(UserError, match=r"data set 'd' needs about 50.0 KiB\n.* has 19.5 KiB left\n.*--cache_dir or"):
        prepare("d", spec(), cache=tmp_path)
    assert not (tmp_path / content_key(spec())).exists()


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(self, number, data, wanted):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Generator, "write_part", lambda self, number, data: full(self, number, data, None))
    with pytest.raises(UserError, match=r"cannot be made in [\s\S]*No space left[\s\S]*larger disk"):
        prepare("d", spec(), cache=tmp_path)


def test_what_does_not_come_out_alike_is_no_mending(tmp_path, monkeypatch):
    made = prepare("d", spec(samples=2), cache=tmp_path)
    (made.path / "000000.bin").unlink()
    real = Generator.write_part
    monkeypatch.setattr(Generator, "write_part", lambda self, number, data, wanted: [*real(self, number, data, wanted)][:1])
    with pytest.raises(UserError, match=r"is damaged: 1 file \(000000.bin\) missing\n[\s\S]*delete "):
        prepare("d", spec(samples=2), cache=tmp_path)


def hold(folder, key, entered, leave):
    with making._alone(folder / key, "other", print):  # noqa: SLF001  # another process that is in the middle of it
        entered.set()
        leave.wait(60)


@pytest.mark.slow
def test_who_comes_second_waits_and_says_so(tmp_path):
    context = multiprocessing.get_context("fork")
    entered, leave = context.Event(), context.Event()
    other = context.Process(target=hold, args=(tmp_path, content_key(spec(samples=2)), entered, leave))
    other.start()
    assert entered.wait(60)
    said = []
    made = prepare("d", spec(samples=2), cache=tmp_path, say=lambda line: (said.append(line), leave.set()))
    other.join()
    assert said == ["data set d: another process makes it"]
    assert made.samples == 2


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"format": "tar", "samples_per_shard": 300}, {"format": "tfrecord", "copies": 2}])
def test_processes_make_the_same_bytes_as_one(tmp_path, changes):
    alone = prepare("d", spec(**changes), cache=tmp_path / "alone")
    generator = Generator(spec(**changes))
    data = tmp_path / "data"
    data.mkdir()
    found = {}
    making_pool.make_parts(generator, data, range(generator.parts.count), 2, found.__setitem__)
    assert contents(data) == contents(alone.path)
    parts = tuple(tuple(found[number]) for number in range(generator.parts.count))
    assert parts == manifest.read(alone.path.parent).parts


@pytest.mark.slow
def test_a_process_that_fails_is_told_with_what_it_said(tmp_path):
    with pytest.raises(OutriderError, match="a process that makes a data set ended: ValueError: invalid literal"):
        making_pool.make_parts(Generator(spec()), tmp_path, ["no number", 0], 2, lambda number, entries: None)


@pytest.mark.slow
def test_a_disk_that_refuses_a_process_is_told(tmp_path):
    (tmp_path / "data").write_text("a file, where a folder should be")
    with pytest.raises(OSError, match="data"):
        making_pool.make_parts(Generator(spec()), tmp_path / "data", [0, 1], 2, lambda number, entries: None)
    with pytest.raises(OSError, match="data"):
        making_pool.make_parts(Elsewhere(spec(), tmp_path), tmp_path / "data", [0, 1], 2, lambda number, entries: None)


class Elsewhere(Generator):
    """Makes parts in another folder than the one that processes are told of."""

    def __init__(self, spec, folder):
        super().__init__(spec)
        self._folder = folder

    def write_part(self, number, data, wanted=lambda name: True):
        return super().write_part(number, self._folder, wanted)


@pytest.mark.slow
def test_this_process_makes_parts_beside_the_others(tmp_path):
    here = []

    class Counted(Generator):
        def write_part(self, number, data, wanted=lambda name: True):
            here.append(number)
            return super().write_part(number, data, wanted)

    generator = Counted(spec())
    (tmp_path / "data").mkdir()
    found = {}
    making_pool.make_parts(generator, tmp_path / "data", range(generator.parts.count), 2, found.__setitem__)
    assert sorted(found) == list(range(generator.parts.count))
    assert 1 in here  # the first part is the other process's
    assert 0 not in here


def test_copies_are_files_of_their_own(tmp_path):
    made = prepare("d", spec(samples=2, copies=3), cache=tmp_path)
    files = contents(made.path)
    assert sorted(files) == sorted(f"{place}00000{number}.bin" for place in ("", "copy-2/", "copy-3/") for number in (0, 1))
    assert files["000000.bin"] == files["copy-3/000000.bin"] != files["000001.bin"]
    assert len({path.stat().st_ino for path in made.path.rglob("*.bin")}) == 6
    assert (made.samples, made.bytes) == (6, 300)


def test_a_changed_definition_is_another_set(tmp_path):
    folders = {prepare("d", spec(samples=2, **change), cache=tmp_path).path for change in ({}, {"seed": 1}, {"size": 51}, {"spread": 0.5})}
    assert len(folders) == 4
    assert {folder.parent.parent for folder in folders} == {Path(tmp_path)}
