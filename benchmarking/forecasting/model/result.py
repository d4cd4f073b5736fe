"""A forecast as data: median, intervals, and a status that says whether the evidence carries it. Pure."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

METRICS = ("total_s", "train_s", "cpu_s", "quiet_s", "rss_bytes", "gpu_bytes", "billable_s", "cost_usd", "cpu_util", "gpu_util")
"""`quiet_s` is the time that is left of `total_s` without that in which other programs had the processor, where the system tells."""

TIMES = ("total_s", "train_s", "billable_s", "cost_usd", "cpu_s", "quiet_s")
"""Metrics that follow from the laws of wall or processor time."""

UTILISATIONS = ("cpu_util", "gpu_util")
"""Metrics that are means over the job, and clipped to their scale."""

OK_FACTOR, DECIDED_FACTOR = 1.25, 1.5
"""Half of the 80 % interval, as a factor: up to the first a forecast is `ok`, up to the second `wide`, beyond it `not decided`."""

OK_BOUND, DECIDED_BOUND = 1.35, 2.0
"""The 95 % bound of a peak of memory over its median: whether a job fits is asked of the bound alone."""

_OK_POINTS, _DECIDED_POINTS = 0.1, 0.25
"""The same for utilisation: half of the 80 % interval as a share of the scale."""


class Status(enum.StrEnum):
    """What a forecast is worth."""

    OK = "ok"
    WIDE = "wide"
    NOT_DECIDED = "not decided"
    DOES_NOT_FIT = "does not fit"


_RANK = {Status.OK: 0, Status.WIDE: 1, Status.NOT_DECIDED: 2, Status.DOES_NOT_FIT: 3}


def graver(first: Status, second: Status) -> Status:
    """Return the graver of two."""
    return first if _RANK[first] >= _RANK[second] else second


@dataclass(frozen=True)
class Forecast:
    """One metric of one configuration's full job.

    Args:
        configuration: its name; `metric`: one of `METRICS`.
        median, lo80, hi80, lo90, hi90: quantiles; None where nothing can be said. `hi90` is also the one-sided 95 % bound.
        status: what it is worth; `why`: on what grounds, in a sentence.
    """

    configuration: str
    metric: str
    median: float | None
    lo80: float | None
    hi80: float | None
    lo90: float | None
    hi90: float | None
    status: Status
    why: str


def quantiles(draws: FloatArray, stretch: float = 1.0) -> tuple[float, float, float, float, float]:
    """Return median, lo80, hi80, lo90, hi90 of draws (n,); `stretch` widens the distances to the median on the log scale."""
    import numpy as np

    # One sort is a third of what numpy's quantile takes for five of them.
    ranked = np.sort(draws)
    at = np.array((0.5, 0.1, 0.9, 0.05, 0.95)) * (len(ranked) - 1)
    below = at.astype(int)
    found = ranked[below] + (ranked[np.minimum(below + 1, len(ranked) - 1)] - ranked[below]) * (at - below)
    middle = float(found[0])
    if stretch == 1.0 or middle <= 0:
        return tuple(map(float, found))  # type: ignore[return-value] # five quantiles were asked for
    wide = [middle * (float(value) / middle) ** stretch if value > 0 else float(value) for value in found]
    return wide[0], wide[1], wide[2], wide[3], wide[4]


def status_of_width(lo80: float, hi80: float, scale: float | None = None) -> Status:
    """Return the status that the width of the 80 % interval allows.

    Args:
        lo80: its lower end.
        hi80: its upper end.
        scale: of a utilisation, which is judged by points; None for what is judged by ratio.
    """
    if scale is not None:
        half = (hi80 - lo80) / 2 / scale
        return Status.OK if half <= _OK_POINTS else (Status.WIDE if half <= _DECIDED_POINTS else Status.NOT_DECIDED)
    factor = math.sqrt(hi80 / lo80) if lo80 > 0 else math.inf
    return Status.OK if factor <= OK_FACTOR else (Status.WIDE if factor <= DECIDED_FACTOR else Status.NOT_DECIDED)


def status_of_bound(median: float, bound: float) -> Status:
    """Return the status that a peak's 95 % bound allows, by its ratio to the median."""
    ratio = bound / median if median > 0 else math.inf
    return Status.OK if ratio <= OK_BOUND else (Status.WIDE if ratio <= DECIDED_BOUND else Status.NOT_DECIDED)
