"""What the forecasts of running jobs were worth: each finished job scores those that were made of it on its way. Pure.

A forecast is a function of the progress that the journal holds, so what was forecast when is made again of it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backends.events import Closed
from backends.failures import Outcome
from benchmarking.controller.event_codec import record_event
from benchmarking.controller.journal import Record
from benchmarking.controller.known_progress import known_progress
from benchmarking.controller.rows import JobState, StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.running.outlook import outlook_of
from benchmarking.forecasting.running.projection import Projection
from benchmarking.forecasting.running.tail import tail_of

SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.8)
"""Shares of the work at which a job's forecast is looked at."""


@dataclass(frozen=True)
class Scored:
    """One forecast of a job that has finished since.

    Args:
        job: its name; `share`: of its work that was done.
        forecast: what was forecast; None where its end was open.
        took_s: seconds that it took.
    """

    job: str
    share: float
    forecast: Projection | None
    took_s: float


@dataclass(frozen=True)
class ShareScore:
    """All forecasts at one share of the work.

    Args:
        jobs: how many finished; `decided`: of how many an end was forecast.
        median, p90: of the error, as a share of what the job took; None where nothing was decided.
        held80, held90: share of the intervals that held what the job took; None likewise.
    """

    share: float
    jobs: int
    decided: int
    median: float | None
    p90: float | None
    held80: float | None
    held90: float | None


def scored(records: Iterable[Record], setup: StateSetup, shares: Sequence[float] = SHARES) -> list[Scored]:
    """Return the forecasts of all completed jobs of a journal, of those that tell how much they have to do.

    Args:
        records: of the journal, in their order.
        setup: what their fold depends on besides.
        shares: of the work at which is looked.
    """
    state = ExperimentState(setup)
    made: dict[tuple[str, int], dict[float, Projection | None]] = {}
    found: list[Scored] = []
    for record in records:
        state.apply(record)
        if record.kind in ("progressed", "reported"):
            job = state.jobs.get(record.body["job"])
            if job is not None and (record.kind == "progressed" or setup.full_level is not None):
                _look(job, state, made.setdefault((job.name, job.incarnation), {}), shares)
        elif record.kind == "closed":
            event = record_event(record)
            if (
                isinstance(event, Closed)
                and event.outcome is Outcome.COMPLETED
                and event.started_at is not None
                and event.ended_at is not None
            ):
                took_s, name = event.ended_at - event.started_at, event.job
                last = max((life for job, life in made if job == name), default=0)
                found += [Scored(name, share, forecast, took_s) for share, forecast in sorted(made.get((name, last), {}).items())]
    return found


def _look(job: JobState, state: ExperimentState, made: dict[float, Projection | None], shares: Sequence[float]) -> None:
    """Forecast a job where it has come to a share of its work, as a reader would have seen it then."""
    curve = known_progress(job, state.setup.full_level)
    if curve is None or curve.total is None:
        return
    done = curve.points[-1].done / curve.total
    due = [share for share in shares if share <= done < 1.0 and share not in made]
    if due:
        end = outlook_of(curve, tail_of(state.loops, state.trials[job.trial].level)).end
        made.update(dict.fromkeys(due, end if isinstance(end, Projection) else None))


def score_rows(found: Sequence[Scored]) -> list[ShareScore]:
    """Return the scores by the share of the work that was done."""
    rows = []
    for share in sorted({one.share for one in found}):
        at = [one for one in found if one.share == share]
        decided = [(one.forecast, one.took_s) for one in at if one.forecast is not None]
        errors = sorted(abs(forecast.median_s / took_s - 1) for forecast, took_s in decided)
        rows.append(
            ShareScore(
                share,
                len(at),
                len(decided),
                statistics.median(errors) if errors else None,
                errors[min(len(errors) - 1, int(0.9 * len(errors)))] if errors else None,
                _held([(one.lo80_s, one.hi80_s, took_s) for one, took_s in decided]),
                _held([(one.lo90_s, one.hi90_s, took_s) for one, took_s in decided]),
            )
        )
    return rows


def _held(intervals: Sequence[tuple[float, float, float]]) -> float | None:
    return sum(low <= value <= high for low, high, value in intervals) / len(intervals) if intervals else None
