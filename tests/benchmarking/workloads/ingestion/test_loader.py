"""Each knob by what it does."""

import os
import sys
import threading
import time

import pytest
import torch
from torch.utils.data import get_worker_info

from benchmarking.workloads.ingestion import Channel, Knobs, make_loader, open_channel

pytestmark = pytest.mark.slow


def keys(samples):
    return [sample.key for sample in samples]


def flat(found):
    return [key for batch in found for key in batch]


def pids(samples):
    return [os.getpid()]


def workers_of(samples):
    info = get_worker_info()
    return None if info is None else (info.id, info.num_workers)


def method_of(samples):
    import multiprocessing

    return type(multiprocessing.current_process()).__name__


@pytest.fixture
def channel(tmp_path):
    for number in range(24):
        (tmp_path / f"{number:03}.bin").write_bytes(bytes([number]))
    return Channel(str(tmp_path), "files", "files", format="bin", labels="none")


def batches(channel, knobs, collate=keys, epochs=1):
    found = []
    with open_channel(channel, {}, knobs) as opened:
        loader = make_loader(opened, knobs, collate)
        for epoch in range(epochs):
            opened.set_epoch(epoch)
            found.append(list(loader))
    return found[0] if epochs == 1 else found


def test_batch_size_and_drop_last(channel):
    assert [len(batch) for batch in batches(channel, Knobs(batch_size=10))] == [10, 10, 4]
    assert [len(batch) for batch in batches(channel, Knobs(batch_size=10, drop_last=True))] == [10, 10]


def test_loader_workers(channel):
    assert set(batches(channel, Knobs(batch_size=4), workers_of)) == {None}
    assert set(batches(channel, Knobs(batch_size=4, loader_workers=3), workers_of)) == {(0, 3), (1, 3), (2, 3)}


def test_persistent_workers_live_on_and_others_are_made_anew(channel):
    for persistent in (True, False):
        first, second = batches(channel, Knobs(batch_size=4, loader_workers=2, persistent_workers=persistent), pids, 2)
        alike = {pid for batch in first for pid in batch} == {pid for batch in second for pid in batch}
        assert alike == persistent


def test_shuffle_is_seeded_and_the_same_samples_come_with_any_number_of_workers(channel):
    orders = [flat(batches(channel, Knobs(batch_size=5, loader_workers=workers, seed=7))) for workers in (0, 1, 3)]
    assert orders[0] == orders[1] == orders[2] != sorted(orders[0])
    assert flat(batches(channel, Knobs(batch_size=5, shuffle=False))) == sorted(orders[0])


def test_start_method(channel):
    assert set(batches(channel, Knobs(batch_size=8, loader_workers=1, start_method="fork"), method_of)) == {"ForkProcess"}
    assert set(batches(channel, Knobs(batch_size=8, loader_workers=1, start_method="spawn"), method_of)) == {"SpawnProcess"}
    assert set(batches(channel, Knobs(batch_size=8, loader_workers=1, start_method="forkserver"), method_of)) == {"ForkServerProcess"}


def test_prefetch_factor_is_how_many_batches_a_worker_makes_ahead(channel, tmp_path):
    for prefetch in (1, 3):
        marks = tmp_path / f"marks{prefetch}"
        marks.mkdir()

        def mark(samples, marks=marks):
            (marks / samples[0].key).touch()
            return len(samples)

        knobs = Knobs(batch_size=2, loader_workers=1, prefetch_factor=prefetch)
        with open_channel(channel, {}, knobs) as opened:
            running = iter(make_loader(opened, knobs, mark))
            deadline = time.monotonic() + 90
            while len(list(marks.iterdir())) < prefetch and time.monotonic() < deadline:
                threading.Event().wait(0.01)
            threading.Event().wait(0.2)  # time in which a batch too many would be made
            assert len(list(marks.iterdir())) == prefetch
            del running


def test_threads_per_worker_is_how_many_reads_are_in_flight(channel, monkeypatch):
    from benchmarking.workloads.ingestion.stores.folder import Folder

    under_way, most, lock, opening = 0, 0, threading.Lock(), Folder.open

    def slow(self, name):
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        threading.Event().wait(0.02)
        with lock:
            under_way -= 1
        return opening(self, name)

    monkeypatch.setattr(Folder, "open", slow)
    for threads in (1, 4):
        most = 0
        assert sorted(flat(batches(channel, Knobs(batch_size=12, threads_per_worker=threads)))) == [f"{n:03}" for n in range(24)]
        assert most == threads


@pytest.mark.skipif(not torch.cuda.is_available(), reason="page-locked memory needs a GPU")
def test_pin_memory(channel):
    pinned = batches(channel, Knobs(batch_size=4, pin_memory=True), lambda samples: torch.zeros(len(samples)))
    assert all(batch.is_pinned() for batch in pinned)


class Pinned:
    """A batch that knows whether it was asked to lie in page-locked memory."""

    def __init__(self, samples):
        self.pinned = False

    def pin_memory(self):
        self.pinned = True
        return self


@pytest.mark.parametrize("workers", [0, 1])
def test_pin_memory_reaches_torch_as_on_a_machine_with_a_gpu(channel, monkeypatch, workers):
    """Torch leaves it where there is no accelerator; here it is told that there is one."""
    assert not any(batch.pinned for batch in batches(channel, Knobs(batch_size=8, loader_workers=workers), Pinned))
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_device_index", lambda: 0)
    monkeypatch.setattr(torch.accelerator, "set_device_index", lambda index: None)
    assert all(batch.pinned for batch in batches(channel, Knobs(batch_size=8, loader_workers=workers, pin_memory=True), Pinned))


@pytest.mark.parametrize("workers", [0, 2])
def test_the_stateful_loader_gives_the_same_and_goes_on_where_it_was(channel, workers):
    pytest.importorskip("torchdata.stateful_dataloader")
    asked = Knobs(batch_size=5, loader="stateful", loader_workers=workers)
    whole = batches(channel, asked)
    assert whole == batches(channel, Knobs(batch_size=5, loader_workers=workers))
    with open_channel(channel, {}, asked) as opened:
        loader = make_loader(opened, asked, keys)
        running = iter(loader)
        assert [next(running), next(running)] == whole[:2]
        state = loader.state_dict()
    with open_channel(channel, {}, asked) as opened:
        again = make_loader(opened, asked, keys)
        again.load_state_dict(state)
        assert list(again) == whole[2:]


def test_a_stateful_loader_that_is_not_installed_is_said(channel, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchdata.stateful_dataloader", None)
    with pytest.raises(SystemExit, match="loader 'stateful' needs the package torchdata: pip install torchdata"):
        batches(channel, Knobs(loader="stateful"))
