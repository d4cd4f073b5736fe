import hashlib
import io
import tarfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from benchmarking.datasets import content_key, generating, prepare
from definitions.errors import UserError
from definitions.schema import ImagesDataset, PathDataset


def spec(**changes):
    return ImagesDataset(**{"type": "images", "samples": 40, "image_size": 32, **changes})


def digest(folder):
    parts = [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()]
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def members(shard):
    with tarfile.open(shard) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def test_files_are_balanced_crops_of_two_photographs(tmp_path):
    from PIL import Image

    made = prepare("photos", spec(), cache=tmp_path)
    assert (made.name, made.layout, made.samples, made.uri) == ("photos", "files", 40, None)
    found = sorted(path.relative_to(made.path).as_posix() for path in made.path.rglob("*.jpg"))
    assert [sum(name.startswith(folder) for name in found) for folder in ("china/", "flower/")] == [20, 20]
    assert "china/000000.jpg" in found
    assert "flower/000001.jpg" in found
    assert made.bytes == sum(path.stat().st_size for path in made.path.rglob("*.jpg"))
    images = [Image.open(made.path / name) for name in found]
    assert {(image.format, image.size, image.mode) for image in images} == {("JPEG", (32, 32), "RGB")}
    assert len({image.tobytes() for image in images}) == 40


def test_shards_hold_the_same_images_with_their_labels(tmp_path):
    files = prepare("files", spec(), cache=tmp_path)
    shards = prepare("shards", spec(format="tar", shard_size="8KiB"), cache=tmp_path)
    parts = sorted(shards.path.iterdir())
    assert [path.name for path in parts] == [f"shard-{number:05d}.tar" for number in range(len(parts))]
    assert len(parts) > 2
    merged = {name: content for path in parts for name, content in members(path).items()}
    assert len(merged) == 80
    for path in files.path.rglob("*.jpg"):
        assert merged[path.name] == path.read_bytes()
        assert merged[f"{path.stem}.cls"] == {"china": b"0", "flower": b"1"}[path.parent.name]


def test_shards_hold_as_many_samples_as_their_size_holds_of_the_mean(tmp_path):
    made = prepare("shards", spec(samples=60, format="tar", shard_size="16KiB"), cache=tmp_path)
    shards = [members(path) for path in sorted(made.path.iterdir())]
    used = [sum(512 + -(-len(content) // 512) * 512 for content in shard.values()) for shard in shards]
    counts = [len(shard) // 2 for shard in shards]
    assert len(set(counts[:-1])) == 1
    assert sum(counts) == 60
    assert 0.75 * 16384 <= sum(used[:-1]) / len(used[:-1]) <= 1.05 * 16384
    single = prepare("shards", spec(format="tar", samples=3, shard_size=1), cache=tmp_path)
    assert [len(members(path)) for path in sorted(single.path.iterdir())] == [2, 2, 2]
    given = prepare("shards", spec(format="tar", samples=7, samples_per_shard=3), cache=tmp_path)
    assert [len(members(path)) // 2 for path in sorted(given.path.iterdir())] == [3, 3, 1]


@pytest.mark.parametrize("form", ["jpg", "tar", "tfrecord", "png"])
def test_same_specification_same_bytes(tmp_path, form):
    one = prepare("a", spec(format=form), cache=tmp_path / "one")
    other = prepare("b", spec(format=form), cache=tmp_path / "other")
    assert digest(one.path) == digest(other.path)
    assert one.path.parent.name == other.path.parent.name
    seeded = prepare("a", spec(format=form, seed=1), cache=tmp_path / "one")
    assert seeded.path != one.path
    assert digest(seeded.path) != digest(one.path)


def test_more_samples_begin_with_the_same_ones(tmp_path):
    few = prepare("few", spec(samples=4), cache=tmp_path)
    many = prepare("many", spec(samples=10), cache=tmp_path)
    for path in few.path.rglob("*.jpg"):
        assert (many.path / path.relative_to(few.path)).read_bytes() == path.read_bytes()


def test_what_does_not_change_the_bytes_does_not_change_the_key():
    assert content_key(spec(shard_size="1MiB")) == content_key(spec(shard_size="2MiB"))
    keys = {content_key(spec(**change)) for change in ({}, {"format": "tar"}, {"samples": 41}, {"image_size": 33}, {"seed": 1})}
    assert len(keys) == 5


@pytest.mark.slow
def test_two_processes_may_race(tmp_path):
    # Not forked: a thread of the tests may hold a lock at that moment, for which a child would wait for ever.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        paths = {future.result().path for future in [pool.submit(prepare, "a", spec(), cache=tmp_path) for _ in range(2)]}
    assert len(paths) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".locks", content_key(spec())]


def test_own_folder_is_checked_and_counted(tmp_path):
    (tmp_path / "cats").mkdir()
    (tmp_path / "cats" / "1.jpg").write_bytes(b"12345")
    (tmp_path / "notes.txt").write_bytes(b"123")
    found = prepare("own", PathDataset(type="path", path=str(tmp_path)), cache=tmp_path / "cache")
    assert (found.layout, found.samples, found.bytes, found.classes, found.path) == ("files", 1, 5, 1, tmp_path)
    assert found.notes == ("data set own: not read: 1 of 2 files (1 .txt)",)
    assert not (tmp_path / "cache").exists()


def test_own_folder_that_is_missing_or_of_another_layout_is_refused(tmp_path):
    with pytest.raises(UserError, match="there is no such folder"):
        prepare("own", PathDataset(type="path", path=str(tmp_path / "none")), cache=tmp_path)
    (tmp_path / "1.jpg").write_bytes(b"")
    with pytest.raises(UserError, match=r"it holds no \*\.tar[\s\S]*others: jpg, png"):
        prepare("own", PathDataset(type="path", path=str(tmp_path), format="tar"), cache=tmp_path)


def test_all_endings_of_a_format_count_in_any_case(tmp_path):
    for index, suffix in enumerate([*[".jpg"] * 4, *[".JPG"] * 3, *[".jpeg"] * 3]):
        (tmp_path / f"{index}{suffix}").write_bytes(b"1")
    found = prepare("own", PathDataset(type="path", path=str(tmp_path)), cache=tmp_path)
    assert (found.samples, found.notes) == (10, ())


def test_location_is_refused_where_the_data_are_not(tmp_path):
    made = prepare("a", spec(samples=2), cache=tmp_path)
    assert made.location("local") == str(made.path)
    with pytest.raises(UserError, match="only on this machine"):
        made.location("none")


def test_shards_are_plain_archives(tmp_path):
    made = prepare("a", spec(format="tar", samples=2), cache=tmp_path)
    with tarfile.open(fileobj=io.BytesIO(Path(made.path / "shard-00000.tar").read_bytes())) as archive:
        assert [(member.name, member.mtime, member.uid) for member in archive] == [
            (name, 0, 0) for name in ("000000.jpg", "000000.cls", "000001.jpg", "000001.cls")
        ]


def test_a_missing_library_is_named(monkeypatch):
    from importlib import metadata

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(UserError, match=r"the package pillow is not installed\n.*pip install pillow scikit-learn"):
        generating.versions(spec())
