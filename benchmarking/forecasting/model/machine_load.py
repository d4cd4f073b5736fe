"""Wall time on a machine that is shared with others: processor time, and the load that stretches it. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from benchmarking.analysis.measurements import PHASES
from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.columns import column_of
from benchmarking.forecasting.model.growth_prior import GrowthPrior
from benchmarking.forecasting.model.noise import within_levels
from benchmarking.forecasting.model.phases import Laws, Part
from benchmarking.forecasting.model.power_law import Growth, fit

LOAD_FACTOR = GrowthPrior(((1.0, 0.0, 0.01),), free=0.5, offset="any", drift=0.0)
"""Load comes and goes, whatever the size of the work."""

_MOST_DELAYED = 0.99
"""Share of a run's time that other programs had at most: the two are told by different clocks."""

_WAITS_MORE = 3.0
"""Standard errors by which wall over processor time differs between the smallest and the largest size where that is no matter of load."""

_ONE_THREAD, _MOSTLY_WAITS = 0.95, 2.0
"""Wall over processor time of one thread that works: at least the first, and at the median at most the second."""


def delayed_share(canary: Canary) -> float | None:
    """Return the share of a run's time that other programs had the processor; None where it did not tell."""
    delayed_s = canary.about.get("delayed_s")
    return None if delayed_s is None or not canary.total_s else min(float(delayed_s) / canary.total_s, _MOST_DELAYED)


def alone(canary: Canary) -> Canary:
    """Return a completed run as it would have been without other programs, which had as much of each of its phases."""
    share = 1.0 - (delayed_share(canary) or 0.0)
    timed = {f"{name}_s": seconds * share for name in (*PHASES, "total") if (seconds := getattr(canary, f"{name}_s")) is not None}
    return dataclasses.replace(canary, **timed)


def under_load(canaries: Sequence[Canary], wall: Laws, cpu: Laws, least: float) -> Laws:
    """Return the laws of wall time, as processor time and load where the machine is shared with others.

    There, wall time scatters from run to run where processor time does not, and one slow run looks like growth. One thread's work takes
    at least its processor time; what several threads, or waiting for data, make of it changes with the size of the work, and is left to
    the law of wall time.

    Args:
        canaries: completed runs of one configuration.
        wall: laws of its wall time.
        cpu: laws of its processor time.
        least: scatter of the load, on the log scale, up to which the laws stay as they are.
    """
    # In a total the share of start-up, which waits more than the work does, falls as the data grows.
    main = _load_of(canaries, wall, cpu, wall.main) if wall.timed and cpu.timed and not wall.steady else None
    if main is None or main.noise_sd() <= least:
        return wall
    parts = dict(wall.parts)
    for name, part in cpu.parts.items():
        load = main if name == wall.main else _load_of(canaries, wall, cpu, name)
        if load is not None:
            parts[name] = Part(part.growth, load=load)
    return dataclasses.replace(wall, parts=parts)


def _load_of(canaries: Sequence[Canary], wall: Laws, cpu: Laws, name: str) -> Growth | None:
    """Return how many times its processor time a part takes in wall time; None where that is not a matter of load."""
    import numpy as np

    # Both clocks must have measured the part in the same runs.
    both = [laws.parts[name].growth for laws in (wall, cpu) if name in laws.parts]
    seconds, processor = (column_of(canaries, column) for column in (f"{name}_s", f"{name}_cpu_s"))
    if len(both) < 2 or both[0] is None or both[1] is None or seconds is None or processor is None or len(seconds) != len(both[0].x):
        return None
    # One thread that works: wall over processor time is never below 1 (but for the clocks' ticks), nor mostly waiting.
    x, ratio = both[0].x, seconds / np.maximum(processor, 1e-9)
    if len(ratio) < 3 or float(ratio.min()) < _ONE_THREAD or float(np.median(ratio)) > _MOSTLY_WAITS:
        return None
    # Means at small and at large sizes, compared by the pooled scatter of repeats (a two-sample t statistic): a ratio that changes with the
    # size is no matter of load.
    low, high = np.log(ratio[x <= 1.1 * x.min()]), np.log(ratio[x >= 0.9 * x.max()])
    if min(len(low), len(high)) > 1:
        squares, freedom = within_levels(x, ratio)
        error = max(math.sqrt(squares / max(freedom, 1)), 0.02) * math.sqrt(1 / len(low) + 1 / len(high))
        if abs(float(high.mean() - low.mean())) > _WAITS_MORE * error:
            return None
    return fit(x, ratio, LOAD_FACTOR)
