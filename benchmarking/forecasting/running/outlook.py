"""All that is forecast of a running job: its loop, what comes after it, and what may stop it early. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from benchmarking.controller.finished_loops import FinishedLoop
from benchmarking.controller.known_progress import known_progress
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.controller.rows import JobState
from benchmarking.forecasting.running.projection import Openness, Projection, project, project_latest
from benchmarking.forecasting.running.tail import Tail, tail_of, with_tail


@dataclass(frozen=True)
class RunningForecast:
    """What is forecast of a running job.

    Args:
        curve: how far it is.
        end: when it ends, or why that is open; without what comes after its loop where that is not known.
        latest: when it ends at the latest, where it may stop early; else as `end`.
        tail: what comes after its loop; None where no job of its kind has finished.
    """

    curve: ProgressCurve
    end: Projection | Openness
    latest: Projection | Openness
    tail: Tail | None


def outlook_of(curve: ProgressCurve, tail: Tail | None) -> RunningForecast:
    """Return what is forecast of a job by how far it is, and by what comes after the loops of its kind."""
    end = _with(project(curve), tail)
    return RunningForecast(curve, end, _with(project_latest(curve), tail) if end is Openness.MAY_STOP else end, tail)


def _with(loop: Projection | Openness, tail: Tail | None) -> Projection | Openness:
    return loop if tail is None or isinstance(loop, Openness) else with_tail(loop, tail)


def outlook(job: JobState, level: float | None, full_level: float | None, loops: Iterable[FinishedLoop]) -> RunningForecast | None:
    """Return what is forecast of a running job; None where it does not tell how far it is.

    Args:
        job: that runs.
        level: of its trial's per-job fidelity; None for the full job.
        full_level: the last level of a progressive fidelity; None where there is none.
        loops: of the jobs of its experiment that have finished.
    """
    curve = known_progress(job, full_level)
    return None if curve is None else outlook_of(curve, tail_of(loops, level))
