"""When a running job will end, from its progress so far. Pure.

A unit of work is what the script counts: a step, a tree, a row. The time u of one, over stretches j of about equal time, is a line on the
log scale in the share x of the work that is behind the job::

    log u_j = a + b (x_j - mean x) + e_j,    b ~ N(0, usual^2),    e_j ~ N(0, s^2)

with s^2 from the residuals of the fitted line and what is usual (a scaled inverse chi-squared prior), at least `form`^2. What is left takes
(1 - x) total u(x*) at its middle x* = (1 + x) / 2, of which the logarithm is Student's t with J degrees of freedom (two are the
prior's) and the variance s^2 / J + (x* - mean x)^2 var(b) + form^2 (Bayesian linear regression with a known prior of the slope: Bishop,
Pattern Recognition and Machine Learning, 2006, 3.3). The prior says that jobs which look steady so far may still get dearer or cheaper;
it is what makes an early forecast wide. The first stretch, in which things are compiled and caches fill, and the first third of the loop's
time say nothing.
"""

from __future__ import annotations

import enum
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarking.controller.progress_curve import ProgressCurve, ProgressPoint

FORM = 0.02
"""Error of form that stays however much is measured, on the log scale."""

USUAL_CHANGE = 0.15
"""By how much the time of a unit of work changes from the beginning to the end of a usual job, on the log scale."""

USUAL_NOISE, _USUAL_FREEDOM = 0.04, 2
"""By how much stretches of a usual job differ by chance, on the log scale, and the degrees of freedom that this is worth."""

STRETCHES = 12
_LEAST_STRETCHES = 2
_LEAST_S = 1.0
_LEAST_UNITS = 3.0
_STEADY = 2 / 3
"""Share of the time of the loop, at its end, that is taken for steady."""

_T80 = {
    1: 3.078,
    2: 1.886,
    3: 1.638,
    4: 1.533,
    5: 1.476,
    6: 1.440,
    7: 1.415,
    8: 1.397,
    9: 1.383,
    10: 1.372,
    11: 1.363,
    12: 1.356,
    13: 1.350,
}
_T90 = {
    1: 6.314,
    2: 2.920,
    3: 2.353,
    4: 2.132,
    5: 2.015,
    6: 1.943,
    7: 1.895,
    8: 1.860,
    9: 1.833,
    10: 1.812,
    11: 1.796,
    12: 1.782,
    13: 1.771,
}
"""Quantiles of Student's t by degrees of freedom, for central intervals of 80 and 90 %."""


class Openness(enum.StrEnum):
    """Why a job's end cannot be forecast yet."""

    TOO_EARLY = "too early"
    NO_TOTAL = "the script does not say how much there is to do"
    MAY_STOP = "it may stop early"
    TOTAL_CHANGES = "what there is to do changes while it runs"
    WENT_BACK = "it went back"
    PAST_TOTAL = "it is past what it said there was to do"


@dataclass(frozen=True)
class Projection:
    """What a running job will have taken when its loop is through.

    Args:
        done: share of the work that is behind it, in [0, 1].
        median_s: seconds since its start; `lo80_s`, `hi80_s`, `lo90_s`, `hi90_s`: central intervals.
        unit_s: seconds of a unit of work.
        cpu_s: processor seconds, by the same law; None where they are not known.
        rest_s: median seconds of the work that is left; `sd`: of its logarithm, which is Student's t with `freedom` degrees.
    """

    done: float
    median_s: float
    lo80_s: float
    hi80_s: float
    lo90_s: float
    hi90_s: float
    unit_s: float
    cpu_s: float | None
    rest_s: float = 0.0
    sd: float = 0.0
    freedom: int = 1

    @property
    def width(self) -> float:
        """Half of the 80 % interval as a share of the median."""
        return (self.hi80_s - self.lo80_s) / 2 / self.median_s


