import os
from pathlib import Path

import pytest

from benchmarking.workloads.ingestion.stores.base import StoredName
from benchmarking.workloads.ingestion.stores.downloaded import ScratchUse, below, download, parts_of, scratch_folder
from benchmarking.workloads.ingestion.stores.s3_connector import S3Connector


def test_names_below_a_uri():
    assert below("s3://b/data/a/1.jpg", "s3://b/data/") == "a/1.jpg"
    assert below("s3://b/data/a/1.jpg", "s3://b/data") == "a/1.jpg"
    assert below("s3://b/data-2/1.jpg", "s3://b/data") == "data-2/1.jpg"
    with pytest.raises(SystemExit, match="leads out of the folder"):
        below("s3://b/data/../1.jpg", "s3://b/data/")


@pytest.mark.parametrize(
    ("size", "parts"), [(0, [(0, 0)]), (1, [(0, 1)]), (8 << 20, [(0, 8 << 20)]), ((8 << 20) + 5, [(0, 8 << 20), (8 << 20, (8 << 20) + 5)])]
)
def test_objects_are_copied_in_parts_so_that_no_more_than_those_under_way_are_in_memory(size, parts):
    assert [(part.start, part.stop) for part in parts_of(size)] == parts
    assert parts_of(-1) == [slice(None)]


def test_a_disk_that_is_too_small_is_said_before_anything_is_copied(tmp_path):
    huge = [StoredName("s3://b/k/1.jpg", 10**18)]
    with pytest.raises(SystemExit, match=r"1000000000\.00 GB, and .* GB left; set OUTRIDER_SCRATCH"):
        download("s3://b/k/", huge, S3Connector("s3://b/k/", {}), tmp_path / "data")


@pytest.mark.slow
def test_processes_of_a_job_copy_once(s3, tmp_path):
    uri = s3.location("files", True)
    store = S3Connector(uri, s3.server.environment)
    entries = store.entries()
    copied = [download(uri, entries, store, tmp_path / "data") for _ in range(2)]
    there = sorted(path for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert copied == [sum(path.stat().st_size for path in there), 0]
    assert [path.read_bytes() for path in there] == [path.read_bytes() for path in sorted(Path(s3.sets["files"].path).rglob("*.jpg"))]


def test_each_job_has_a_copy_of_its_own():
    first, same, second = (scratch_folder("s3://b/k", {"OUTRIDER_SCRATCH": "/s", "OUTRIDER_JOB": job}) for job in ("a", "a", "b"))
    assert first == same != second
    assert str(first).startswith("/s/outrider-file-")


def test_no_other_user_can_enter_a_copy_or_have_made_it_beforehand(tmp_path):
    before = os.umask(0)
    try:
        use = ScratchUse(tmp_path / "scratch" / "mine" / "data")
        (tmp_path / "prepared").mkdir(mode=0o777)
    finally:
        os.umask(before)
    assert (tmp_path / "scratch" / "mine").stat().st_mode & 0o077 == 0
    use.close()
    assert not (tmp_path / "scratch" / "mine").exists()
    (tmp_path / "link").symlink_to(tmp_path / "scratch")
    for name in ("prepared", "link"):
        with pytest.raises(SystemExit, match="may have put anything there"):
            download("s3://b/k/", [], S3Connector("s3://b/k/", {}), tmp_path / name / "data")
