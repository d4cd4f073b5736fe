"""What finished experiments measured, as far as it says something about the present one: what a method is told before it starts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import StoredExperiment, experiments_of, load
from benchmarking.controller.journal import Record
from benchmarking.controller.method import Method
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.rows import TrialState
from definitions.domains import same
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition, Progressive

_TOLD = frozenset({TrialStatus.COMPLETED, TrialStatus.STOPPED, TrialStatus.PAUSED})
"""What became of trials whose reports say something: of those that ended before their time, up to where they came."""
_ABSENT = object()


def warm_start(spec: ExperimentSpec, method: Method) -> tuple[dict[str, Any] | None, list[str]]:
    """Return what a method is told first, as the body of a `learn` record, and in words what was taken or left from where.

    Args:
        spec: the experiment that is to learn of it.
        method: its method.

    Returns:
        The body, None where there is nothing to be told, and a line for each experiment found.

    Raises:
        UserError: there is nothing of a tag.
    """
    tags = spec.definition.warm_start
    if not tags:
        return None, []
    if not method.learns:
        folders_of_tags(spec, tags)
        return None, [f"warm start: {spec.method} makes no use of earlier results"]
    results, lines = past_results(spec, tags, levels=method.hears_levels)
    return ({"tags": list(tags), "results": results} if results else None), lines


def folders_of_tags(spec: ExperimentSpec, tags: Sequence[str]) -> list[Path]:
    """Return the folders of all experiments of some tags but the present one; raises `UserError` where there is nothing of a tag."""
    found: list[Path] = []
    for tag in tags:
        folders = [folder for folder in experiments_of(spec.results_dir / tag) if folder != spec.folder]
        if not folders:
            raise UserError(f"warm_start {tag}: there is nothing of this tag in {spec.results_dir}", "", "name tags of finished runs")
        found += folders
    return found


def past_results(spec: ExperimentSpec, tags: Sequence[str], *, levels: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what the experiments of some tags measured within an experiment's space, and in words what was taken or left from where.

    Args:
        spec: the experiment that is to learn of it.
        tags: names below its folder of results.
        levels: whether its method hears of levels below the full one.

    Returns:
        The arguments of a `PastEvaluation` for each trial, and a line for each experiment found.

    Raises:
        UserError: there is nothing of a tag.
    """
    found: list[dict[str, Any]] = []
    lines: list[str] = []
    for folder in folders_of_tags(spec, tags):
        stored = load(folder)
        reason = _unlike(spec.definition, stored)
        if reason:
            lines.append(f"warm start: {folder} is left out: {reason}")
            continue
        left: Counter[str] = Counter()
        taken = list(_taken(spec.definition, stored, left, levels=levels))
        found += taken
        lines.append(_line(folder, len(taken), left, _other_arguments(spec.definition, stored.spec.definition)))
    return found, lines


def _line(folder: Path, taken: int, left: Mapping[str, int], differing: str) -> str:
    of = f" of {taken + sum(left.values())}" if left else ""
    reasons = "; ".join([*(f"{count} left out: {reason}" for reason, count in left.items()), *([differing] if differing else [])])
    return f"warm start: {taken}{of} measurements of {folder}" + (f"; {reasons}" if reasons else "")


def _unlike(ours: BenchmarkDefinition, stored: StoredExperiment) -> str:
    """Return why an experiment says nothing about another one; empty where it may."""
    theirs, name = stored.spec.definition, ours.primary_objective
    if not stored.is_started:
        return "it was not started"
    if theirs.objectives.get(name) != ours.objectives[name]:
        return f"it does not measure {name} ({ours.objectives[name]})"
    if getattr(theirs.fidelity, "kind", None) != getattr(ours.fidelity, "kind", None):
        return "its levels are of another kind"
    unknown = [key for key in theirs.configuration_keys if key not in ours.configuration_keys and key not in ours.arguments]
    if unknown:
        return f"its configurations have keys that are none here ({', '.join(unknown)})"
    return ""


def _other_arguments(ours: BenchmarkDefinition, theirs: BenchmarkDefinition) -> str:
    """Return in words which fixed arguments differ, as what was measured with others may still say something."""
    keys = sorted({*ours.arguments, *theirs.arguments} - {*ours.configuration_keys, *theirs.configuration_keys})
    differing = [key for key in keys if not same(ours.arguments.get(key, _ABSENT), theirs.arguments.get(key, _ABSENT))]
    return f"fixed arguments are others there: {', '.join(differing)}" if differing else ""


