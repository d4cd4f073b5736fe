"""usage.csv: one row a job, with what it waited for, its stages, its phases, and what it used."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarking.analysis.measurements import NAMES, measurements
from benchmarking.controller.journal import Journal, Record
from benchmarking.controller.state import ExperimentState
from benchmarking.export.files import utc, write_csv

_STAGES = ("Starting", "Downloading", "Training", "Uploading")
"""What SageMaker's jobs pass; others follow as they appear."""

_MEASURED = tuple(name for name in NAMES if name not in ("total_s", "billable_s", "cost_usd"))
_COUNTED = ("rows", "bytes")


@dataclass
class _Job:
    """What the journal says of one job so far."""

    trial: int
    attempt: int
    submitted_at: float
    started_at: float | None = None
    counted: dict[str, Any] = field(default_factory=dict)
    closed: Mapping[str, Any] = field(default_factory=dict)
    rejected: str = ""
    cost_usd: float | None = None

    def stages(self) -> Mapping[str, Any]:
        found = self.closed.get("usage", {}).get("stages_s")
        return found if isinstance(found, Mapping) else {}


def usage_table(state: ExperimentState, records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return a row for each job, in the order of their submission, by the names of the columns.

    Args:
        state: of the experiment.
        records: of its journal.
    """
    # What who runs it has written since the state was read is left for the next time.
    jobs = _jobs(itertools.takewhile(lambda record: record.sequence <= state.sequence, records))
    more = dict.fromkeys(stage for job in jobs.values() for stage in job.stages() if stage not in _STAGES)
    stages = {stage: f"stage_{stage.lower()}_s" for stage in (*_STAGES, *more)}
    return [_row(name, job, state, stages) for name, job in jobs.items()]


def usage_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns of usage.csv; those of an experiment without a job too."""
    return list(rows[0]) if rows else list(_row("", _Job(0, 1, 0.0), None, {stage: f"stage_{stage.lower()}_s" for stage in _STAGES}))


def write_usage(path: Path, state: ExperimentState, journal: Journal) -> None:
    """Write usage.csv; raises `UserError` where it cannot be written."""
    rows = usage_table(state, journal.records())
    write_csv(path, usage_columns(rows), [list(row.values()) for row in rows])


def _jobs(records: Iterable[Record]) -> dict[str, _Job]:
    jobs: dict[str, _Job] = {}
    for record in records:
        body = record.body
        if record.kind == "start":
            jobs[body["job"]] = _Job(body["trial"], body["attempt"], record.at)
            continue
        job = jobs.get(body.get("job", ""))
        if job is None:
            continue
        match record.kind:
            case "started" if job.started_at is None:
                job.started_at = record.at
            case "reported":
                job.counted |= {name: body["metrics"][name] for name in _COUNTED if name in body["metrics"]}
            case "closed":
                job.closed = body
            case "rejected":
                job.rejected = body["cause"]
            case "settle":
                job.cost_usd = body["cost_usd"]
    return jobs


def _row(name: str, job: _Job, state: ExperimentState | None, stages: Mapping[str, str]) -> dict[str, Any]:
    closed, usage = job.closed, job.closed.get("usage", {})
    trial = None if state is None else state.trials[job.trial]
    asked = None if trial is None or state is None else trial.configuration.get("instance_type") or state.setup.default_instance_type
    # That a job runs is often seen later than it was so.
    started_at = closed.get("started_at") if closed.get("started_at") is not None else job.started_at
    ended_at = closed.get("ended_at")
    duration_s = ended_at - started_at if ended_at is not None and closed.get("started_at") is not None else None
    billable_s = closed.get("billable_s")
    measured = measurements(usage, job.counted, duration_s or 0.0, billable_s or 0.0, job.cost_usd)
    seconds = job.stages()
    return {
        "trial": job.trial,
        "repeat": None if trial is None else trial.repeat,
        "job": name,
        "attempt": job.attempt,
        "instance_type": closed.get("instance_type") or asked,
        "outcome": closed.get("outcome") or ("rejected" if job.rejected else "open"),
        "cause": closed.get("cause") or job.rejected or None,
        "submitted_at": utc(job.submitted_at),
        "started_at": utc(started_at),
        "ended_at": utc(ended_at),
        "queued_s": None if started_at is None else max(0.0, started_at - job.submitted_at),
        "duration_s": duration_s,
        "billable_s": billable_s,
        "cost_usd": job.cost_usd,
        "warm": None if "warm" not in usage else str(bool(usage["warm"])).lower(),
        **{column: seconds.get(stage) for stage, column in stages.items()},
        **{column: measured.get(column) for column in _MEASURED},
    }
