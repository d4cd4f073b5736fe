"""What the console of the cloud shows of a study, under Syne Tune's names: lines of a log, and expressions that find them. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from definitions.fidelity import Progressive
from definitions.schema import BenchmarkDefinition

STUDY_MARK = "[outrider-study]:"
"""What its lines begin with, and no report of a trial does."""
MOST = 40
"""Metrics that a job may define."""
_LONGEST_NAME, _LONGEST_EXPRESSION = 255, 500
_LINE = 400
Key = tuple[str, str, int]
"""Benchmark, method and number of an experiment."""
_OF_ALL = ("trials_done", "trials_running", "spent_usd")


@dataclass(frozen=True)
class ConsoleMetrics:
    """Metrics of a study.

    Args:
        expressions: name -> regular expression, those that a job defines.
        left_out: names of those for which there is no room.
    """

    expressions: Mapping[str, str]
    left_out: tuple[str, ...] = ()


def console_metrics(specs: Sequence[ExperimentSpec]) -> ConsoleMetrics:
    """Return the metrics of a study: of all trials, then of the best one of each benchmark, and last its hyperparameters.

    The first benchmark's have Syne Tune's names, others' have their benchmark's before it. Hyperparameters without numbers are none.

    Args:
        specs: its experiments.
    """
    first: list[str] = [*_OF_ALL]
    last: list[str] = []
    for benchmark, mine in _by_benchmark(specs).items():
        before, definition = _before(benchmark, specs[0].definition.name), mine[0].definition
        first += [f"{before}best_metric_value", f"{before}best_trial_id"]
        first += [f"{before}best_experiment"] if len(mine) > 1 else []
        first += [f"{before}best_resource_value"] if definition.fidelity is not None else []
        last += [f"{before}best_hp_{key}" for key in _numbers(definition)]
    wanted = {name: _expression(name) for name in dict.fromkeys((*first, *last))}
    possible = [name for name, text in wanted.items() if len(name) <= _LONGEST_NAME and len(text) <= _LONGEST_EXPRESSION]
    taken = possible[:MOST]
    return ConsoleMetrics({name: wanted[name] for name in taken}, tuple(name for name in wanted if name not in taken))


def console_values(experiments: Sequence[tuple[ExperimentSpec, ExperimentState]], order: Sequence[Key]) -> dict[str, float]:
    """Return the values of the metrics as a study stands; what is not known yet is left out.

    Args:
        experiments: those that have begun, with their states.
        order: keys of all experiments of the study, in its order; `best_experiment` counts in it from 1.
    """
    trials = [trial for _, state in experiments for trial in state.trials.values()]
    found: dict[str, float] = {
        "trials_done": float(sum(trial.status.is_final for trial in trials)),
        "trials_running": float(sum(job.started for _, state in experiments for job in state.jobs.values())),
        "spent_usd": math.fsum(state.money.spent_usd for _, state in experiments),
    }
    places = {key: place for place, key in enumerate(order, 1)}
    for benchmark in dict.fromkeys(name for name, _, _ in order):
        before = _before(benchmark, order[0][0])
        best = _best([(spec, state) for spec, state in experiments if spec.definition.name == benchmark])
        if best is None:
            continue
        spec, trial, value = best
        found |= {f"{before}best_metric_value": value, f"{before}best_trial_id": float(trial.trial)}
        if sum(name == benchmark for name, _, _ in order) > 1:
            found[f"{before}best_experiment"] = float(places.get((benchmark, spec.method, spec.number), 0))
        level = _level(spec.definition, trial)
        if level is not None:
            found[f"{before}best_resource_value"] = level
        numbers = {key: as_number(trial.configuration.get(key)) for key in _numbers(spec.definition)}
        found |= {f"{before}best_hp_{key}": number for key, number in numbers.items() if number is not None}
    return {name: value for name, value in found.items() if math.isfinite(value)}


def console_lines(values: Mapping[str, float]) -> list[str]:
    """Return values as lines of a log, of a length that is searched whole."""
    lines = [STUDY_MARK]
    for name, value in values.items():
        word = f" {name}={value:.10g}"
        if len(lines[-1]) + len(word) > _LINE and lines[-1] != STUDY_MARK:
            lines.append(STUDY_MARK)
        lines[-1] += word
    return [line for line in lines if line != STUDY_MARK]


def _by_benchmark(specs: Sequence[ExperimentSpec]) -> dict[str, list[ExperimentSpec]]:
    found: dict[str, list[ExperimentSpec]] = {}
    for spec in specs:
        found.setdefault(spec.definition.name, []).append(spec)
    return found


def _before(benchmark: str, first: str) -> str:
    return "" if benchmark == first else f"{benchmark}:"


def _expression(name: str) -> str:
    return rf"{re.escape(STUDY_MARK)}.* {re.escape(name)}=([-+.0-9eE]+)"


def _numbers(definition: BenchmarkDefinition) -> list[str]:
    """Return what is searched and has numbers for values."""
    if definition.trials:
        listed = definition.explicit_configurations
        keys = dict.fromkeys(key for one in listed for key in one)
        return [key for key in keys if all(as_number(one[key]) is not None for one in listed if key in one)]
    samples = {key: getattr(domain, "values", (domain.at(0.0),)) for key, domain in definition.search_space.domains.items()}
    return [key for key, values in samples.items() if all(as_number(value) is not None for value in values)]


def _best(experiments: Sequence[tuple[ExperimentSpec, ExperimentState]]) -> tuple[ExperimentSpec, TrialState, float] | None:
    """Return the first trial of the evaluation with the best mean of the primary objective over its completed repeats."""
    found: tuple[ExperimentSpec, TrialState, float] | None = None
    for spec, state in experiments:
        objective = spec.definition.primary_objective
        sign = 1.0 if spec.definition.objectives[objective] == "min" else -1.0
        repeats: dict[int, list[tuple[TrialState, float]]] = {}
        for trial in state.trials.values():
            value = trial.value_of(objective) if trial.status is TrialStatus.COMPLETED else None
            if value is not None and math.isfinite(value):
                repeats.setdefault(trial.evaluation, []).append((trial, value))
        for measured in repeats.values():
            mean = math.fsum(value for _, value in measured) / len(measured)
            if found is None or sign * mean < sign * found[2]:
                found = spec, measured[0][0], mean
    return found


def _level(definition: BenchmarkDefinition, trial: TrialState) -> float | None:
    """Return how far a trial went: the last level that it reported, else the one that it was given."""
    fidelity = definition.fidelity
    level = as_number(trial.last.get(fidelity.reported_as)) if isinstance(fidelity, Progressive) else None
    return level if level is not None else trial.level
