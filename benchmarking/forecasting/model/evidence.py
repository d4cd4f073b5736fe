"""When the evidence cannot carry a forecast: refusals, each with its reason in words. Pure."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.columns import column_of
from benchmarking.forecasting.model.fit import Fitted
from benchmarking.forecasting.model.machine_load import alone
from benchmarking.forecasting.model.memory import PeakLine
from benchmarking.forecasting.model.noise import within_levels
from benchmarking.forecasting.model.phases import Laws
from benchmarking.forecasting.model.power_law import Growth
from benchmarking.forecasting.model.result import TIMES, Status, graver

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

Finding: TypeAlias = tuple[Status, str]

_FARTHEST = 150.0
"""The full job may be so many times the largest canary; beyond that a forecast is refused whatever its width."""

_SHORTEST_S, _SHORTEST_SHARE = 0.5, 0.25
"""A fit phase shorter than the first, and than this share of start-up, says nothing of its growth."""

_HARDLY_GROWS = 1.4
"""Growth, over at least three times the data, up to which a fit phase counts as not growing yet."""

_MOSTLY_CONSTANT, _LOOSE_EXPONENT = 0.5, 0.1
"""A phase of which more than the first is constant at the largest canary, its exponent looser than the second, is not decided."""

_UNSTEADY = 0.15
"""Share by which numbers of steps may differ from what they are expected to be."""

_LESS = 0.93
"""An exponent that is below this by half of its standard deviation is of work that grows by less than the data."""

_MISFIT = 3.0
"""Residual over repeat noise from which on the law is said not to fit."""


def level_findings(growth: Growth | PeakLine | None, what: str, known: bool) -> list[Finding]:
    """Return what speaks against extrapolating one growth.

    Args:
        growth: of the part that grows; None where there is none.
        what: its name, for the words.
        known: whether how it grows is known beforehand, as steps go with the data. What somebody says of the family is no evidence.
    """
    if growth is None or growth.top >= 0.999:
        return []
    levels = {round(10 * math.log(size)) for size in growth.x}
    found: list[Finding] = []
    if len(levels) < 2:
        text = f"{what} was measured at one fraction only, so how it grows is not known"
        found.append((Status.WIDE if known else Status.NOT_DECIDED, text))
    beyond = 1 / growth.top
    if beyond > _FARTHEST:
        found.append((Status.NOT_DECIDED, f"the full job is {beyond:.0f} times the largest canary"))
    return found


def short_findings(growth: Growth | None, y: FloatArray | None, startup: FloatArray | None, what: str) -> list[Finding]:
    """Return a refusal where the largest canary hardly worked: then warming up is what was measured, and not how the work grows.

    Args:
        growth: of the phase that grows; None where there is none.
        y: (n,) its measurements in seconds, in the order of the growth's sizes; None where they are not known.
        startup: (n,) seconds of start-up beside it; None where they are not known.
        what: its name, for the words.
    """
    if growth is None or y is None or len(y) != len(growth.x) or growth.top >= 0.999:
        return []
    bottom, longest = _ends(growth, y)
    beside = None if startup is None else statistics.median(startup.tolist())
    if longest < _SHORTEST_S and (beside is None or longest < _SHORTEST_SHARE * beside):
        text = f"{what} takes {longest:.2g} s at the largest canary, too short to tell how it grows"
        return [(Status.NOT_DECIDED, text)]
    if growth.top >= 3 * float(growth.x.min()) and longest < _HARDLY_GROWS * bottom:
        return [_hardly_grows(what)]
    constant = growth.constant_share()
    if constant > _MOSTLY_CONSTANT and growth.exponent()[1] > _LOOSE_EXPONENT:
        text = f"{constant:.0%} of {what} at the largest canary does not grow, so how the rest grows is hardly seen"
        return [(Status.NOT_DECIDED, text)]
    return []


def _ends(growth: Growth, y: FloatArray) -> tuple[float, float]:
    """Return the medians of measurements (n,) at the smallest and at the largest size."""
    # Plain Python: for a handful of numbers it takes a tenth of what numpy does.
    runs, lowest = list(zip(growth.x.tolist(), y.tolist(), strict=True)), float(growth.x.min())
    bottom = statistics.median(value for size, value in runs if size <= lowest * 1.1)
    return bottom, statistics.median(value for size, value in runs if size >= growth.top * 0.9)


def _hardly_grows(what: str) -> Finding:
    return Status.NOT_DECIDED, f"{what} hardly grows up to the largest canary, so how it goes on from there is not seen"


def falling(x: FloatArray, y: FloatArray, what: str) -> list[Finding]:
    """Return a refusal where a quantity falls as the data grows, by more than the noise of repeats (10 % where there are none).

    Args:
        x: (n,) sizes.
        y: (n,) measurements above 0.
        what: the quantity's name.
    """
    runs = sorted(zip(x.tolist(), y.tolist(), strict=True))
    if runs[-1][0] <= 1.2 * runs[0][0]:
        return []
    # Means of the logs of the smallest third and the largest quarter, compared by the pooled noise of repeats.
    squares, freedom = within_levels(x, y)
    noise_sd = math.sqrt(squares / freedom) if freedom >= 2 else 0.1
    low, high = _quantile(runs, 0.34), _quantile(runs, 0.75)
    small, large = [math.log(value) for size, value in runs if size <= low], [math.log(value) for size, value in runs if size >= high]
    drop = math.fsum(small) / len(small) - math.fsum(large) / len(large)
    error = max(noise_sd, 0.02) * math.sqrt(1 / len(small) + 1 / len(large))
    # Beyond 2.5 standard errors, about 1 in 160 by chance alone, and large enough to matter.
    if drop > 2.5 * error and drop > 0.05:
        return [(Status.NOT_DECIDED, f"{what} falls as the data grows, which no law here explains")]
    return []


def _quantile(runs: Sequence[tuple[float, float]], share: float) -> float:
    """Return a quantile of the sizes of runs in ascending order, interpolated."""
    at = share * (len(runs) - 1)
    below = runs[int(at)][0]
    return below + (runs[min(int(at) + 1, len(runs) - 1)][0] - below) * (at - int(at))


def misfit(growth: Growth, y: FloatArray, what: str) -> list[Finding]:
    """Return a finding where the best law leaves far more than the noise of repeats.

    Args:
        growth: fitted to the measurements.
        y: (n,) measurements above 0, in the order of the growth's sizes.
        what: the quantity's name.
    """
    # Scatter around the best law against that of repeats: two repeats and three sizes at least, else neither is known.
    squares, freedom = within_levels(growth.x, y)
    if freedom < 2 or len(growth.x) - freedom < 3:
        return []
    repeat_sd = max(math.sqrt(squares / freedom), 0.02)
    if growth.noise_sd() > _MISFIT * repeat_sd and growth.noise_sd() > 0.15:
        text = f"no law fits {what}: it scatters by {growth.noise_sd():.0%} around the best one, and repeats by {repeat_sd:.0%}"
        return [(Status.NOT_DECIDED, text)]
    return []


def time_findings(laws: Laws | None, values: FloatArray | None, main: FloatArray | None, known: bool, what: str) -> list[Finding]:
    """Return what speaks against a forecast of time.

    Args:
        laws: of the time; None where it was not measured.
        values: (n,) measured totals, in the order of the growth's sizes; None where there are none.
        main: (n,) measurements of the part that grows; None likewise.
        known: whether the growth is known beforehand.
        what: e.g. `total_s`.
    """
    if laws is None:
        return []
    growth = laws.growth
    found = level_findings(growth, what, known)
    found += [] if laws.timed else hidden_by_startup(growth, what)
    if growth is not None and values is not None and len(values) == len(growth.x):
        found += falling(growth.x, values, what)
    if growth is not None and main is not None and len(main) == len(growth.x) and float(main.min()) > 0:
        found += misfit(growth, main, what)
    return found


def hidden_by_startup(growth: Growth | None, what: str) -> list[Finding]:
    """Return a refusal where most of what totals say, at the largest canary, does not grow: start-up, which nobody timed."""
    if growth is None or growth.top >= 0.999 or growth.constant_share() <= _MOSTLY_CONSTANT:
        return []
    share = growth.constant_share()
    return [
        (Status.NOT_DECIDED, f"{share:.0%} of {what} at the largest canary does not grow with the data: start-up hides how the rest grows")
    ]


def findings(item: Fitted, metric: str) -> list[Finding]:
    """Return what speaks against the forecast of one metric of a configuration."""
    import numpy as np

    if metric == "quiet_s":
        # Of the same runs, without what other programs had of them.
        return findings(dataclasses.replace(item, used=tuple(alone(one) for one in item.used), time=item.quiet), "total_s")
    if metric in TIMES:
        laws = item.cpu if metric == "cpu_s" else item.time
        measured = [getattr(canary, metric) for canary in item.used if getattr(canary, metric) is not None]
        values = np.maximum(np.array(measured, dtype=float), 1e-9) if measured else None
        known = laws is not None and laws.steady
        main = {True: "train_cpu_s" if metric == "cpu_s" else "train_s", False: "cpu_s" if metric == "cpu_s" else "total_s"}
        growing = None if laws is None else column_of(item.used, main[laws.timed])
        found = time_findings(laws, values, growing, known, metric)
        if laws is None:
            return found
        hidden = hides_growth(item, laws, metric) + hides_steps(item, laws, metric)
        return found + hidden + unsteady_rounds(item.used) + less_than_the_data(item, laws, metric)
    if metric == "gpu_bytes":
        return level_findings(item.gpu, metric, known=True)
    found = level_findings(item.rss, metric, known=False)
    return found if item.rss is None else found + falling(item.rss.x, item.rss.peaks, metric)


def hides_growth(item: Fitted, laws: Laws, metric: str) -> list[Finding]:
    """Return what says that the canaries were too short to show how an unknown algorithm grows.

    Args:
        item: a fitted configuration.
        laws: of the metric.
        metric: `cpu_s`, or one of wall time.
    """
    if not laws.timed or laws.steady:
        return []
    return short_findings(laws.growth, _fit_phase(item, metric), column_of(item.used, "startup_s"), "the fit phase")


def _fit_phase(item: Fitted, metric: str) -> FloatArray | None:
    return column_of(item.used, "train_cpu_s" if metric == "cpu_s" else "train_s")


def hides_steps(item: Fitted, laws: Laws, metric: str) -> list[Finding]:
    """Return a refusal where steps go with the data and the phase that they are in hardly grows: they are hidden by what it begins with.

    Args:
        item: a fitted configuration.
        laws: of the metric.
        metric: `cpu_s`, or one of wall time.
    """
    y, growth = _fit_phase(item, metric), laws.growth
    if not laws.timed or not laws.steady or growth is None or y is None or len(y) != len(growth.x) or growth.top >= 0.999:
        return []
    bottom, longest = _ends(growth, y)
    # Of linear work that takes as long as what does not grow, at the largest size, so much is left at the smallest.
    half = 2 / (1 + float(growth.x.min()) / growth.top)
    return [_hardly_grows("the fit phase")] if longest < min(_HARDLY_GROWS, half) * bottom else []


def unsteady_rounds(used: Sequence[Canary]) -> list[Finding]:
    """Return a refusal where the number of steps is neither the same at all levels nor goes with the data: it ends by convergence.

    Args:
        used: completed runs; those that count no steps say nothing.
    """
    counted = sorted((canary.fraction, float(canary.steps)) for canary in used if canary.steps)
    if len(counted) < 2:
        return []
    levels: dict[float, list[float]] = {}
    for fraction, steps in counted:
        levels.setdefault(fraction, []).append(steps)
    apart = max(max(steps) / min(steps) for steps in levels.values())
    if apart > 1 + _UNSTEADY:
        return [(Status.NOT_DECIDED, f"repeats differ by {apart - 1:.0%} in their number of steps: it ends when it has converged")]
    means = [(fraction, math.fsum(steps) / len(steps)) for fraction, steps in levels.items()]
    for (small, before), (large, after) in pairwise(means):
        same, proportional = after / before, after / before / (large / small)
        # A last batch that is not full, and batches of a small level, make it a little more or less.
        if max(same, 1 / same) > 1 + _UNSTEADY and max(proportional, 1 / proportional) > 1 + _UNSTEADY + 2 / min(before, after):
            text = f"{before:.0f} steps at {small:g} and {after:.0f} at {large:g} of the data: how many the full job needs is not known"
            return [(Status.NOT_DECIDED, text)]
    return []


def less_than_the_data(item: Fitted, laws: Laws, metric: str) -> list[Finding]:
    """Return a refusal where work grows by clearly less than the data: rounds stop early, and where they stop next is not seen.

    Args:
        item: a fitted configuration.
        laws: of the metric.
        metric: for the words.
    """
    growth = laws.growth
    if growth is None or growth.top >= 0.999 or len({round(10 * math.log(size)) for size in growth.x}) < 2:
        return []
    mean, sd = growth.exponent()
    if item.used[0].family == "constant" or mean + sd / 2 > _LESS or growth.constant_share() > _MOSTLY_CONSTANT:
        return []
    text = f"{metric} grows by less than the data (n^{mean:.2f}): its rounds get fewer or stop early, and where they stop next is not seen"
    return [(Status.NOT_DECIDED, text)]


def gravest(findings: Sequence[Finding], start: Status) -> Status:
    """Return the gravest of the findings' statuses and one to start with."""
    for status, _ in findings:
        start = graver(start, status)
    return start
