import os
from pathlib import Path

import pytest

from benchmarking.workloads.ingestion import BadSampleError, Channel, Knobs, ReaderShare, make_loader, open_channel
from definitions.ingestion import INGESTIONS
from tests.benchmarking.workloads.ingestion.contract import decoded, read, tar_of

ROOT = Path(__file__).resolve().parents[4]


def folder_of(tmp_path, count, content=b"x"):
    for number in range(count):
        (tmp_path / f"{number:03}.bin").write_bytes(content)
    return Channel(str(tmp_path), "files", "files", format="bin", labels="none")


def test_an_unknown_reader_is_answered_with_the_known_ones(tmp_path):
    with pytest.raises(SystemExit, match=r"there is no reader 'tape' .*s3_map"):
        open_channel(Channel(str(tmp_path), "tape", "files"), {})


def test_an_empty_folder_is_said(tmp_path):
    with pytest.raises(SystemExit, match=r"holds no \.tar files .*it is empty"):
        open_channel(Channel(str(tmp_path), "tar", "shards"), {})


def test_listing_is_timed(tmp_path):
    times = iter([10.0, 12.5])
    with open_channel(folder_of(tmp_path, 2), {}, clock=lambda: next(times)) as opened:
        assert (opened.list_s, opened.download_s, opened.objects) == (2.5, 0.0, 2)


@pytest.mark.slow
def test_up_to_max_bad_samples_are_skipped_counted_and_said(tmp_path, capfd):
    channel = folder_of(tmp_path, 20)
    for number in (3, 11, 12):
        (tmp_path / f"{number:03}.bin").write_bytes(b"")
    for workers in (0, 2):
        knobs = Knobs(batch_size=4, loader_workers=workers, max_bad_samples=3)
        with open_channel(channel, {}, knobs) as opened:
            assert len(read(opened, knobs)) == 17
            assert opened.tolerance.counts()["bad_samples"] == 3
        said = capfd.readouterr().err
        assert all(f"{number:03}.bin: it is empty" in said for number in (3, 11, 12))
        assert "of at most 3 skipped" in said


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_one_bad_sample_too_many_is_fatal_with_its_name(tmp_path, workers):
    channel = folder_of(tmp_path, 20)
    for number in (3, 11):
        (tmp_path / f"{number:03}.bin").write_bytes(b"")
    knobs = Knobs(batch_size=4, loader_workers=workers, max_bad_samples=1, shuffle=False)
    with open_channel(channel, {}, knobs) as opened, pytest.raises(BadSampleError, match=r"\d+\.bin: it is empty \(max_bad_samples is 1"):
        read(opened, knobs)


def test_a_batch_of_bad_samples_alone_is_empty(tmp_path):
    channel = folder_of(tmp_path, 3, b"")
    knobs = Knobs(batch_size=3, max_bad_samples=9)
    with open_channel(channel, {}, knobs) as opened:
        assert read(opened, knobs) == []


def test_an_object_that_vanished_after_the_listing_is_named(tmp_path):
    channel = folder_of(tmp_path, 4)
    with open_channel(channel, {}, Knobs()) as opened:
        (tmp_path / "002.bin").unlink()
        with pytest.raises(BadSampleError, match=r"002\.bin: it cannot be read: FileNotFoundError"):
            read(opened, Knobs())
        assert opened.tolerance.counts()["read_errors"] == 1
        assert opened.tolerance.counts()["read_retries"] == 0  # what is gone is not asked for again


def test_an_alien_image_is_located_in_its_shard(tmp_path):
    tar_of(tmp_path / "a.tar", {"0.jpg": b"no image", "0.cls": b"1"})
    with open_channel(Channel(str(tmp_path), "tar", "shards"), {}) as opened, pytest.raises(BadSampleError, match=r"a\.tar: member 0\.jpg"):
        read(opened, Knobs(), collate=decoded)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3, 8])
def test_more_workers_than_shards_share_them(tmp_path, workers, capfd):
    for shard in range(2):
        tar_of(tmp_path / f"{shard}.tar", {f"{shard}{number}.jpg": b"x" for number in range(10)})
    knobs = Knobs(batch_size=2, loader_workers=workers)
    with open_channel(Channel(str(tmp_path), "tar", "shards"), {}, knobs) as opened:
        found = [sample.key for sample in read(opened, knobs)]
    assert sorted(found) == [f"{shard}{number}" for shard in range(2) for number in range(10)]
    assert ("share 2 shards" in capfd.readouterr().err) == (workers > 2)


