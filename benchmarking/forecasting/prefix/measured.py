"""What a run told of itself by its progress: the beginning, the loop so far, and what is left of it. Pure.

Of a prefix of the full job this is the measurement; of a small job that ran to its end it says what comes after the loop, and whether
steps get dearer or cheaper on the way.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarking.controller.progress_curve import ProgressCurve, ProgressPoint
from benchmarking.forecasting.running.projection import Openness, project

_EARLY = 1 / 3
"""Share of the work that counts as its beginning where its course is looked at."""

_WRONG_BY, _WRONG_SHARE = 2.0, 0.02
"""By how much a total may be wrong, as a number or as a share of it."""

_SHORT_SD = 0.05
"""Standard deviation, on the log scale, of what is told of a loop that had less than a second by a clock."""

_STRETCHES = 6
"""Stretches of about equal time that a loop has at least where its course is looked at."""


@dataclass(frozen=True)
class Rest:
    """What is left of a loop: its median in seconds, and the standard deviation of its logarithm, Student's t with `freedom`."""

    seconds: float
    sd: float
    freedom: int


@dataclass(frozen=True)
class ProgressSummary:
    """What a run's progress told.

    Args:
        done: steps, rows, or whatever it counts, that were behind it at its last word; `total`: of how many, None where it did not know.
        begin_s, begin_cpu_s: seconds until its first word, processor seconds likewise: start-up, loading, and the first step.
        end_s, end_cpu_s: the same until its last word.
        wall, cpu: what was left of the loop then, by either clock; why that is open where it is.
        bend: log of a unit's seconds over the whole loop against its first third, and its standard deviation; None where that is not known.
        peak_bytes: most memory of its process until its last word; 0 where that is not known.
        peak_left_bytes: by how much that will still grow to the end of the loop, if it goes on as in the slower half of the loop so far.
        phases: (name, seconds) until its last word.
        at_most: how many there are at most, where it may stop early, and `wall` and `cpu` are of all these; else None.
        found: how many there were, where that was open until the job's own end; else None.
        quiet: what was left of the loop on a machine without other programs; too early where the system does not tell of them.
        delayed_s: seconds until its last word that other programs had the processor; 0 where that is not known.
    """

    done: float
    total: float | None
    begin_s: float
    begin_cpu_s: float
    end_s: float
    end_cpu_s: float
    wall: Rest | Openness
    cpu: Rest | Openness
    bend: tuple[float, float] | None
    peak_bytes: float
    peak_left_bytes: float
    phases: tuple[tuple[str, float], ...]
    at_most: float | None = None
    found: float | None = None
    quiet: Rest | Openness = Openness.TOO_EARLY
    delayed_s: float = 0.0

    @property
    def share(self) -> float | None:
        """Share of the work that was done; None where the total is not known."""
        return None if not self.total else min(self.done / self.total, 1.0)

    @property
    def is_through(self) -> bool:
        """Whether the loop was through."""
        return self.total is not None and self.done >= self.total

    @property
    def ended_through(self) -> bool:
        """Whether the loop of a job that ran to its end was through: totals are wrong by one or two, or by a last partial batch."""
        return self.total is not None and self.done >= self.total - max(_WRONG_BY, _WRONG_SHARE * self.total)


def measured(curve: ProgressCurve) -> ProgressSummary:
    """Return what a run's progress told.

    Args:
        curve: all that it said.
    """
    first, last, total = curve.points[0], curve.points[-1], curve.total
    at_most = curve.at_most if total is None else None
    whole = curve if at_most is None else dataclasses.replace(curve, total=at_most, at_most=None)
    return ProgressSummary(
        done=last.done,
        total=total,
        begin_s=first.elapsed_s,
        begin_cpu_s=first.cpu_s,
        end_s=last.elapsed_s,
        end_cpu_s=last.cpu_s,
        wall=_rest(whole),
        cpu=_processor_rest(whole),
        bend=None if total is None or last.done < total else _bend(_by_processor(curve).points if last.cpu_s else curve.points),
        peak_bytes=last.peak_bytes,
        peak_left_bytes=_peak_left(whole),
        phases=tuple(sorted(curve.phases_s.items())),
        at_most=at_most,
        found=last.done if curve.is_found else None,
        quiet=_quiet_rest(whole),
        delayed_s=last.delayed_s,
    )


def _rest(curve: ProgressCurve) -> Rest | Openness:
    found = project(curve)
    if isinstance(found, Openness):
        return found
    # A script that went on from a checkpoint did the work before it in another life; the full job has to do it.
    earlier = curve.points[0].done if curve.incarnation else 0.0
    return Rest(found.rest_s + earlier * found.unit_s, found.sd, found.freedom)


