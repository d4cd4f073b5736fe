import time
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset

from benchmarking.workloads.measuring.timed import TimedMap, TimedStream, arrived, collate


def busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


class Raw(NamedTuple):
    key: str
    content: bytes
    label: int
    place: str = ""


class Samples:
    def __init__(self, fetch=lambda: None):
        self.fetch = fetch

    def __len__(self):
        return 20

    def __getitem__(self, index):
        self.fetch()
        return Raw(f"{index:03d}", bytes([index]) * 10, index % 3)


class Streamed(IterableDataset):
    def __iter__(self):
        yield from (Samples()[index] for index in range(20))


def as_tensor(sample):
    return torch.frombuffer(bytearray(sample.content), dtype=torch.uint8)


def length(sample):
    return len(sample.content)


@pytest.mark.parametrize("raw", [TimedMap(Samples(), as_tensor), TimedStream(Streamed(), as_tensor)], ids=["map", "stream"])
@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_batches_hold_their_samples_and_what_they_took(raw, workers):
    before = time.monotonic()
    found = list(DataLoader(raw, batch_size=5, num_workers=workers, collate_fn=collate))
    keys = sorted(key for batch in found for key in batch.keys)
    expected = sorted(f"{index:03d}" for index in range(20))
    assert keys == (expected if isinstance(raw, TimedMap) or not workers else sorted(expected * 2))
    assert all(batch.values.shape == (5, 10) for batch in found)
    assert all(batch.cost.bytes == 50 for batch in found)
    assert all(before < batch.cost.made_s < time.monotonic() for batch in found)
    assert {int(key) % 3 for key in found[0].keys} == set(found[0].labels.tolist())


def test_fetching_is_told_from_decoding_and_work_from_waiting():
    def decode(sample):
        busy(0.004)
        return as_tensor(sample)

    def wait():
        time.sleep(0.003)

    (batch,) = DataLoader(TimedMap(Samples(wait), decode), batch_size=20, collate_fn=collate)
    assert batch.cost.decode_s >= 20 * 0.004
    assert batch.cost.fetch_s >= 20 * 0.003
    assert batch.cost.fetch_cpu_s < 0.5 * batch.cost.fetch_s
    (batch,) = DataLoader(TimedMap(Samples(lambda: busy(0.003)), as_tensor), batch_size=20, collate_fn=collate)
    assert batch.cost.fetch_cpu_s >= 20 * 0.003


def test_a_data_set_that_fetches_many_at_once_is_asked_for_a_batch():
    class AtOnce(Samples):
        def __getitems__(self, indices):
            return [Raw(str(len(indices)), b"x", 0) for _ in indices]

    (first, *_) = DataLoader(TimedMap(AtOnce(), length), batch_size=5, collate_fn=collate)
    assert (list(first.keys), first.values) == (["5"] * 5, [1] * 5)


@pytest.mark.parametrize("raw", [TimedMap, TimedStream])
def test_what_is_skipped_is_in_no_batch(raw):
    def odd(sample):
        return int(sample.key) if int(sample.key) % 2 else None

    inner = Samples() if raw is TimedMap else Streamed()
    found = [batch.values for batch in DataLoader(raw(inner, odd), batch_size=5, collate_fn=collate)]
    assert sorted(value for values in found for value in values) == list(range(1, 20, 2))


@pytest.mark.slow
def test_labels_of_a_worker_become_a_tensor_where_they_are_trained_on():
    loader = DataLoader(TimedMap(Samples(), length), batch_size=5, num_workers=1, collate_fn=collate, multiprocessing_context="fork")
    (first, *_) = loader
    assert isinstance(first.labels, np.ndarray)  # sent with the batch, and not by a file descriptor of its own
    (own, *_) = DataLoader(TimedMap(Samples(), length), batch_size=5, collate_fn=collate)
    assert arrived(first).labels.dtype == own.labels.dtype == torch.int64
    assert arrived(first).labels.tolist() == arrived(own).labels.tolist() == own.labels.tolist()


def test_a_batch_of_which_all_is_skipped_is_empty():
    (batch, *_) = DataLoader(TimedMap(Samples(), lambda sample: None), batch_size=5, collate_fn=collate)
    assert (len(batch.keys), batch.values, batch.cost.bytes) == (0, [], 0)
