"""From the journal of an experiment to what a tracker is told of it: pure, record by record, the same while it runs and afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field

from backends.failures import Outcome
from backends.tracked import Point, RunStatus, TrackedExperiment, TrackedJob, TrackedRun
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import state_setup
from benchmarking.controller.ending import Reason
from benchmarking.controller.journal import Record
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from definitions import __version__
from definitions.schema import DERIVED_OBJECTIVES
from definitions.trial import seed_of

_DONE = {
    TrialStatus.COMPLETED: RunStatus.FINISHED,
    TrialStatus.FAILED: RunStatus.FAILED,
    TrialStatus.INFEASIBLE: RunStatus.FAILED,
    TrialStatus.DIVERGED: RunStatus.FAILED,
    TrialStatus.STOPPED: RunStatus.STOPPED,
}
_OUTCOMES = {Outcome.COMPLETED: RunStatus.FINISHED, Outcome.FAILED: RunStatus.FAILED, Outcome.STOPPED: RunStatus.STOPPED}
_CUT_SHORT = (Reason.INTERRUPTED, Reason.ALONE, Reason.DISK_FULL)
_FAILED = (Reason.FAILURES, Reason.ALIKE, Reason.NONE_SUCCEEDED, Reason.NOTHING_VALID)
_LONGEST_TEXT = 2000
"""Characters of a text that was reported or said by a job which are told on."""


@dataclass
class _TrialFacts:
    started_at: float
    sequence: int
    jobs: dict[str, TrackedJob] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    settled: int = 0


class Translation:
    """Folds the records of one experiment.

    Args:
        spec: the experiment; `identity`: what its jobs' names begin with.
        commit: of the script's repository; empty where that is not known.
        region: whose prices count for it.
    """

    def __init__(self, spec: ExperimentSpec, identity: str, commit: str = "", region: str = "") -> None:
        self._spec, self._identity, self._commit, self._region = spec, identity, commit, region
        self._state = ExperimentState(state_setup(spec))
        self._level_name = self._state.setup.reported_level
        self._trials: dict[int, _TrialFacts] = {}
        self._trial_of: dict[str, int] = {}
        self._points: list[Point] = []
        self._best: dict[str, float] = {}
        self._first_at: float | None = None

    @property
    def sequence(self) -> int:
        """Of the latest record that was taken in; 0 before the first."""
        return self._state.sequence

    def take(self, record: Record) -> None:
        """Take in the next record."""
        body = record.body
        settled = self._state.due_settlements[0][0].trial if record.kind == "settle" else None
        self._state.apply(record)
        if self._first_at is None:
            self._first_at = record.at
        match record.kind:
            case "start":
                facts = self._trials.setdefault(body["trial"], _TrialFacts(record.at, record.sequence))
                facts.jobs[body["job"]] = TrackedJob(body["job"], body["attempt"], RunStatus.WAITING, record.at)
                self._trial_of[body["job"]] = body["trial"]
                facts.sequence = record.sequence
            case "started":
                self._job(record, RunStatus.RUNNING)
            case "reported":
                self._reported(record)
            case "rejected":
                self._job(record, RunStatus.FAILED, record.at)
            case "closed":
                ended_at = body.get("ended_at")
                self._job(record, _OUTCOMES[Outcome(body["outcome"])], record.at if ended_at is None else ended_at)
            case "settle" if settled is not None:
                self._settled(record, self._state.trials[settled])

    def experiment(self, *, live: bool) -> TrackedExperiment:
        """Return the experiment as it stands.

        Args:
            live: whether a controller is at work on it; where none is, nothing of it runs.
        """
        trials = [self._trial(self._state.trials[number], facts, live=live) for number, facts in self._trials.items()]
        return TrackedExperiment(self._spec.tag, self._spec.definition.name, self._whole(live=live), trials, self._commit, self._region)

    def _job(self, record: Record, status: RunStatus, ended_at: float | None = None) -> None:
        number = self._trial_of.get(record.body["job"])
        if number is None:
            return
        facts = self._trials[number]
        job = facts.jobs[record.body["job"]]
        facts.jobs[job.name] = TrackedJob(job.name, job.attempt, status, job.started_at, ended_at)
        facts.sequence = record.sequence

    def _reported(self, record: Record) -> None:
        number = self._trial_of.get(record.body["job"])
        if number is None:
            return
        facts, metrics, job = self._trials[number], record.body["metrics"], record.body["job"]
        level = as_number(metrics.get(self._level_name)) if self._level_name else None
        step = int(level) if level is not None and level == level // 1 and 0 <= level < 2**53 else record.body["sequence"]
        for name, value in metrics.items():
            found = float(value) if isinstance(value, bool) else as_number(value)
            if found is None:
                facts.texts[name] = str(value)[:_LONGEST_TEXT]
            elif name != self._level_name:
                facts.points.append(Point(name, found, step, record.at, record.sequence, job))
        facts.sequence = record.sequence

    def _settled(self, record: Record, trial: TrialState) -> None:
        facts = self._trials[trial.trial]
        facts.sequence = record.sequence
        if not trial.status.is_final:
            return
        # What is measured from outside is known at the end alone, and once a trial: its step is the number of its jobs.
        derived = [name for name in self._spec.definition.objectives if name in DERIVED_OBJECTIVES]
        for name in dict.fromkeys(("duration_s", "billable_s", "cost_usd", *derived)):
            value = trial.value_of(name)
            if value is not None:
                facts.points.append(Point(name, value, len(facts.jobs), record.at, record.sequence))
        finished = self._state.finished
        self._points.append(Point("spent_usd", self._state.money.spent_usd, finished, record.at, record.sequence))
        if trial.status is TrialStatus.COMPLETED and trial.level is None:
            for name, mode in self._spec.definition.objectives.items():
                value, best = trial.value_of(name), self._best.get(name)
                if value is not None and (best is None or (value < best if mode == "min" else value > best)):
                    self._best[name] = value
                    self._points.append(Point(f"best_{name}", value, finished, record.at, record.sequence))

    def _trial(self, trial: TrialState, facts: _TrialFacts, *, live: bool) -> TrackedRun:
        over = trial.status.is_final
        if over:
            status = _DONE[trial.status]
        elif live and self._state.ended is None:
            status = RunStatus.RUNNING if trial.status is TrialStatus.RUNNING else RunStatus.WAITING
        else:
            status = RunStatus.STOPPED
        goes_on = status in (RunStatus.RUNNING, RunStatus.WAITING)
        ended_at = None if goes_on else trial.ended_at if trial.ended_at is not None else max(facts.started_at, self._state.last_at)
        seed = [] if self._spec.definition.seed_argument is None else [("seed", seed_of(self._state.setup.seed, trial.repeat))]
        level = [] if trial.level is None else [("level", trial.level)]
        parameters = {**trial.configuration, **{name: value for name, value in (*seed, *level) if name not in trial.configuration}}
        tags = {
            "outrider.trial": str(trial.trial),
            "outrider.repeat": str(trial.repeat),
            "outrider.status": str(trial.status) if over or goes_on else str(TrialStatus.INTERRUPTED),
            "outrider.cause": "" if trial.cause is None else str(trial.cause),
            "outrider.message": trial.message[:_LONGEST_TEXT],
            "outrider.code": trial.code,
            "outrider.attempts": str(len(facts.jobs)),
            **{f"last.{name}": text for name, text in facts.texts.items()},
        }
        jobs = [*facts.jobs.values()] if goes_on else [_closed(job, ended_at or facts.started_at) for job in facts.jobs.values()]
        name = f"trial-{trial.trial}" if self._spec.repeats == 1 else f"trial-{trial.trial}-repeat-{trial.repeat}"
        started_at = min(facts.started_at, facts.started_at if trial.started_at is None else trial.started_at)
        return TrackedRun(
            jobs[0].name,
            name,
            status,
            started_at,
            ended_at,
            parameters,
            {name: text for name, text in tags.items() if text},
            facts.points,
            facts.sequence,
            jobs,
            trial.trial,
        )

    def _whole(self, *, live: bool) -> TrackedRun:
        spec, ended = self._spec, self._state.ended
        if ended is None:
            status = RunStatus.RUNNING if live else RunStatus.STOPPED
        else:
            status = RunStatus.STOPPED if ended["reason"] in _CUT_SHORT else RunStatus.FINISHED
            status = RunStatus.FAILED if ended["reason"] in _FAILED else status
        budget = {f"budget.{name}": value for name, value in spec.definition.budget.model_dump(exclude_defaults=True).items()}
        arguments = {f"method.{name}": value for name, value in spec.method_arguments.items()}
        tags = {
            "outrider.benchmark": spec.definition.name,
            "outrider.method": spec.method,
            "outrider.backend": spec.backend,
            "outrider.hash": spec.hash,
            "outrider.version": __version__,
            "outrider.message": "" if ended is None else str(ended["message"]),
        }
        named = {"method": spec.method, "backend": spec.backend, "seed": spec.seed, "seed_number": spec.number}
        workers = {} if spec.definition.n_workers is None else {"n_workers": spec.definition.n_workers}
        first_at = self._first_at or 0.0
        return TrackedRun(
            self._identity,
            f"{spec.method}-{spec.backend}-{spec.number}",
            status,
            first_at,
            None if status is RunStatus.RUNNING else max(first_at, self._state.last_at),
            {**named, "repeats": spec.repeats, **workers, **budget, **arguments},
            {name: text for name, text in tags.items() if text},
            self._points,
            self._state.sequence,
        )


def _closed(job: TrackedJob, at: float) -> TrackedJob:
    """Return a job of a trial that is over; of one whose end nobody saw it is that of the trial."""
    return job if job.ended_at is not None else TrackedJob(job.name, job.attempt, RunStatus.STOPPED, job.started_at, at)