@pytest.mark.parametrize("ranks", [2, 5])
def test_more_ranks_than_shards_share_them_evenly(tmp_path, ranks):
    tar_of(tmp_path / "one.tar", {f"{number:02}.jpg": b"x" for number in range(20)})
    found = []
    for rank in range(ranks):
        with open_channel(Channel(str(tmp_path), "tar", "shards"), {}, share=ReaderShare(rank, ranks)) as opened:
            found.append([sample.key for sample in read(opened, Knobs())])
    assert sorted(key for keys in found for key in keys) == [f"{number:02}" for number in range(20)]
    assert {len(keys) for keys in found} == {20 // ranks}


def test_a_batch_larger_than_the_set(tmp_path):
    channel = folder_of(tmp_path, 5)
    with open_channel(channel, {}, Knobs(batch_size=64)) as opened:
        assert [len(batch) for batch in make_loader(opened, Knobs(batch_size=64), list)] == [5]
        with pytest.raises(SystemExit, match="batch_size is 64, there are 5 samples, and drop_last"):
            make_loader(opened, Knobs(batch_size=64, drop_last=True), list)


def test_hosts_of_a_job_share_replicated_data_and_read_all_of_sharded(tmp_path):
    folder_of(tmp_path, 9)
    sizes = {}
    for distribution in ("replicated", "sharded"):
        channel = Channel(str(tmp_path), "files", "files", format="bin", labels="none", distribution=distribution)
        for host in ("algo-1", "algo-2"):
            environ = {"SM_HOSTS": '["algo-1", "algo-2"]', "SM_CURRENT_HOST": host}
            with open_channel(channel, environ) as opened:
                sizes[distribution, host] = len(read(opened, Knobs()))
    assert list(sizes.values()) == [5, 4, 9, 9]


def test_a_fifo_without_a_writer_is_given_up_and_one_with_several_workers_said(tmp_path):
    os.mkfifo(tmp_path / "train_0")
    knobs = Knobs(loader_workers=3)
    with open_channel(Channel(str(tmp_path / "train"), "pipe", "shards"), {}, knobs) as opened:
        assert opened.notes == ["a FIFO has one reader: loader workers 1 to 2 read nothing; use loader_workers 1"]
    with pytest.raises(SystemExit, match="2 ranks read one FIFO"):
        open_channel(Channel(str(tmp_path / "train"), "pipe", "shards"), {}, share=ReaderShare(0, 2))


@pytest.mark.slow
def test_every_reader_in_the_ingestion_table_exists(world):
    for entry in INGESTIONS.values():
        for layout, reader in entry.layouts.items():
            # Those of objects in S3 alone, and what mounts them, are opened by the contract.
            if layout in world.sets and not reader.startswith(("s3_", "boto3", "mountpoint")):
                open_channel(Channel(world.location(layout, False), reader, layout), {}).close()


def test_an_object_that_is_larger_than_memory_is_named(tmp_path, monkeypatch):
    from benchmarking.workloads.ingestion.stores.folder import Folder

    class Huge:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

        def read(self):
            raise MemoryError

    opening = Folder.open
    monkeypatch.setattr(Folder, "open", lambda self, name: Huge() if name.endswith("002.bin") else opening(self, name))
    with (
        open_channel(folder_of(tmp_path, 4), {}, Knobs()) as opened,
        pytest.raises(BadSampleError, match=r"002\.bin: it does not fit into this process's memory"),
    ):
        read(opened, Knobs())
    with open_channel(folder_of(tmp_path, 4), {}, Knobs(max_bad_samples=1)) as opened:
        assert len(read(opened, Knobs(max_bad_samples=1))) == 3


def test_shards_that_the_connector_cannot_keep_in_memory_are_told_before_anything_is_read(tmp_path, monkeypatch):
    from benchmarking.workloads.ingestion import opening
    from benchmarking.workloads.ingestion.stores.base import StoredName
    from benchmarking.workloads.ingestion.stores.s3_connector import S3Connector

    monkeypatch.setattr(S3Connector, "entries", lambda self: [StoredName("s3://b/x/a.tar", 7 * 10**9)])
    monkeypatch.setattr(S3Connector, "select", lambda self, names, largest=0: None)
    monkeypatch.setattr(opening, "available_bytes", lambda: 4 * 10**9)
    channel = Channel("s3://b/x/", "s3_map", "shards")
    with pytest.raises(SystemExit, match=r"s3://b/x/a\.tar has 7\.00 GB: the S3 connector keeps .* s3_reader range_based"):
        open_channel(channel, {}, Knobs())
    with open_channel(channel, {}, Knobs(s3_reader="range_based")) as opened:
        assert opened.size_bytes == 7 * 10**9


def test_a_folder_of_this_job_is_removed_by_the_last_that_reads_it(tmp_path):
    from benchmarking.workloads.ingestion.stores.downloaded import ScratchUse, scratch_folder

    folder = scratch_folder("s3://b/x", {"OUTRIDER_SCRATCH": str(tmp_path), "OUTRIDER_JOB": "j"})
    first, second = ScratchUse(folder), ScratchUse(folder)
    first.close()
    assert folder.is_dir()
    second.close()
    assert list(tmp_path.iterdir()) == []
