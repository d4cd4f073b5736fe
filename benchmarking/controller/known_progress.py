"""How far a running job is by all that it says: its own word, the steps that it counts, the epochs that it reports. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from benchmarking.controller.progress_curve import ProgressCurve, ProgressPoint
from benchmarking.controller.rows import JobState


def known_progress(job: JobState, full_level: float | None) -> ProgressCurve | None:
    """Return how far a job is, with what there is to do where anything tells it; None where it says nothing.

    Args:
        job: that runs.
        full_level: the last level of a progressive fidelity, e.g. how many epochs there are; None where there is none.
    """
    return with_levels(job.progress, job.levels, full_level, job.last_event_at or job.submitted_at)


def with_levels(
    curve: ProgressCurve | None, levels: Sequence[tuple[float, float]], full_level: float | None, at: float
) -> ProgressCurve | None:
    """Return a curve with the total that follows from the levels, or that of the levels themselves where there is no other.

    Who counts steps and reports epochs has done so many steps an epoch; all epochs take that often what one takes.

    Args:
        curve: of what the job counts; None where it counts nothing.
        levels: (seconds since its start, level), in the order of time.
        full_level: the last one of the full job; None where there is none.
        at: the back-end's time of the last level.
    """
    if curve is not None and (curve.total is not None or curve.at_most is not None):
        return curve
    if full_level is None or not levels:
        return curve
    if curve is None:
        points = [ProgressPoint(seconds, level, 0.0) for seconds, level in levels]
        went_back = any(later.done < earlier.done for earlier, later in pairwise(points))
        return ProgressCurve(points, full_level, 1, went_back, 0, at, {})
    seconds, level = levels[-1]
    if level <= 0:
        return curve
    if level >= full_level:
        return replace(curve, total=max(curve.points[-1].done, 1.0))
    # A count that the level's report came before belongs to the next level.
    return replace(curve, total=max(_done_at(curve.points, seconds) / level * full_level, curve.points[-1].done + 1.0))


def _done_at(points: Sequence[ProgressPoint], elapsed_s: float) -> float:
    """Return what was done at a moment, between two points by time."""
    before = points[0]
    for point in points:
        if point.elapsed_s >= elapsed_s:
            whole_s = point.elapsed_s - before.elapsed_s
            return point.done if whole_s <= 0 else before.done + (point.done - before.done) * (elapsed_s - before.elapsed_s) / whole_s
        before = point
    return before.done
