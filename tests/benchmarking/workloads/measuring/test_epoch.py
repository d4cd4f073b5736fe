import contextlib
import itertools
from collections import Counter

import pytest

from benchmarking.workloads.measuring.epoch import CudaEvents, EpochLimits, Instruments, run_epoch
from benchmarking.workloads.measuring.stall import StallWatch
from benchmarking.workloads.measuring.timed import Cost, LoadedBatch


class Clock:
    """Each look takes a second."""

    def __init__(self):
        self.looks = itertools.count()

    def __call__(self):
        return float(next(self.looks))


class SetClock:
    """Stands still until it is set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


NO_LIMITS = EpochLimits()


def run(count, limits=NO_LIMITS, device=None):
    seen, phases = [], Counter()

    @contextlib.contextmanager
    def phase(name):
        phases[name] += 1
        yield

    loader = [LoadedBatch(["k"] * 4, None, None, Cost(0.1, 0.05, 0.2, 0.01, 0.0, 40, 1)) for _ in range(count)]
    steps = []
    instruments = Instruments(Clock(), phase, steps.append, StallWatch(0, list), device)
    batches, began_s = run_epoch(loader, seen.append, limits, instruments)
    assert len(seen) == len(batches) == len(steps)
    return batches, began_s, phases


def test_each_batch_has_its_times():
    batches, began_s, phases = run(3)
    assert began_s == 0.0
    assert [(b.asked_s, b.arrived_s, b.done_s) for b in batches] == [(1, 2, 3), (4, 5, 6), (7, 8, 9)]
    assert [b.compute_s for b in batches] == [1.0] * 3
    assert (batches[0].samples, batches[0].bytes, batches[0].fetch_s) == (4, 40, 0.1)
    assert phases == {"load": 4, "train": 3}


def test_what_comes_after_a_batch_is_neither_waiting_nor_training():
    """A checkpoint of ten looks at the clock after each batch: waits and steps take a second as before."""
    clock = Clock()
    loader = [LoadedBatch(["k"], None, None, Cost(0, 0, 0, 0, 0, 1, 1)) for _ in range(3)]
    instruments = Instruments(
        clock,
        lambda name: contextlib.nullcontext(),
        lambda samples: None,
        StallWatch(0, list),
        after=lambda: [clock() for _ in range(10)],
    )
    batches, _ = run_epoch(loader, lambda batch: None, NO_LIMITS, instruments)
    assert [(b.wait_s, b.compute_s) for b in batches] == [(1.0, 1.0)] * 3
    assert [b.asked_s for b in batches] == [1, 14, 27]


def test_limits_end_a_pass():
    assert len(run(10, EpochLimits(max_samples=8))[0]) == 2
    assert len(run(10, EpochLimits(deadline_s=5.0))[0]) == 2
    # The first batch is had however late it is, as without one nothing is known.
    assert len(run(10, EpochLimits(deadline_s=-1.0))[0]) == 1


def test_a_device_that_works_on_its_own_times_itself():
    class Device:
        marks = itertools.count()

        def mark(self):
            return next(self.marks)

        def between_s(self, begun, ended):
            return (ended - begun) * 0.25

    assert [b.compute_s for b in run(2, device=Device())[0]] == [0.25, 0.25]


@pytest.mark.parametrize(("between_batches_s", "waited_s"), [(0.5, 0.0), (1.0, 0.0), (1.5, 0.5)])
def test_work_still_under_way_on_a_device_is_no_waiting(between_batches_s, waited_s):
    """`train` returns at once, and the device takes a second; the loader gives a batch so long after it was asked for."""
    clock = SetClock()

    class Device:
        def mark(self):
            return None

        def between_s(self, begun, ended):
            return 1.0

    def loader():
        for _ in range(6):
            clock.now += between_batches_s
            yield LoadedBatch(["k"], None, None, Cost(0, 0, 0, 0, 0, 1, 1))

    instruments = Instruments(clock, lambda name: contextlib.nullcontext(), lambda samples: None, StallWatch(0, list), Device())
    batches, _ = run_epoch(loader(), lambda batch: None, NO_LIMITS, instruments)
    assert batches[0].wait_s == between_batches_s  # nothing was there to work on
    assert [b.wait_s for b in batches[1:]] == [waited_s] * 5
    assert [b.compute_s for b in batches] == [1.0] * 6


def test_cuda_events_time_what_the_device_does(monkeypatch):
    """With a device whose queue is a clock of its own: an event happens when all before it is done."""
    made = []

    class Event:
        def __init__(self, enable_timing):
            assert enable_timing
            made.append(self)
            self.at_ms = self.waited = None

        def record(self):
            self.at_ms = queue.now

        def synchronize(self):
            self.waited = True

        def elapsed_time(self, other):
            assert other.waited, "the second event may not have happened yet"
            return other.at_ms - self.at_ms

    queue = SetClock()
    monkeypatch.setattr("torch.cuda.Event", Event)

    def train(batch):
        queue.now += 250.0  # milliseconds of kernels, while the host goes on at once

    host = SetClock()
    instruments = Instruments(host, lambda name: contextlib.nullcontext(), lambda samples: None, StallWatch(0, list), CudaEvents())
    loader = [LoadedBatch(["k"], None, None, Cost(0, 0, 0, 0, 0, 1, 1)) for _ in range(4)]
    batches, _ = run_epoch(loader, train, NO_LIMITS, instruments)
    assert [b.compute_s for b in batches] == [0.25] * 4
    assert len(made) == 8


def test_no_data_gives_no_batches():
    assert run(0)[0] == []
