"""The steady window of an epoch: which batches a rate may be taken from. Pure.

At its start a loader hands over what its workers had made while nobody asked, at its end some of them have nothing left to do. Both count
as speed to whoever divides samples by seconds; what is between them, in whole rounds of the workers, does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

MIN_ROUNDS = 8
"""Rounds of the workers that a rate needs at least."""

MIN_WINDOW_S = 5.0
"""Seconds that it needs at least, where nobody says otherwise."""

_MORE = "it takes more samples"


@dataclass(frozen=True)
class Window:
    """Batches that a rate may be taken from.

    Args:
        first, last: indices of the batches, both included; time runs from the arrival of the one before `first` to that of `last`.
        rounds: of the workers.
        samples: in these batches.
        seconds: that they took to arrive, or to be made where that took longer.
    """

    first: int
    last: int
    rounds: int
    samples: int
    seconds: float

    @property
    def batches(self) -> int:
        """How many batches there are."""
        return self.last - self.first + 1

    @property
    def samples_per_s(self) -> float:
        """The steady rate."""
        return self.samples / self.seconds


@dataclass(frozen=True)
class TooShort:
    """Why an epoch has no steady window, as a sentence."""

    reason: str


def warm_up_batches(workers: int, prefetch: int) -> int:
    """Return how many batches at the start are none of the steady state.

    Args:
        workers: processes that load; 0 for none.
        prefetch: batches that each of them makes ahead.
    """
    # So many may be there before the first is asked for, and one more of each worker is half made by then.
    return workers * (prefetch + 1) if workers else 1


def steady_window(
    arrived_s: Sequence[float],
    samples: Sequence[int],
    *,
    workers: int,
    prefetch: int = 0,
    made_s: Sequence[float] = (),
    min_window_s: float = MIN_WINDOW_S,
    min_rounds: int = MIN_ROUNDS,
) -> Window | TooShort:
    """Return the steady window of an epoch.

    The first `workers x (prefetch + 1)` batches are left out, and so is the last round, in which workers run dry. The rest is cut to whole
    rounds, as the batches of a round may arrive together. A stock of ready batches that melts within the window would still flatter it:
    where the same batches took longer to be made than to arrive, the longer time counts.

    Args:
        arrived_s: (n_batches,) when the training process had each batch, on one clock, ascending.
        samples: (n_batches,) how many samples each had.
        workers: processes that load; 0 where the training process loads itself.
        prefetch: batches that each of them makes ahead.
        made_s: (n_batches,) when a worker had finished each, on the same clock; empty where that is not known.
        min_window_s: seconds that the window has at least.
        min_rounds: rounds that it has at least.
    """
    width = max(workers, 1)
    skipped = warm_up_batches(workers, prefetch)
    rounds = max(len(arrived_s) - skipped - width, 0) // width
    if rounds < min_rounds:
        needed = skipped + width * (min_rounds + 1)
        found = f"{len(arrived_s)} batches, of which {rounds} whole rounds of {width} are steady"
        return TooShort(f"too short: {found}; {min_rounds} rounds need {needed} batches: {_MORE} or a smaller batch_size")
    before, last = skipped - 1, skipped - 1 + rounds * width
    seconds = arrived_s[last] - arrived_s[before]
    if made_s:
        seconds = max(seconds, made_s[last] - made_s[before])
    if not seconds >= min_window_s or seconds <= 0:
        return TooShort(f"too short: a steady window of {seconds:.3g} s; {min_window_s:g} s are needed: {_MORE} or a smaller min_window_s")
    return Window(skipped, last, rounds, sum(samples[skipped : last + 1]), seconds)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values does not pass; nan where there is none.

    Args:
        values: (n,) in any order.
        share: in (0, 1].
    """
    if not values:
        return math.nan
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered) - 1e-9), 1) - 1]
