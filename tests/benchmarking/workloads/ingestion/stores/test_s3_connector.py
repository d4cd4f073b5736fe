from types import SimpleNamespace

import pytest

from benchmarking.workloads.ingestion.stores.s3_connector import S3Connector

connector = pytest.importorskip("s3torchconnector")


class Listed:
    """In place of the connector's iterable data set: gives what it was made with, as that does, and counts how many were made."""

    made = 0

    def __init__(self, names):
        self.names = names

    @classmethod
    def from_objects(cls, names, **options):
        cls.made += 1
        return cls(names)

    def __iter__(self):
        for name in list(self.names):
            bucket, _, key = name.removeprefix("s3://").partition("/")
            yield SimpleNamespace(bucket=bucket, key=key)


def test_one_data_set_and_so_one_client_serves_all_epochs_of_a_process(monkeypatch):
    monkeypatch.setattr(connector, "S3IterableDataset", Listed)
    store = S3Connector("s3://b/", {})
    assert [name for name, _ in store.one_after_another(["s3://b/2", "s3://b/1"])] == ["s3://b/2", "s3://b/1"]
    assert [name for name, _ in store.one_after_another(["s3://b/3"])] == ["s3://b/3"]
    assert Listed.made == 1
    monkeypatch.setattr("os.getpid", lambda: -1)  # a worker that was forked meanwhile
    assert [name for name, _ in store.one_after_another(["s3://b/4"])] == ["s3://b/4"]
    assert Listed.made == 2


@pytest.mark.parametrize(("asked", "largest", "buffer"), [(0, 1000, 1000), (0, 50 << 20, 8 << 20), (4096, 1000, 4096), (0, 0, None)])
def test_small_files_of_a_mount_are_read_without_eight_mebibytes_of_memory_each(asked, largest, buffer):
    store = S3Connector("s3://b/k/", {}, "range_based", asked)
    store.select(["s3://b/k/1"], largest)
    made = store._options("range_based")["reader_constructor"]  # noqa: SLF001
    assert made.keywords.get("buffer_size") == buffer


def test_an_unknown_way_of_reading_is_refused():
    with pytest.raises(SystemExit, match="s3_reader 'backwards': it is one of sequential, range_based"):
        S3Connector("s3://b/", {}, "backwards")
