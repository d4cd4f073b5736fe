"""Measures what each part of a pipeline could give by itself, outside the figures of any trial."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from torch.utils.data import Dataset

from .bound import Ceiling
from .timed import Load, StoredSample, TimedMap, size_of
from .window import warm_up_batches

BLOCKS = 5
"""PipelineParts that a measurement is cut into, by whose spread its error is told."""

_LEAST_S = 0.3
_MOST_S = 2.0
_MOST_SAMPLES = 512
_MOST_BYTES = 64 << 20
_ENDLESS = 1 << 40


@dataclass(frozen=True)
class MeasuredCeiling:
    """A ceiling as it was measured.

    Args:
        samples_per_s: mean; `error`: standard error of the mean over it.
        seconds: that measuring took.
        fetch_s, fetch_cpu_s, decode_s: seconds per sample where samples are loaded; 0 where nothing is.
        decode_error: standard error of `decode_s` over it.
    """

    samples_per_s: float
    error: float
    seconds: float
    fetch_s: float = 0.0
    fetch_cpu_s: float = 0.0
    decode_s: float = 0.0
    decode_error: float = 0.0
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def ceiling(self) -> Ceiling:
        """What is decided by."""
        return Ceiling(self.samples_per_s, self.error)

    def decode_ceiling(self, workers: int) -> Ceiling:
        """Return what so many workers (0: the training process itself) could decode if nothing else took time."""
        return Ceiling(max(workers, 1) / self.decode_s if self.decode_s > 0 else math.inf, self.decode_error)

    def document(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return asdict(self)


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of some values, and its standard error over it (1 where there is but one value).

    Args:
        values: (n,) positive.
    """
    mean = math.fsum(values) / len(values)
    if len(values) < 2 or not mean:
        return mean, 1.0
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values)) / mean


def model_ceiling(
    train: Callable[[Any], Any], batch: Any, wait: Callable[[], Any] = lambda: None, most_s: float = _MOST_S
) -> MeasuredCeiling:
    """Return what the model could take: one batch trained on over and over.

    Args:
        train: takes the step.
        batch: a batch of the trial.
        wait: returns when the device has done what it was told to do.
        most_s: after which no further step is begun; three are taken in any case.
    """
    began_s = time.monotonic()
    train(batch)  # the first step sets things up
    wait()
    seconds: list[float] = []
    while len(seconds) < 3 or (time.monotonic() - began_s < most_s and (len(seconds) < 20 or math.fsum(seconds) < _LEAST_S)):
        at_s = time.monotonic()
        train(batch)
        wait()
        seconds.append(time.monotonic() - at_s)
    mean, error = mean_and_error(_blocks(seconds))
    return MeasuredCeiling(len(batch.keys) / mean, error, time.monotonic() - began_s)


def loader_ceiling(
    loader: Iterable[Any], workers: int, prefetch: int, least_s: float = _LEAST_S, most_s: float = _MOST_S
) -> MeasuredCeiling | None:
    """Return what a loader gives to somebody who does nothing else; None where it gave too little to tell.

    Args:
        loader: of timed batches.
        workers: that it has.
        prefetch: batches that each makes ahead.
        least_s: seconds that are measured at least.
        most_s: seconds of measuring after which it ends with two rounds and more; starting workers is none of them.
    """
    began_s = time.monotonic()
    width, skipped = max(workers, 1), warm_up_batches(workers, prefetch)
    rounds: list[float] = []  # seconds of each whole round of the workers
    samples: list[int] = []
    costs: list[list[Any]] = []
    at_s, mark_s = began_s, began_s
    batches = iter(loader)
    for number in itertools.count():
        batch = next(batches, None)
        at_s = time.monotonic()
        if batch is None:
            break
        if number < skipped:
            mark_s = at_s
            continue
        if (number - skipped) % width == 0:
            samples.append(0)
            costs.append([])
        samples[-1] += len(batch.keys)
        costs[-1].append(batch.cost)
        if (number - skipped) % width == width - 1:
            rounds.append(at_s - mark_s)
            mark_s = at_s
            measured_s = math.fsum(rounds)
            if (len(rounds) >= BLOCKS and measured_s >= least_s) or (len(rounds) >= 2 and measured_s > most_s):
                break
    del batches
    if len(rounds) < 2:
        return None
    samples, costs = samples[: len(rounds)], costs[: len(rounds)]
    seconds_each = [a / b for a, b in zip(_blocks(rounds), _blocks(samples), strict=True)]
    mean, error = mean_and_error(seconds_each)
    flat = [cost for part in costs for cost in part]
    counted = sum(samples)
    decode = [math.fsum(cost.decode_s for cost in part) / count for part, count in zip(costs, samples, strict=True)]
    return MeasuredCeiling(
        1 / mean if mean > 0 else math.inf,
        error,
        time.monotonic() - began_s,
        math.fsum(cost.fetch_s for cost in flat) / counted,
        math.fsum(cost.fetch_cpu_s for cost in flat) / counted,
        math.fsum(cost.decode_s for cost in flat) / counted,
        mean_and_error(_blocks(decode))[1],
    )


class Repeated(Dataset[Any]):
    """Map-style: some samples over and over, without end."""

    def __init__(self, samples: Sequence[Any]) -> None:
        self._samples = samples

    def __len__(self) -> int:
        return _ENDLESS

    def __getitem__(self, index: int) -> Any:
        return self._samples[index % len(self._samples)]


def from_memory(samples: Sequence[StoredSample], load: Load, *, decoded: bool) -> TimedMap:
    """Return the data set of a ceiling: the same samples from memory, as they are stored or as they were loaded already.

    Args:
        samples: at least one.
        load: from a raw sample to what the model trains on.
        decoded: whether loading is left out.
    """
    if not decoded:
        return TimedMap(Repeated(samples), load)
    return TimedMap(Repeated([_Decoded(one.key, _Sized(size_of(one.content)), one.label, one.place, load(one)) for one in samples]), _taken)


class _Sized:
    """Stands for a content that is not there any more."""

    def __init__(self, size: int) -> None:
        self.nbytes = size


class _Decoded(NamedTuple):
    key: str
    content: Any
    label: int
    place: str
    value: Any


def _taken(sample: _Decoded) -> Any:
    return sample.value


def size_only(sample: StoredSample) -> int:
    """Load nothing of a sample but how long it is, for the ceiling of a reader."""
    return size_of(sample.content)


def some_samples(dataset: Any, most: int = _MOST_SAMPLES, most_bytes: int = _MOST_BYTES) -> list[StoredSample]:
    """Return the first samples of a data set, as many as memory has room for.

    Args:
        dataset: map-style or iterable-style, of `StoredSample`.
        most: samples at most.
        most_bytes: of their contents together; one sample is returned in any case.
    """
    found: list[StoredSample] = []
    size = 0
    samples: Iterator[StoredSample] = (dataset[index] for index in range(len(dataset))) if hasattr(dataset, "__len__") else iter(dataset)
    for sample in samples:
        found.append(sample)
        size += size_of(sample.content)
        if len(found) >= most or size >= most_bytes:
            break
    return found


def _blocks(values: Sequence[float]) -> list[float]:
    """Return the means of up to `BLOCKS` stretches of values, so that neighbours which depend on each other are one."""
    count = min(BLOCKS, len(values))
    edges = [round(number * len(values) / count) for number in range(count + 1)]
    return [math.fsum(values[low:high]) / (high - low) for low, high in itertools.pairwise(edges)]
