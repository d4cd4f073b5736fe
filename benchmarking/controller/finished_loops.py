"""What a finished job tells of those that run: how long its loop took, and what came after it."""

from __future__ import annotations

from dataclasses import dataclass

from backends.events import Closed
from backends.failures import Outcome
from benchmarking.controller.rows import JobState


@dataclass(frozen=True)
class FinishedLoop:
    """A completed job whose progress told when its loop was through.

    Args:
        level: of a per-job fidelity; None for the full job.
        loop_s: seconds from its start to the end of its loop; `tail_s`: from there to its own end (evaluation, checkpoint, saving).
    """

    level: float | None
    loop_s: float
    tail_s: float


def finished_loop(job: JobState, level: float | None, closed: Closed) -> FinishedLoop | None:
    """Return what a job tells that was closed; None where it was not completed in one life, or did not tell when its loop was through.

    Args:
        job: as it was before.
        level: of its trial.
        closed: how it ended.
    """
    if closed.outcome is not Outcome.COMPLETED or closed.started_at is None or closed.ended_at is None or job.incarnation > 0:
        return None
    curve = job.progress
    ends = [job.levels[-1][0]] if job.levels else []
    if curve is not None and curve.total is not None and curve.points[-1].done >= curve.total:
        ends.append(curve.points[-1].elapsed_s)
    if not ends:
        return None
    loop_s = max(ends)
    return FinishedLoop(level, loop_s, max(0.0, closed.ended_at - closed.started_at - loop_s))
