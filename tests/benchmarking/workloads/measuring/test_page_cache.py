import os

import pytest

from benchmarking.workloads.measuring import page_cache
from benchmarking.workloads.measuring.page_cache import cached_share, evict, files_below, prepared, warm


@pytest.fixture
def data(tmp_path_factory, request):
    # pytest's folder may lie in memory, whose pages cannot be evicted; beside the tests is a disk.
    folder = tmp_path_factory.mktemp("data")
    for number in range(4):
        (folder / "sub").mkdir(exist_ok=True)
        (folder / "sub" / f"{number}.bin").write_bytes(os.urandom(100_000))
    files = files_below([folder])
    evict(files)
    if cached_share(files) != 0.0:
        pytest.skip("this file system does not let go of its pages")
    return files


def test_what_was_written_is_cached_and_can_be_evicted(data):
    warm(data)
    assert cached_share(data) == 1.0
    assert evict(data) == 0
    assert cached_share(data) == 0.0


def test_a_share_is_a_share(data):
    warm(data[:2])
    assert cached_share(data) == 0.5
    # Of fewer probes than pages it is an estimate, the same for the same seed.
    few = cached_share(data, most_probes=20)
    assert few == cached_share(data, most_probes=20)
    assert 0.2 <= few <= 0.8


def test_asking_changes_nothing(data):
    warm(data[:2])
    assert [cached_share(data) for _ in range(3)] == [0.5] * 3


def test_others_files_are_asked_by_reads_that_do_not_wait(data, monkeypatch):
    # As where the kernel does not answer mincore. What is in memory is found; what is not may be fetched just then on a fast device.
    monkeypatch.setattr(page_cache, "_by_mincore", lambda *given: None)
    warm(data[:2])
    assert cached_share(data[:2]) == 1.0
    assert 0.5 <= cached_share(data) <= 1.0


def test_modes(data):
    warm(data)
    assert prepared("as_found", data) == {"page_cache": "as_found", "cached_share": 1.0}
    assert prepared("cold", data) == {"page_cache": "cold", "cached_share": 0.0}
    assert prepared("as_found", data)["cached_share"] == 0.0
    assert prepared("warm", data) == {"page_cache": "warm", "cached_share": 1.0}


def test_a_mode_that_there_is_not(data):
    with pytest.raises(SystemExit, match=r"page_cache = hot: there is no such mode.*as_found, warm, cold"):
        prepared("hot", data)


def test_cold_that_is_not_cold_is_refused(data, monkeypatch):
    warm(data)
    monkeypatch.setattr(page_cache, "evict", lambda files: 0)
    with pytest.raises(SystemExit, match="100% of the pages are still in memory"):
        prepared("cold", data)


def test_vanished_and_empty_files_are_no_trouble(data, tmp_path):
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    assert evict([tmp_path / "gone"]) == 1
    assert cached_share([tmp_path / "gone", empty]) is None
    assert cached_share([tmp_path / "gone", *data]) == 0.0
    assert files_below([tmp_path / "gone", empty]) == [empty]
