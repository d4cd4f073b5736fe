"""What an experiment came to, as a comparison needs it: each result with the clock, the trials and the money at which it was known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from benchmarking.analysis.step_curves import StepCurve, best_so_far
from benchmarking.archive.stored import StoredExperiment, state_setup
from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.controller.interfaces import Observer
from benchmarking.controller.journal import Journal
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from definitions.schema import Mode, PerJob


class Axis(StrEnum):
    """What best-so-far is a function of."""

    WALLCLOCK = "wallclock"
    """Seconds that controllers ran since the first job began; what they waited for and the time in which none ran are left out."""
    TRIALS = "trials"
    """Trials that came to an end, failed and stopped ones too."""
    COST = "cost"
    """Dollars of all jobs that were closed, failed and stopped ones too."""
    LEVEL = "level"
    """Levels that a trial has passed, e.g. epochs; of any trial, and results below the full level count."""


RUN_KEYS = ("method", "tag", "backend", "region", "workers")
"""What tells experiments apart, besides keys of their configurations."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A value of each objective, and when it was known.

    Args:
        evaluation: number of the configuration; `configuration`: it.
        values: objective -> value, the mean of its repeats.
        wallclock, trials, cost: where on each axis it was known; cost is None where a price is unknown.
        full: whether it is of the full fidelity.
        level: that was reached, e.g. epochs; None where the benchmark has none.
    """

    evaluation: int
    configuration: Mapping[str, Any]
    values: Mapping[str, float]
    wallclock: float
    trials: float
    cost: float | None
    full: bool
    level: float | None = None

    def at(self, axis: Axis) -> float | None:
        """Return where on an axis it was known; None where that is not known, or the benchmark has no levels."""
        places = {Axis.COST: self.cost, Axis.TRIALS: self.trials, Axis.LEVEL: self.level}
        return places.get(axis, self.wallclock)


@dataclass(frozen=True, slots=True)
class MeasuredTrial:
    """A completed trial of the full job: its configuration, which repeat it is, and objective -> value."""

    configuration: Mapping[str, Any]
    repeat: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class ComparedRun:
    """One experiment.

    Args:
        tag, benchmark, method, number, backend: what it is; `number` is that of its seed.
        objectives: name -> mode, the primary one first.
        measurements: in the order in which they were known.
        ends: axis -> how far it went; no money where a price is unknown.
        ended: why it ended; empty where it did not, as it runs or was killed.
        facts: what has to be alike for two runs to be comparable, by field.
        trials: that were completed, each repeat for itself.
        interleaved: whether repeats of different configurations ran in turn, so that those of one number belong together.
        ended_by: the budget or other reason that ended it, in one word; empty where that is not known.
    """

    tag: str
    benchmark: str
    method: str
    number: int
    backend: str
    objectives: Mapping[str, Mode]
    measurements: Sequence[Measurement]
    ends: Mapping[Axis, float]
    ended: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    trials: Sequence[MeasuredTrial] = ()
    interleaved: bool = False
    ended_by: str = ""

    @property
    def about(self) -> dict[str, str]:
        """Its values of `RUN_KEYS`."""
        given = (self.method, self.tag, self.backend, self.facts.get("region", ""), self.facts.get("workers", ""))
        return dict(zip(RUN_KEYS, given, strict=True))

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return f"{self.benchmark} x {self.method} x seed {self.number} of {self.tag}"

    def curve(self, objective: str, axis: Axis, *, any_level: bool = False) -> StepCurve:
        """Return the best value of an objective so far.

        Args:
            objective: its name.
            axis: as a function of what.
            any_level: whether results below the full fidelity count.
        """
        found = [
            (at, one.values[objective])
            for one in self.measurements
            if (one.full or any_level or axis is Axis.LEVEL) and objective in one.values and (at := one.at(axis)) is not None
        ]
        return best_so_far(found, self.objectives[objective], self.ends.get(axis, -math.inf))

    @property
    def content(self) -> tuple[Any, ...]:
        """What it measured, without when: equal for two seeds that ran the same and got the same."""
        return tuple((tuple(sorted(map(str, one.configuration.items()))), tuple(sorted(one.values.items()))) for one in self.measurements)


def read_run(stored: StoredExperiment, facts: Mapping[str, str] | None = None, observer: Observer | None = None) -> ComparedRun:
    """Return what an experiment came to so far; another process may be running it.

    Args:
        stored: the experiment.
        facts: what else has to be alike, e.g. of its environment.
        observer: called after each record, for what else is made of the journal in the same pass.

    Raises:
        UserError: its journal cannot be read.
    """
    spec = stored.spec
    definition = spec.definition
    measurements: list[Measurement] = []
    ends: dict[Axis, float] = {}
    state = None
    if stored.is_started:
        with stored.journal() as journal:
            state, measurements, ends = _fold(stored, journal, observer)
    trials = [] if state is None else _completed(state, [*definition.objectives])
    ended = "" if state is None or state.ended is None else str(state.ended["message"])
    return ComparedRun(
        spec.tag,
        definition.name,
        spec.method,
        spec.number,
        spec.backend,
        definition.objectives,
        tuple(measurements),
        ends,
        ended,
        {**facts_of(stored, [] if state is None else state.codes), **(facts or {})},
        tuple(trials),
        interleaved=definition.order == "interleave" and spec.repeats == definition.repeats > 1,
        ended_by="" if state is None or state.ended is None else str(state.ended["reason"]),
    )


def facts_of(stored: StoredExperiment, codes: Sequence[str]) -> dict[str, str]:
    """Return what of an experiment's identity has to be alike.

    Args:
        stored: the experiment.
        codes: versions of the code that its trials ran.
    """
    spec = stored.spec
    definition = spec.definition
    return {
        "definition": spec.resolved.hash_for(spec.method),
        "back-end": spec.backend,
        "region": stored.region,
        "workers": str(definition.n_workers),
        "budget": _budget_text(definition.budget.model_dump(exclude_defaults=True)),
        "script": ", ".join(codes),
    }


def _fold(
    stored: StoredExperiment, journal: Journal, observer: Observer | None
) -> tuple[ExperimentState, list[Measurement], dict[Axis, float]]:
    definition = stored.spec.definition
    state = ExperimentState(state_setup(stored.spec))
    clock = ExperimentClock(journal.sessions())
    names = [*definition.objectives]
    found: list[Measurement] = []
    per_job = isinstance(definition.fidelity, PerJob)
    level_name, level = state.setup.reported_level, None
    now, unpriced = 0.0, False

    def measured(trials: Sequence[TrialState], values: Mapping[str, float], level: float | None, *, full: bool) -> Measurement:
        cost = None if unpriced else state.spent_usd
        first = trials[0]
        return Measurement(first.evaluation, first.configuration, values, now, float(state.finished), cost, full, level)

    for record in journal.records():
        job = state.jobs.get(record.body["job"]) if record.kind == "reported" else None
        settled = state.due_settlements[0][0].trial if record.kind == "settle" else None
        state.apply(record)
        if observer is not None:
            observer(record, state)
        now = clock.at(record.at, record.sequence, state)
        if settled is not None:
            trial = state.trials[settled]
            unpriced = unpriced or trial.cost_usd is None
            # A canary is a run of another job, so it never stands beside full ones.
            if per_job and trial.level is not None:
                continue
            folded = _repeats(state, trial, stored.spec.repeats)
            if folded is not None:
                values = {name: value for name in names if (value := _mean_of(folded, name)) is not None}
                found.append(measured(folded, values, state.setup.full_level, full=True))
        elif job is not None and not per_job:
            trial = state.trials[job.trial]
            values = {name: value for name in names if (value := as_number(record.body["metrics"].get(name))) is not None}
            level = as_number(record.body["metrics"].get(level_name)) if level_name is not None else None
            if values:
                found.append(measured([trial], values, level, full=False))
    ends = {Axis.WALLCLOCK: now, Axis.TRIALS: float(state.finished)}
    levels = [one.level for one in found if one.level is not None]
    if levels:
        ends[Axis.LEVEL] = max(levels)
    if not unpriced:
        ends[Axis.COST] = state.spent_usd
    return state, found, ends


def _repeats(state: ExperimentState, trial: TrialState, repeats: int) -> list[TrialState] | None:
    """Return the trials that measured a configuration, once the last of them has; None before."""
    if trial.status is not TrialStatus.COMPLETED:
        return None
    done = [state.trials[number] for number in state.evaluations[trial.evaluation].trials]
    completed = [one for one in done if one.status is TrialStatus.COMPLETED]
    return completed if len(completed) >= repeats else None


def _mean_of(trials: Sequence[TrialState], objective: str) -> float | None:
    values = [value for trial in trials if (value := trial.value_of(objective)) is not None and math.isfinite(value)]
    return math.fsum(values) / len(values) if len(values) == len(trials) else None


def _completed(state: ExperimentState, objectives: Sequence[str]) -> list[MeasuredTrial]:
    """Return each completed trial of the full job with those of its values that are finite."""
    found = []
    for trial in state.trials.values():
        if trial.status is TrialStatus.COMPLETED and trial.level is None:
            given = {name: trial.value_of(name) for name in objectives}
            values = {name: value for name, value in given.items() if value is not None and math.isfinite(value)}
            found.append(MeasuredTrial(trial.configuration, trial.repeat, values))
    return found


def _budget_text(budget: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in sorted(budget.items()) if isinstance(value, (int, float)))


def distinct(runs: Sequence[ComparedRun]) -> tuple[list[ComparedRun], dict[int, list[int]]]:
    """Return the runs of one method without those that measured exactly what another did.

    Returns:
        The runs that count, and for each of their numbers those of the seeds that are the same run (only where there are any).
    """
    kept: list[ComparedRun] = []
    copies: dict[int, list[int]] = {}
    with_values: dict[tuple[float, ...], list[ComparedRun]] = {}
    for run in runs:
        # All that they measured is compared only where the numbers are the same: of a thousand runs that would take a second.
        alike = with_values.setdefault(tuple(value for one in run.measurements for value in one.values.values()), [])
        same = next((other for other in alike if other.content == run.content), None) if run.measurements else None
        if same is None:
            kept.append(run)
            alike.append(run)
        else:
            copies.setdefault(same.number, []).append(run.number)
    return kept, copies


def axes_of(runs: Sequence[ComparedRun]) -> Iterator[Axis]:
    """Yield the axes on which all runs can be compared."""
    for axis in Axis:
        if all(axis in run.ends for run in runs):
            yield axis
