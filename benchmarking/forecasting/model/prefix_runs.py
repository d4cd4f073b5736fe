"""The run that is expected next of a job whose beginning was run: what one more would tell. Pure.

A longer beginning goes on for twice as long. By how much its law gets narrower is that of a usual job (`running.projection`): twelve
stretches of the later two thirds of a loop, of which the share s is behind the job, have the variance s^2 / 1.5^2 of their places and the
noise 0.04, and the middle of what is left is (1 - s) / 2 + s / 3 away. Another small job repeats one that was run, or is larger than the
largest, with a loop that goes with the data and after it what the law of small jobs has at its median.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.noise import noise_prior
from benchmarking.forecasting.model.phases import REST
from benchmarking.forecasting.model.power_law import fit
from benchmarking.forecasting.model.prefix_draws import tail_s, through
from benchmarking.forecasting.prefix.measured import ProgressSummary, Rest
from benchmarking.forecasting.running.projection import FORM, STRETCHES, USUAL_CHANGE, USUAL_NOISE, Openness

_EXPECTED = 10_000
"""Number of a repeat that no measured run has."""

_STEP, _LARGEST = 10 / 3, 0.5
"""A small job above the largest is so many times as large, and at most so much of the full one."""


def usual_sd(share: float) -> float:
    """Return the standard deviation of the log of what is left of a usual loop, of which this share is behind the job."""
    window = share / 1.5
    precision = window**2 / USUAL_NOISE**2 + 1 / USUAL_CHANGE**2
    ahead = (1 - share) / 2 + window / 2
    return math.sqrt(USUAL_NOISE**2 / STRETCHES + ahead**2 / precision + FORM**2)


def longer_prefix(prefixes: Sequence[Canary]) -> Canary | None:
    """Return the beginning that goes on for twice as long as the longest, as it is expected; None where half of the loop is run already.

    Args:
        prefixes: of one configuration, those that told what is left.
    """
    known = [one for one in prefixes if one.progress is not None and one.progress.share is not None]
    if not known:
        return None
    longest = max(known, key=lambda one: one.total_s or 0.0)
    progress = longest.progress
    if progress is None or progress.total is None or not 0 < progress.done < progress.total / 2:
        return None
    told = dataclasses.replace(
        progress,
        done=2 * progress.done,
        end_s=2 * progress.end_s - progress.begin_s,
        end_cpu_s=2 * progress.end_cpu_s - progress.begin_cpu_s,
        wall=_left(progress, progress.wall),
        cpu=_left(progress, progress.cpu),
    )
    more_s, more_cpu_s = progress.end_s - progress.begin_s, progress.end_cpu_s - progress.begin_cpu_s
    total_s = None if longest.total_s is None else longest.total_s + more_s
    cpu_s = None if longest.cpu_s is None else longest.cpu_s + more_cpu_s
    return dataclasses.replace(longest, total_s=total_s, cpu_s=cpu_s, progress=told, repeat=_EXPECTED)


def _left(progress: ProgressSummary, rest: Rest | Openness) -> Rest | Openness:
    if not isinstance(rest, Rest) or progress.total is None:
        return rest
    share, left = progress.done / progress.total, progress.total - progress.done
    narrower = usual_sd(2 * share) / usual_sd(share)
    # What stays whatever is measured stays.
    sd = max(FORM, rest.sd * min(1.0, narrower))
    return Rest(rest.seconds * (left - progress.done) / left, sd, rest.freedom + 2)


def another_small(small: Sequence[Canary], seed: int = 0) -> list[Canary]:
    """Return one more small job at each fraction that small jobs were run through at, as the last of them was, and a larger one.

    Args:
        small: completed small jobs of one configuration.
        seed: of the draws whose medians count.
    """
    latest = {canary.fraction: canary for canary in through(small)}
    found = [dataclasses.replace(canary, repeat=_EXPECTED) for _, canary in sorted(latest.items())]
    larger = _larger(found[-1], through(small), seed) if found else None
    return found if larger is None else [*found, larger]


def _larger(largest: Canary, runs: Sequence[Canary], seed: int) -> Canary | None:
    """Return the small job above the largest; None where that is half of the full one."""
    fraction, progress = min(_LARGEST, largest.fraction * _STEP), largest.progress
    if fraction <= largest.fraction or progress is None or progress.total is None or largest.total_s is None:
        return None
    times = fraction / largest.fraction
    told = dataclasses.replace(
        progress,
        done=progress.done * times,
        total=progress.total * times,
        end_s=progress.begin_s + (progress.end_s - progress.begin_s) * times,
        end_cpu_s=progress.begin_cpu_s + (progress.end_cpu_s - progress.begin_cpu_s) * times,
        phases=tuple((name, seconds if name == "startup" else seconds * times) for name, seconds in progress.phases),
    )
    total_s = told.end_s + _tail_at(fraction, runs, "wall", seed)
    cpu_s = None if largest.cpu_s is None else told.end_cpu_s + _tail_at(fraction, runs, "cpu", seed)
    # What a run reads is in proportion to its fraction.
    rows, size = (None if one is None else one * times for one in (largest.rows, largest.bytes))
    return dataclasses.replace(largest, fraction=fraction, total_s=total_s, cpu_s=cpu_s, rows=rows, bytes=size, progress=told)


def _tail_at(fraction: float, runs: Sequence[Canary], clock: str, seed: int) -> float:
    """Return the median seconds after the loop that the law of small jobs has at a fraction."""
    import numpy as np

    measured = [run for run in runs if clock == "wall" or run.cpu_s is not None]
    y = np.maximum(np.array([tail_s(run, clock) for run in measured]), 1e-3)
    growth = fit(np.array([run.fraction for run in measured]), y, REST, noise_prior())
    return float(np.median(growth.sample(fraction, 1000, np.random.default_rng(seed))))
