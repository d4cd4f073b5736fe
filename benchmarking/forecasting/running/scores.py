"""What the forecasts of running jobs were worth: each finished job scores those that were made of it on its way. Pure.

A forecast is a function of the progress that the journal holds, so what was forecast when is made again of it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backends.events import Closed, Progressed
from backends.failures import Outcome
from benchmarking.controller.event_codec import record_event
from benchmarking.controller.journal import Record
from benchmarking.controller.progress_curve import ProgressCurve, with_progress
from benchmarking.controller.retry_policy import as_number
from benchmarking.forecasting.running.known import with_levels
from benchmarking.forecasting.running.projection import Projection, project

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


class _Job:
    """What one job has said so far, and what was forecast of it."""

    def __init__(self) -> None:
        self.curve: ProgressCurve | None = None
        self.levels: list[tuple[float, float]] = []
        self.life = 0
        self.made: dict[float, Projection | None] = {}

    def progressed(self, event: Progressed) -> None:
        before = self.curve
        self.curve = with_progress(before, event)
        if self.curve is not before:
            self.made = {}

    def reported(self, body: Mapping[str, Any], level_name: str) -> bool:
        """Take in a report; return whether it told a level."""
        level = as_number(body["metrics"].get(level_name))
        if level is None:
            return False
        if body.get("incarnation", 0) != self.life:
            self.life, self.levels = body["incarnation"], []
        self.levels.append((body["elapsed_s"], level))
        return True

    def look(self, full_level: float | None, at: float, shares: Sequence[float]) -> None:
        """Forecast it where it has come to a share of its work, as a reader would have seen it then."""
        curve = with_levels(self.curve, self.levels, full_level, at)
        if curve is None or curve.total is None:
            return
        done = curve.points[-1].done / curve.total
        for share in shares:
            if share <= done < 1.0 and share not in self.made:
                forecast = project(curve)
                self.made[share] = forecast if isinstance(forecast, Projection) else None


def scored(
    records: Iterable[Record], shares: Sequence[float] = SHARES, level_name: str | None = None, full_level: float | None = None
) -> list[Scored]:
    """Return the forecasts of all completed jobs of a journal, of those that tell how much they have to do.

    Args:
        records: of the journal, in their order.
        shares: of the work at which is looked.
        level_name: metric that holds the level of a progressive fidelity; None where there is none.
        full_level: the last one; None likewise.
    """
    jobs: dict[str, _Job] = {}
    found: list[Scored] = []
    for record in records:
        if record.kind == "reported":
            job = jobs.setdefault(record.body["job"], _Job())
            if level_name is not None and job.reported(record.body, level_name):
                job.look(full_level, record.at, shares)
        if record.kind not in ("progressed", "closed"):
            continue
        event = record_event(record)
        if isinstance(event, Progressed):
            job = jobs.setdefault(event.job, _Job())
            job.progressed(event)
            job.look(full_level, record.at, shares)
        elif isinstance(event, Closed):
            made = jobs.pop(event.job, _Job()).made
            if event.outcome is Outcome.COMPLETED and event.started_at is not None and event.ended_at is not None:
                took_s = event.ended_at - event.started_at
                found += [Scored(event.job, share, forecast, took_s) for share, forecast in sorted(made.items())]
    return found


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
