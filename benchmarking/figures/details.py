"""What a figure of single experiments needs beside the comparison: jobs, their stages and money, reports by level, instances kept warm.

It is folded in the same pass over the journal that `comparison.runs` makes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarking.archive.stored import StoredExperiment, state_setup
from benchmarking.comparison.from_csv import run_from_csv
from benchmarking.comparison.reading import read_run
from benchmarking.comparison.runs import ComparedRun
from benchmarking.controller.journal import Record
from benchmarking.controller.method import Decision
from benchmarking.controller.retry_policy import as_number
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.figures.load_reports import LoadPoint, load_point
from definitions.schema import BenchmarkDefinition


@dataclass
class JobDetail:
    """One job; times are seconds since the experiment's first record.

    Args:
        job, trial, attempt: what it is.
        submitted_s: when it was handed to the back-end; `started_s`: when its script ran, `ended_s`: when its slot was free; None before.
        status, cause: what it came to, as its settlement says; empty and None while it is open.
        cost_usd: of it; None where the price is unknown or it is open.
        stages_s: seconds of each stage, in the service's words; `phases_s`: of each phase of the script.
        is_warm: whether it got kept instances.
        instance_type: on which it ran.
    """

    job: str
    trial: int
    attempt: int
    submitted_s: float
    started_s: float | None = None
    ended_s: float | None = None
    status: str = ""
    cause: str | None = None
    message: str = ""
    cost_usd: float | None = None
    stages_s: Mapping[str, float] = field(default_factory=dict)
    phases_s: Mapping[str, float] = field(default_factory=dict)
    is_warm: bool = False
    instance_type: str = ""


@dataclass
class KeptDetail:
    """Instances that were kept after a job: from when to when (None while they are), what that cost, and which job got them."""

    job: str
    instance_type: str
    since_s: float
    until_s: float | None = None
    cost_usd: float | None = None
    reused_by: str = ""


class LevelReport(NamedTuple):
    """One report of a trial: its number, the level (None where it names none), and the values of objectives."""

    number: int
    level: float | None
    values: Mapping[str, float]


@dataclass(frozen=True)
class DetailedExperiment:
    """One experiment for figures.

    Args:
        run: as a comparison has it.
        definition: of its benchmark; `region`: whose prices count.
        state: all that its journal amounts to; None where it was not started.
        jobs, kept: in the order in which they began.
        reports: by trial, in order.
        loads: by trial, points of load on an endpoint with their kind, in order.
        decided_at: levels at which the method stopped or paused anything, ascending: the rungs that mattered.
        duration_s: from the first record to the last.
    """

    run: ComparedRun
    definition: BenchmarkDefinition
    region: str
    state: ExperimentState | None
    jobs: Sequence[JobDetail] = ()
    kept: Sequence[KeptDetail] = ()
    reports: Mapping[int, Sequence[LevelReport]] = field(default_factory=dict)
    decided_at: Sequence[float] = ()
    duration_s: float = 0.0
    loads: Mapping[int, Sequence[tuple[str, LoadPoint]]] = field(default_factory=dict)

    @property
    def trials(self) -> list[TrialState]:
        """Its trials, in order."""
        return [] if self.state is None else list(self.state.trials.values())


def read_detailed(stored: StoredExperiment, facts: Mapping[str, str] | None = None) -> DetailedExperiment:
    """Return an experiment for figures; another process may be running it.

    Args:
        stored: the experiment.
        facts: what else has to be alike in a comparison, see `read_run`.

    Raises:
        UserError: its journal cannot be read.
    """
    fold = DetailFold(stored.spec.definition, state_setup(stored.spec).reported_level)
    run = read_run(stored, facts, fold.observe)
    return DetailedExperiment(
        run,
        stored.spec.definition,
        stored.region,
        fold.state,
        list(fold.jobs.values()),
        fold.kept,
        fold.reports,
        sorted(fold.decided_at),
        fold.duration_s,
        fold.loads,
    )


def detailed_from_csv(stored: StoredExperiment, facts: Mapping[str, str]) -> DetailedExperiment | None:
    """Return an experiment of which only the CSV files can be read: a run without details; None where there are none."""
    run = run_from_csv(stored, facts)
    return None if run is None else DetailedExperiment(run, stored.spec.definition, stored.region, None)


class DetailFold:
    """Takes each record, after the state has.

    Args:
        definition: of the benchmark.
        level_name: metric that holds the level of a progressive fidelity; None where there is none.
    """

    def __init__(self, definition: BenchmarkDefinition, level_name: str | None) -> None:
        self._objectives = tuple(definition.objectives)
        self._level_name = level_name
        self._first_at: float | None = None
        self._open: dict[str, KeptDetail] = {}
        self.state: ExperimentState | None = None
        self.jobs: dict[str, JobDetail] = {}
        self.kept: list[KeptDetail] = []
        self.reports: dict[int, list[LevelReport]] = {}
        self.decided_at: set[float] = set()
        self.duration_s = 0.0
        self.loads: dict[int, list[tuple[str, LoadPoint]]] = {}

    def observe(self, record: Record, state: ExperimentState) -> None:
        """Take a record in."""
        self.state = state
        if self._first_at is None:
            self._first_at = record.at
        self.duration_s = max(self.duration_s, self._since(record.at))
        body = record.body
        job = self.jobs.get(body.get("job", ""))
        match record.kind:
            case "start":
                trial = state.trials[body["trial"]]
                asked = trial.configuration.get("instance_type") or state.setup.default_instance_type
                self.jobs[body["job"]] = JobDetail(
                    body["job"], body["trial"], body["attempt"], self._since(record.at), instance_type=str(asked)
                )
            case "retained":
                self._retained(record)
            case "tell":
                level = as_number(body.get("level"))
                if level is not None and body.get("decision") in (Decision.STOP, Decision.PAUSE):
                    self.decided_at.add(level)
            case "reported" if job is not None:
                self._reported(job, body["metrics"])
            case "started" if job is not None and job.started_s is None:
                job.started_s = self._since(record.at)
            case "ended" if job is not None:
                job.ended_s = self._since(record.at)
            case "closed" if job is not None:
                self._closed(job, record)
            case "rejected" if job is not None:
                job.ended_s = self._since(record.at)
            case "settle" if job is not None:
                job.status, job.cause, job.message = body["status"], body["cause"], body["message"]
                job.cost_usd = body["cost_usd"]

    def _since(self, at: float) -> float:
        return max(0.0, at - (self._first_at or 0.0))

    def _reported(self, job: JobDetail, metrics: Mapping[str, Any]) -> None:
        mine = self.reports.setdefault(job.trial, [])
        values = {name: value for name in self._objectives if (value := finite(metrics.get(name))) is not None}
        level = None if self._level_name is None else finite(metrics.get(self._level_name))
        mine.append(LevelReport(len(mine) + 1, level, values))
        point = load_point(metrics)
        if point is not None:
            self.loads.setdefault(job.trial, []).append(point)

    def _closed(self, job: JobDetail, record: Record) -> None:
        body = record.body
        usage = body.get("usage") or {}
        # That a job runs and that it ended is often seen later than it was so.
        if body.get("started_at") is not None:
            begun = self._since(body["started_at"])
            job.started_s = begun if job.started_s is None else job.started_s
        if body.get("ended_at") is not None:
            ended = self._since(body["ended_at"])
            job.ended_s = ended if job.ended_s is None else max(min(job.ended_s, ended), job.started_s or 0.0)
        job.ended_s = self._since(record.at) if job.ended_s is None else job.ended_s
        job.stages_s, job.phases_s = _seconds(usage.get("stages_s")), _seconds(usage.get("phases_s"))
        job.is_warm = bool(usage.get("warm"))
        job.instance_type = body.get("instance_type") or job.instance_type

    def _retained(self, record: Record) -> None:
        body = record.body
        if body["billable_s"] is None:
            if body["job"] not in self._open:
                found = KeptDetail(body["job"], body["instance_type"], self._since(record.at))
                self._open[body["job"]] = found
                self.kept.append(found)
        elif body["job"] in self._open:
            found = self._open.pop(body["job"])
            found.until_s, found.cost_usd, found.reused_by = self._since(record.at), body.get("cost_usd"), body.get("reused_by", "")


def _seconds(found: Any) -> dict[str, float]:
    if not isinstance(found, Mapping):
        return {}
    return {str(name): value for name, seconds in found.items() if (value := finite(seconds)) is not None and value >= 0}


def finite(value: Any) -> float | None:
    """Return a number that can be drawn; None for everything else, NaN and infinities too."""
    number = as_number(value)
    return number if number is not None and math.isfinite(number) else None
