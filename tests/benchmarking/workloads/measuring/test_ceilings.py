import math
from typing import NamedTuple

import pytest

from benchmarking.workloads.measuring import ceilings
from benchmarking.workloads.measuring.ceilings import (
    MeasuredCeiling,
    from_memory,
    loader_ceiling,
    mean_and_error,
    model_ceiling,
    size_only,
    some_samples,
)
from benchmarking.workloads.measuring.timed import Cost, LoadedBatch, collate


class Time:
    """A clock that goes on only when something takes time."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def time(monkeypatch):
    clock = Time()
    monkeypatch.setattr(ceilings, "time", clock)
    return clock


def batch(samples=10, decode_s=0.0, fetch_s=0.0):
    return LoadedBatch(["k"] * samples, None, None, Cost(fetch_s, fetch_s / 2, decode_s, 0.0, 0.0, 100, 1))


def test_a_models_ceiling_leaves_out_its_first_step(time):
    steps = iter([5.0, *[0.05] * 1000])

    def train(batch):
        time.now += next(steps)

    found = model_ceiling(train, batch(samples=10))
    assert found.samples_per_s == pytest.approx(200.0)
    assert found.error == pytest.approx(0.0, abs=1e-9)
    assert found.seconds == pytest.approx(5.0 + 3 * 0.05)  # after the time that it may take, the three steps that it needs


def test_a_device_is_waited_for(time):
    def wait():
        time.now += 0.1

    assert model_ceiling(lambda batch: None, batch(samples=10), wait).samples_per_s == pytest.approx(100.0)


def loader(time, seconds, **given):
    for each_s in seconds:
        time.now += each_s
        yield batch(**given)


def test_a_loaders_ceiling_is_that_of_whole_rounds_after_the_warm_up(time):
    # Two workers: what lay ready comes at once, then a pair of batches every 0.2 s.
    found = loader_ceiling(loader(time, [1.0, *[0.0] * 5, *[0.2, 0.0] * 50], decode_s=0.1, fetch_s=0.4), workers=2, prefetch=2)
    assert found.samples_per_s == pytest.approx(100.0)
    assert found.decode_s == pytest.approx(0.01)
    assert (found.fetch_s, found.fetch_cpu_s) == (pytest.approx(0.04), pytest.approx(0.02))
    assert found.decode_ceiling(2).samples_per_s == pytest.approx(200.0)
    assert found.seconds == pytest.approx(1.0 + 5 * 0.2)  # five rounds, which take longer than is asked for


def test_a_loader_that_gives_too_little_gives_no_ceiling(time):
    assert loader_ceiling(loader(time, [0.1] * 6), workers=2, prefetch=2) is None
    assert loader_ceiling(loader(time, [0.1] * 2), workers=0, prefetch=0) is None
    # One that is slow ends with what there is; how long workers take to start is not counted.
    slow = loader_ceiling(loader(time, [30.0, *[1.5] * 100]), workers=0, prefetch=0)
    assert slow.samples_per_s == pytest.approx(10 / 1.5)
    assert slow.seconds == pytest.approx(30.0 + 2 * 1.5)


def test_the_error_is_that_of_the_mean():
    mean, error = mean_and_error([1.0, 2.0, 3.0])
    assert (mean, error) == (2.0, pytest.approx(1 / math.sqrt(3) / 2))
    assert mean_and_error([4.0]) == (4.0, 1.0)


class Raw(NamedTuple):
    key: str
    content: bytes
    label: int = 0
    place: str = ""


def test_from_memory_gives_the_same_samples_with_and_without_loading():
    loads = []

    def load(sample):
        loads.append(sample.key)
        return sample.content.decode()

    samples = [Raw("a", b"12"), Raw("b", b"3456")]
    for decoded in (False, True):
        dataset = from_memory(samples, load, decoded=decoded)
        loads.clear()
        found = collate(dataset.__getitems__([0, 1, 2]))
        assert (list(found.keys), found.values, found.cost.bytes) == (["a", "b", "a"], ["12", "3456", "12"], 8)
        assert loads == ([] if decoded else ["a", "b", "a"])
        assert len(dataset) > 1e9


def test_what_is_kept_in_memory_is_bounded():
    class Streamed:
        def __iter__(self):
            while True:
                yield Raw("k", b"x" * 10)

    assert len(some_samples(Streamed(), most=7)) == 7
    assert len(some_samples(Streamed(), most=7, most_bytes=25)) == 3
    assert len(some_samples([Raw("k", b"x")] * 3)) == 3
    assert len(some_samples(Streamed(), most_bytes=1)) == 1
    assert size_only(Raw("k", b"xyz")) == 3


def test_it_is_kept_as_json():
    found = MeasuredCeiling(100.0, 0.01, 0.5, decode_s=0.001)
    assert MeasuredCeiling(**found.document()) == found
    assert MeasuredCeiling(100.0, 0.01, 0.5).decode_ceiling(4).samples_per_s == math.inf