def _processor_rest(curve: ProgressCurve) -> Rest | Openness:
    """Return what is left by the clock of the processor."""
    if not curve.points[-1].cpu_s:
        return Openness.TOO_EARLY
    return _rest_by(_by_processor(curve), curve)


def _rest_by(other: ProgressCurve, curve: ProgressCurve) -> Rest | Openness:
    """Return what is left by another clock than the wall's: by its own law, or where too little of it has passed for one, by its mean.

    Args:
        other: the course by that clock.
        curve: the course by the wall's clock, which says how sure that is.
    """
    found, wall = _rest(other), _rest(curve)
    points = other.points[1:]
    if isinstance(found, Rest) or isinstance(wall, Openness) or len(points) < 2 or points[-1].done <= points[0].done:
        return found
    # Not the wall's rest at the mean load: the load of its steady part, which that is of, may have been another one.
    last = points[-1]
    unit_s = (last.elapsed_s - points[0].elapsed_s) / (last.done - points[0].done)
    earlier = curve.points[0].done if curve.incarnation else 0.0
    return Rest(((curve.total or last.done) - last.done + earlier) * unit_s, math.hypot(wall.sd, _SHORT_SD), wall.freedom)


def _quiet_rest(curve: ProgressCurve) -> Rest | Openness:
    """Return what is left without the time that other programs have."""
    alone = without_delay(curve)
    return Openness.TOO_EARLY if alone is None else _rest_by(alone, curve)


def without_delay(curve: ProgressCurve) -> ProgressCurve | None:
    """Return the same course without the time that other programs had the processor; None where the system does not tell."""
    if not curve.points[-1].delayed_s:
        return None
    points = [curve.points[0]._replace(elapsed_s=curve.points[0].elapsed_s - curve.points[0].delayed_s)]
    for point in curve.points[1:]:
        elapsed_s = point.elapsed_s - point.delayed_s
        # The two are counted by different clocks: what passes by neither is no moment of its own.
        if elapsed_s > points[-1].elapsed_s:
            points.append(point._replace(elapsed_s=elapsed_s))
    return dataclasses.replace(curve, points=points)


def _by_processor(curve: ProgressCurve) -> ProgressCurve:
    """Return the same course by the clock of the processor."""
    points = [ProgressPoint(point.cpu_s, point.done, point.cpu_s, point.peak_bytes) for point in curve.points]
    return dataclasses.replace(curve, points=points)


def _bend(points: Sequence[ProgressPoint]) -> tuple[float, float] | None:
    """Return the log of the mean time of a unit against that of the first third of the work, and its standard deviation.

    The first stretch, in which the first step is, is no part of either. Noise is taken from neighbours: half of the mean square of the
    differences of the logs of one stretch and the next (von Neumann), which a slow change hardly adds to.
    """
    points = points[1:]
    if len(points) <= _STRETCHES:
        return None
    first, last = points[0], points[-1]
    whole_s, units = last.elapsed_s - first.elapsed_s, last.done - first.done
    early = [point for point in points[1:] if point.done <= first.done + _EARLY * units]
    if not early or whole_s <= 0 or early[-1].elapsed_s <= first.elapsed_s:
        return None
    each = [
        math.log((after.elapsed_s - before.elapsed_s) / (after.done - before.done))
        for before, after in itertools.pairwise(points)
        if after.elapsed_s > before.elapsed_s and after.done > before.done
    ]
    if len(each) < _STRETCHES:
        return None
    noise = math.sqrt(statistics.fmean((b - a) ** 2 for a, b in itertools.pairwise(each)) / 2)
    early_s = (early[-1].elapsed_s - first.elapsed_s) / (early[-1].done - first.done)
    return math.log(whole_s / units / early_s), noise * math.sqrt(1 / len(early) + 1 / len(each))


def _peak_left(curve: ProgressCurve) -> float:
    """Return by how much the peak of memory will have grown at the end of the loop, if it goes on as slowly as in the slower half so far.

    What is taken once, in one of the halves, does not go on; the first step, in which most is taken once, is part of neither.
    """
    points, last = curve.points[1:], curve.points[-1]
    if curve.total is None or last.done >= curve.total or len(points) < 3 or not points[0].peak_bytes:
        return 0.0
    half = points[0].done + (last.done - points[0].done) / 2
    middle = next((point for point in reversed(points[1:-1]) if point.done <= half), points[1])
    if not points[0].done < middle.done < last.done:
        return 0.0
    slower = min((b.peak_bytes - a.peak_bytes) / (b.done - a.done) for a, b in ((points[0], middle), (middle, last)))
    return slower * (curve.total - last.done)