def _taken(ours: BenchmarkDefinition, stored: StoredExperiment, left: Counter[str], *, levels: bool) -> Iterator[dict[str, Any]]:
    """Yield what is told of each trial that has something to tell; what has, but does not fit, is counted by its reason."""
    theirs = stored.spec.definition
    with stored.journal() as journal:
        state = stored.state(journal)
        reported = _reports(ours, theirs, journal.records())
    for trial in state.trials.values():
        results = reported.get(trial.trial, [])
        final = _final(ours, theirs, trial, results)
        told = results if levels else []
        if trial.status not in _TOLD or (final is None and not told):
            continue
        configuration, reason = within(ours, theirs, trial.configuration)
        if reason:
            left[reason] += 1
        else:
            yield {"configuration": configuration, "results": told, "final": final}


def _reports(ours: BenchmarkDefinition, theirs: BenchmarkDefinition, records: Iterable[Record]) -> dict[int, list[dict[str, float]]]:
    """Return the objectives of each trial at each of its levels, the level under the name that it has here; empty without levels."""
    found: dict[int, list[dict[str, float]]] = {}
    if not isinstance(ours.fidelity, Progressive) or not isinstance(theirs.fidelity, Progressive):
        return found
    name, full = ours.fidelity.reported_as, ours.fidelity.full
    trials: dict[str, int] = {}
    for record in records:
        body = record.body
        if record.kind == "start":
            trials[body["job"]] = body["trial"]
        elif record.kind == "reported" and body["job"] in trials:
            level, values = as_number(body["metrics"].get(theirs.fidelity.reported_as)), _objectives(ours, body["metrics"])
            earlier = found.setdefault(trials[body["job"]], [])
            # What a later attempt reports once more, having gone on from a checkpoint, counts once.
            if level is not None and values and (earlier[-1][name] if earlier else 0.0) < level <= full:
                earlier.append({name: level, **values})
    return found


def _final(
    ours: BenchmarkDefinition, theirs: BenchmarkDefinition, trial: TrialState, results: Sequence[Mapping[str, float]]
) -> dict[str, float] | None:
    """Return a trial's objectives at the end of what is the full job here; None where it did not get there."""
    mine, its = ours.fidelity, theirs.fidelity
    if mine is not None and its is not None and mine.full != its.full:
        # A longer job passed this level on its way, a shorter one never did; of levels that are jobs each, only the same is comparable.
        name = mine.reported_as if isinstance(mine, Progressive) else ""
        return next((dict(result) for result in results if result[name] == mine.full), None)
    if trial.status is not TrialStatus.COMPLETED or trial.level is not None:
        return None
    return _objectives(ours, {name: trial.value_of(name) for name in ours.objectives}) or None


def _objectives(ours: BenchmarkDefinition, metrics: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite objectives among some metrics; none at all where the primary one is missing."""
    values = {name: as_number(metrics.get(name)) for name in ours.objectives}
    found = {name: value for name, value in values.items() if value is not None and math.isfinite(value)}
    return found if ours.primary_objective in found else {}


def within(ours: BenchmarkDefinition, theirs: BenchmarkDefinition, past: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a past configuration as one of the present space, or why it is none.

    What it lacks is taken from the past's fixed arguments, or from a dimension that has one value only.

    Args:
        ours: the present definition.
        theirs: the one that the past configuration belongs to.
        past: that configuration.

    Returns:
        The configuration and an empty text, or an empty one and the reason.
    """
    space, known = ours.search_space, {**theirs.arguments, **past}
    for key in past:
        if key in ours.arguments and not same(past[key], ours.arguments[key]):
            return {}, f"{key} is {ours.arguments[key]!r} here"
    found: dict[str, Any] = {}
    for key in space.conditions.order if space.conditions else space.domains:
        domain = space.domains[key]
        if not space.conditions.holds(key, found):
            if key in past:
                return {}, f"{key} does not exist here beside their other values"
        elif key in known:
            if not domain.contains(known[key]):
                return {}, f"{key} lies outside of its domain"
            found[key] = known[key]
        elif domain.size == 1:
            found[key] = next(iter(domain.grid(1)))
        else:
            return {}, f"they lack {key}"
    if not all(rule.holds(found) for rule in ours.rules):
        return {}, "a rule of `valid` is against it"
    return {key: found[key] for key in space.domains if key in found}, ""
