"""What a comparison takes from a journal, record by record: results, and where on each axis each was known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import StoredExperiment, state_setup
from benchmarking.comparison.runs import Axis, MeasuredTrial, Measurement
from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.controller.interfaces import Observer
from benchmarking.controller.journal import Record
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from definitions.schema import PerJob


@dataclass(frozen=True)
class FoldedRun:
    """What the journal of an experiment amounts to for a comparison; see `runs.ComparedRun` for what each is.

    Args:
        codes: versions of the code that its trials ran.
    """

    measurements: Sequence[Measurement] = ()
    trials: Sequence[MeasuredTrial] = ()
    ends: Mapping[Axis, float] = field(default_factory=dict)
    ended: str = ""
    ended_by: str = ""
    codes: Sequence[str] = ()


def fold_journal(stored: StoredExperiment, observer: Observer | None = None) -> FoldedRun:
    """Return what the journal of an experiment amounts to.

    Args:
        stored: the experiment.
        observer: called after each record, for what else is made of the journal in the same pass.

    Raises:
        UserError: it cannot be read.
    """
    state = ExperimentState(state_setup(stored.spec))
    with stored.journal() as journal:
        clock = ExperimentClock(journal.sessions())
        fold = RunFold(stored.spec, state, clock)
        before, apply, observe = clock.before, state.apply, fold.observe
        for record in journal.records():
            before(record.sequence, state)
            apply(record)
            observe(record)
            if observer is not None:
                observer(record, state)
    return fold.outcome()


class RunFold:
    """Takes each record, after the state has.

    Args:
        spec: of the experiment.
        state: that is folded from the same records.
        clock: of the experiment.
    """

    def __init__(self, spec: ExperimentSpec, state: ExperimentState, clock: ExperimentClock) -> None:
        self._state, self._clock = state, clock
        self._repeats = spec.repeats
        self._names = [*spec.definition.objectives]
        self._is_per_job = isinstance(spec.definition.fidelity, PerJob)
        self._found: list[Measurement] = []
        self._is_unpriced = False
        self._last: Record | None = None

    def observe(self, record: Record) -> None:
        """Take a record in."""
        self._last = record
        if record.kind == "reported":
            # A canary is a run of another job, so it never stands beside full ones.
            if not self._is_per_job:
                self._reported(record)
        elif record.kind == "settle":
            self._settled(record, self._state.trials[record.body["trial"]])

    def outcome(self) -> FoldedRun:
        """Return what the records so far amount to."""
        state, ends = self._state, {Axis.WALLCLOCK: self._now(self._last), Axis.TRIALS: float(self._state.finished)}
        levels = [one.level for one in self._found if one.level is not None]
        if levels:
            ends[Axis.LEVEL] = max(levels)
        if not self._is_unpriced:
            ends[Axis.COST] = state.money.spent_usd
        ended = ("", "") if state.ended is None else (str(state.ended["message"]), str(state.ended["reason"]))
        return FoldedRun(tuple(self._found), tuple(self._completed()), ends, *ended, state.codes)

    def _reported(self, record: Record) -> None:
        state, metrics = self._state, record.body["metrics"]
        job = state.jobs.get(record.body["job"])
        values = {name: value for name in self._names if (value := as_number(metrics.get(name))) is not None}
        if job is not None and values and state.trials[job.trial].level is None:
            level_name = state.setup.reported_level
            level = None if level_name is None else as_number(metrics.get(level_name))
            self._measured(record, [state.trials[job.trial]], values, level, full=False)

    def _settled(self, record: Record, trial: TrialState) -> None:
        self._is_unpriced = self._is_unpriced or trial.cost_usd is None
        if trial.level is not None:
            return
        folded = self._measured_repeats(trial)
        if folded is not None:
            values = {name: value for name in self._names if (value := _mean_of(folded, name)) is not None}
            self._measured(record, folded, values, self._state.setup.full_level, full=True)

    def _measured(
        self, record: Record, trials: Sequence[TrialState], values: Mapping[str, float], level: float | None, *, full: bool
    ) -> None:
        state, spec = self._state, trials[0].spec
        cost = None if self._is_unpriced else state.money.spent_usd
        found = Measurement(trials[0].evaluation, spec.configuration, values, self._now(record), float(state.finished), cost, full, level)
        self._found.append(found)

    def _now(self, record: Record | None) -> float:
        return 0.0 if record is None else self._clock.at(record.at, record.sequence, self._state)

    def _measured_repeats(self, trial: TrialState) -> list[TrialState] | None:
        """Return the trials that measured a configuration, once the last of them has; None before."""
        if trial.status is not TrialStatus.COMPLETED:
            return None
        state = self._state
        done = [state.trials[number] for number in state.evaluations[trial.evaluation].trials]
        completed = [one for one in done if one.status is TrialStatus.COMPLETED]
        return completed if len(completed) >= self._repeats else None

    def _completed(self) -> list[MeasuredTrial]:
        """Return each completed trial of the full job with those of its values that are finite."""
        found = []
        for trial in self._state.trials.values():
            if trial.status is TrialStatus.COMPLETED and trial.level is None:
                given = {name: trial.value_of(name) for name in self._names}
                values = {name: value for name, value in given.items() if value is not None and math.isfinite(value)}
                found.append(MeasuredTrial(trial.configuration, trial.repeat, values))
        return found


def _mean_of(trials: Sequence[TrialState], objective: str) -> float | None:
    values = [value for trial in trials if (value := trial.value_of(objective)) is not None and math.isfinite(value)]
    return math.fsum(values) / len(values) if len(values) == len(trials) else None
