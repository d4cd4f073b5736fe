"""What is known of one trial that Syne Tune's loop started: its attempts, its results, what of them was handed over. No I/O.

Syne Tune counts a trial's results through all its jobs, but a job that resumes begins a log of its own; so results
are numbered here, by trial, and each is handed over once.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backends.events import Closed, Ended, Event, Rejected, Reported, Restarted, Started
from backends.failures import Cause, Outcome
from benchmarking.controller.budget import cost_usd
from benchmarking.controller.retry_policy import TrialStatus, as_number, objective_problem, settle
from definitions.schema import DERIVED_OBJECTIVES, BenchmarkDefinition, Progressive

ITERATION = "st_worker_iter"
TIMESTAMP = "st_worker_timestamp"
TIME = "st_worker_time"
COST = "st_worker_cost"
"""Syne Tune's names for the columns that come with each result; here so that its import can wait."""


class SyneTuneStatus(enum.StrEnum):
    """Where a trial stands for Syne Tune; the values are its own words."""

    IN_PROGRESS = "InProgress"
    COMPLETED = "Completed"
    FAILED = "Failed"
    STOPPED = "Stopped"
    STOPPING = "Stopping"
    PAUSED = "Paused"


@dataclass(frozen=True)
class ReportSchema:
    """How reports of a benchmark are read.

    Args:
        reported: objectives that the script reports; a result without one of them is not handed over.
        derived: objectives that Outrider measures; as long as a trial runs, results carry what they have come to so far.
        level_name: metric that holds the level of a progressive fidelity; None where there is none.
    """

    reported: tuple[str, ...]
    derived: tuple[str, ...] = ()
    level_name: str | None = None

    @classmethod
    def of(cls, definition: BenchmarkDefinition) -> ReportSchema:
        """Return how a definition's reports are read."""
        objectives = tuple(definition.objectives)
        fidelity = definition.fidelity
        return cls(
            reported=tuple(name for name in objectives if name not in DERIVED_OBJECTIVES),
            derived=tuple(name for name in objectives if name in DERIVED_OBJECTIVES),
            level_name=fidelity.reported_as if isinstance(fidelity, Progressive) else None,
        )