def project(curve: ProgressCurve) -> Projection | Openness:
    """Return what a job will have taken at the end of its loop, or why that is open.

    Args:
        curve: what it has said of its progress.
    """
    points, total = curve.points, curve.total
    # Step 1: is there a law at all?
    if total is None:
        return Openness.NO_TOTAL if curve.at_most is None else Openness.MAY_STOP
    if curve.totals > 1:
        return Openness.TOTAL_CHANGES
    if curve.went_back:
        return Openness.WENT_BACK
    last = points[-1]
    if last.done > total:
        return Openness.PAST_TOTAL
    if last.done == total:
        cpu_s = last.cpu_s or None
        return Projection(1.0, *(last.elapsed_s,) * 5, unit_s=0.0, cpu_s=cpu_s)
    steady = _steady(points, total)
    if steady is None:
        return Openness.TOO_EARLY
    # Step 2: the line of the time of a unit, and how far it is from what was measured.
    begin, stretches = steady[0], _stretches(steady, total)
    count, mean_x = len(stretches), statistics.fmean(x for x, _ in stretches)
    mean_y = statistics.fmean(y for _, y in stretches)
    sxx = math.fsum((x - mean_x) ** 2 for x, _ in stretches)
    sxy = math.fsum((x - mean_x) * (y - mean_y) for x, y in stretches)
    residuals = math.fsum((y - mean_y - sxy / sxx * (x - mean_x)) ** 2 for x, y in stretches)
    # Few stretches that are equal by chance, or all to the last digit, are no proof that the next ones will be.
    freedom = count - 2 + _USUAL_FREEDOM
    noise = max((residuals + _USUAL_FREEDOM * USUAL_NOISE**2) / freedom, FORM**2)
    # Step 3: its slope, between what was measured and none.
    precision = sxx / noise + 1 / USUAL_CHANGE**2
    slope = sxy / noise / precision
    # Step 4: the rest of the work, at its middle.
    share = last.done / total
    ahead = (1 + share) / 2 - mean_x
    unit_s = math.exp(mean_y + slope * ahead)
    sd = math.sqrt(noise / count + ahead**2 / precision + FORM**2)
    rest_s = (total - last.done) * unit_s
    low80, high80, low90, high90 = (
        last.elapsed_s + rest_s * math.exp(sign * table[freedom] * sd) for table in (_T80, _T90) for sign in (-1, 1)
    )
    # Processor time goes with the time of the steady part.
    busy = (last.cpu_s - begin.cpu_s) / (last.elapsed_s - begin.elapsed_s)
    cpu_s = last.cpu_s + rest_s * busy if last.cpu_s else None
    return Projection(share, last.elapsed_s + rest_s, low80, high80, low90, high90, unit_s, cpu_s, rest_s, sd, freedom)


def project_latest(curve: ProgressCurve) -> Projection | Openness:
    """Return what a job will have taken that does all that it may do, where it may stop early; else as `project`."""
    if curve.total is None and curve.at_most is not None:
        return project(replace(curve, total=curve.at_most, at_most=None))
    return project(curve)


def _steady(points: Sequence[ProgressPoint], total: float) -> Sequence[ProgressPoint] | None:
    """Return the steady part of the loop; None where it is too short to say anything."""
    # In the first stretch the first step is, which may take as long as a thousand others.
    points = points[1:]
    if len(points) <= _LEAST_STRETCHES:
        return None
    last = points[-1]
    from_s = last.elapsed_s - _STEADY * (last.elapsed_s - points[0].elapsed_s)
    begins = max((number for number, point in enumerate(points) if point.elapsed_s <= from_s), default=0)
    found = points[begins:]
    is_long = last.elapsed_s - found[0].elapsed_s >= _LEAST_S * _STEADY and last.done - found[0].done >= _LEAST_UNITS
    return found if is_long and len(_stretches(found, total)) >= _LEAST_STRETCHES else None


def _stretches(points: Sequence[ProgressPoint], total: float) -> list[tuple[float, float]]:
    """Return stretches of about equal time in which some work was done: (share of the work at its middle, log of a unit's seconds)."""
    whole_s = (points[-1].elapsed_s - points[0].elapsed_s) / STRETCHES
    found: list[tuple[float, float]] = []
    begin = points[0]
    for point in points[1:]:
        if point.elapsed_s - begin.elapsed_s >= whole_s * (1 - 1e-9) and point.done > begin.done:
            seconds_a_unit = (point.elapsed_s - begin.elapsed_s) / (point.done - begin.done)
            found.append(((point.done + begin.done) / 2 / total, math.log(seconds_a_unit)))
            begin = point
    return found
