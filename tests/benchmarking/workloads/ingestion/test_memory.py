import pytest

from benchmarking.workloads.ingestion.memory import available_bytes, memory_problem
from benchmarking.workloads.ingestion.stores.base import StoredName

GB = 10**9
SHARDS = [StoredName("s3://b/a.tar", 3 * GB), StoredName("s3://b/b.tar", 5 * GB), StoredName("s3://b/c.tar", GB)]


@pytest.mark.parametrize(
    ("readers", "available", "said"),
    [
        (1, 5 * GB, None),
        (1, 5 * GB - 1, "s3://b/b.tar has 5.00 GB: the S3 connector keeps"),
        (2, 8 * GB, None),
        (2, 8 * GB - 1, "s3://b/b.tar has 5.00 GB, and 2 of its kind are read at once: "),
        (16, 9 * GB, None),  # there are no more than three
        (1, None, None),
    ],
)
def test_the_largest_that_are_read_at_once_have_to_fit(readers, available, said):
    found = memory_problem(SHARDS, readers, available)
    assert found is None if said is None else found.startswith(said)
    assert memory_problem([], readers, available) is None


def test_sizes_that_are_not_known_are_no_problem():
    assert memory_problem([StoredName("a"), StoredName("b")], 2, 1) is None


def test_what_is_left_is_read_from_the_system(tmp_path):
    told = tmp_path / "meminfo"
    told.write_text("MemTotal:       100 kB\nMemAvailable:    42 kB\n")
    assert available_bytes(told) == 42 * 1024
    assert available_bytes(tmp_path / "missing") is None
    told.write_text("MemAvailable: some\n")
    assert available_bytes(told) is None