@dataclass
class TrialRecord:
    """One trial; mutable, as it is the state of an object that Syne Tune saves whole.

    Args:
        trial: its id.
        configuration: as Syne Tune suggested it.
        schema: how its reports are read.
    """

    trial: int
    configuration: dict[str, Any]
    schema: ReportSchema
    status: SyneTuneStatus = SyneTuneStatus.IN_PROGRESS
    why: str = ""
    jobs: list[str] = field(default_factory=list)
    is_open: bool = False
    holds_slot: bool = False
    asked: Cause | None = None
    resume_asked: bool = False
    has_copy: bool = False
    finished: bool = False
    retry_at: float | None = None
    usd_per_hour: float | None = None
    instances: int = 1
    results: list[dict[str, Any]] = field(default_factory=list)
    handed_over: int = 0
    late: list[dict[str, Any]] = field(default_factory=list)
    last: dict[str, Any] = field(default_factory=dict)
    last_level: float = -math.inf
    skip: int = 0
    repeated: int = 0
    withheld: int = 0
    causes: Counter[Cause] = field(default_factory=Counter)
    log_tail: tuple[str, ...] = ()
    billable_s: float = 0.0
    earlier_s: float = 0.0
    running_s: float = 0.0

    def submitted(self, job: str, usd_per_hour: float | None, instances: int, *, restored: bool) -> None:
        """Note that a job was handed to the back-end, afresh or from a checkpoint.

        Args:
            job: its name.
            usd_per_hour: price of an instance; None where it is unknown.
            instances: how many it has.
            restored: whether it starts from a checkpoint.
        """
        self.jobs.append(job)
        # A script that starts afresh says all again; where levels do not tell, as many results as there are have been heard.
        self.skip = 0 if restored else len(self.results)
        self.is_open = self.holds_slot = True
        self.finished = False
        self.asked, self.retry_at = None, None
        self.usd_per_hour, self.instances = usd_per_hour, instances
        self.status = SyneTuneStatus.IN_PROGRESS

    @property
    def submissions(self) -> int:
        """How many jobs were handed to the back-end for it."""
        return len(self.jobs)

    @property
    def job(self) -> str:
        """The latest job's name."""
        return self.jobs[-1]

    @property
    def cost_usd(self) -> float | None:
        """Dollars billed for its closed jobs; None where a price is unknown."""
        return cost_usd(self.billable_s, self.usd_per_hour, self.instances)

    def refused(self, why: str) -> None:
        """Note that the configuration cannot run."""
        self.status, self.why = SyneTuneStatus.FAILED, why

    def given_up(self) -> None:
        """Note that whoever started it is gone: it is stopped, and not run again."""
        self.asked, self.retry_at, self.status = Cause.INTERRUPTED, None, SyneTuneStatus.STOPPED

    def released(self) -> None:
        """Note that the back-end is closed, and with it whatever of the trial still ran."""
        self.is_open = self.holds_slot = False
        if self.status in (SyneTuneStatus.STOPPING, SyneTuneStatus.IN_PROGRESS):
            self.given_up()

    def asked_to_end(self, cause: Cause, result: Mapping[str, Any] | None) -> None:
        """Note that the scheduler wants the trial stopped or paused on a result; None where it was on none.

        Results after that one were handed over with it, but the loop drops them; a paused trial may still need them.
        """
        seen = self.handed_over
        if result is not None and isinstance(result.get(ITERATION), int):
            seen = min(seen, result[ITERATION] + 1)
        dropped, self.results = self.results[seen:], self.results[:seen]
        self.handed_over = len(self.results)
        if cause is Cause.PAUSED:
            self.late = dropped + self.late
        self.asked = cause
        self.status = (
            SyneTuneStatus.PAUSED if cause is Cause.PAUSED else (SyneTuneStatus.STOPPING if self.is_open else SyneTuneStatus.STOPPED)
        )

    def resumed(self, *, restored: bool) -> None:
        """Note that the trial goes on, from its checkpoint where `restored`.

        What it reported between the decision to pause and its end counts now, unless it starts afresh and will say it all again.
        """
        if restored or self.schema.level_name is not None:
            for result in self.late:
                self.results.append({**result, ITERATION: len(self.results)})
        self.late = []
        self.resume_asked = False
        self.status = SyneTuneStatus.IN_PROGRESS

    def take(self) -> list[dict[str, Any]]:
        """Return the results that were not handed over yet, and count them as handed over."""
        fresh = self.results[self.handed_over :]
        self.handed_over = len(self.results)
        return [dict(result) for result in fresh]

    def apply(self, event: Event) -> str:
        """Take an event of the latest job; return what is to be done: `stop` it, run it `again`, `resume` it, or nothing.

        `retry_at` says when to run it again.
        """
        match event:
            case Started():
                self.running_s = 0.0
            case Restarted():
                self.earlier_s, self.running_s = self.earlier_s + self.running_s, 0.0
            case Reported():
                return self._report(event)
            case Ended():
                self.holds_slot = False
            case Closed() | Rejected():
                return self._close(event)
        return ""

    def _report(self, event: Reported) -> str:
        self.running_s = max(self.running_s, event.elapsed_s)
        level = as_number(event.metrics.get(self.schema.level_name or ""))
        if level is not None and level <= self.last_level:
            self.repeated += 1
            return ""
        self.last.update(event.metrics)
        values = [as_number(event.metrics.get(name)) for name in self.schema.reported]
        if any(value is None or not math.isfinite(value) for value in values):
            self.withheld += 1
            # An objective that is not finite will not become so; the others may come with a later report.
            return "stop" if any(value is not None and not math.isfinite(value) for value in values) else ""
        if level is not None:
            self.last_level = level
        elif self.skip:
            self.skip -= 1
            self.repeated += 1
            return ""
        (self.late if self.asked is not None else self.results).append(self._result(event))
        return ""

    def _result(self, event: Reported) -> dict[str, Any]:
        spent_s = self.earlier_s + self.running_s
        result = {**event.metrics, TIMESTAMP: event.at, TIME: spent_s, ITERATION: len(self.results)}
        usd = cost_usd(spent_s, self.usd_per_hour, self.instances)
        so_far = {"cost_usd": usd, "duration_s": spent_s, "billable_s": spent_s}
        result |= {name: so_far[name] for name in self.schema.derived if so_far.get(name) is not None}
        if usd is not None:
            result[COST] = usd
        return result

    def _close(self, event: Closed | Rejected) -> str:
        self.is_open = self.holds_slot = False
        self.earlier_s, self.running_s = self.earlier_s + self.running_s, 0.0
        if isinstance(event, Closed):
            self.billable_s += event.billable_s
            self.earlier_s = max(self.earlier_s, self.billable_s)
            self.log_tail = event.log_tail
            self.finished = event.outcome is Outcome.COMPLETED
        if self.asked is Cause.PAUSED:
            return "resume" if self.resume_asked else ""
        if self.asked in (Cause.SCHEDULER, Cause.INTERRUPTED):
            self.status = SyneTuneStatus.STOPPED
            return ""
        return self._settle(event)

    def _settle(self, event: Closed | Rejected) -> str:
        outcome = Outcome.FAILED if isinstance(event, Rejected) else event.outcome
        cause, self.why = event.cause, event.message
        if outcome is Outcome.COMPLETED:
            problem = objective_problem(self.schema.reported, self.last)
            # The loop ends the experiment where a trial is completed without a result, so that is a failure like others here.
            if problem is None and not self.results:
                problem = Cause.NO_METRICS, "no report held all objectives: " + ", ".join(self.schema.reported)
            if problem is not None:
                outcome, (cause, self.why) = Outcome.FAILED, problem
        if outcome is Outcome.COMPLETED:
            self.status = SyneTuneStatus.COMPLETED
            return ""
        cause = cause or Cause.SCRIPT_ERROR
        never = isinstance(event, Rejected) and event.retry_at is None
        decided = settle(outcome, cause, self.causes[cause], never=never)
        self.causes[cause] += 1
        self.why = f"{cause}: {self.why}" if self.why else str(cause)
        if decided.status is TrialStatus.WAITING:
            later = event.retry_at if isinstance(event, Rejected) and event.retry_at is not None else event.at + (decided.retry_in_s or 0.0)
            self.retry_at = max(event.at, later)
            return "again"
        self.status = SyneTuneStatus.STOPPED if decided.status in (TrialStatus.STOPPED, TrialStatus.INTERRUPTED) else SyneTuneStatus.FAILED
        return ""


def by_time(results: Sequence[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """Return (trial, result) pairs in the order in which they were reported."""
    return sorted(results, key=lambda pair: pair[1][TIMESTAMP])
