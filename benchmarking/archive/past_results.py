"""What finished experiments measured, as far as it says something about the present one: what a method is told before it starts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import StoredExperiment, experiments_of, load
from benchmarking.controller.retry_policy import TrialStatus
from definitions.errors import UserError


def past_results(spec: ExperimentSpec, tags: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what the experiments of some tags measured within an experiment's space, and in words what was taken or left from where.

    Args:
        spec: the experiment that is to learn of it.
        tags: names below its folder of results.

    Returns:
        `configuration` and `result` (the primary objective) of each completed trial, and a line for each experiment found.

    Raises:
        UserError: there is nothing of a tag.
    """
    found: list[dict[str, Any]] = []
    lines: list[str] = []
    for tag in tags:
        folders: list[Path] = [folder for folder in experiments_of(spec.results_dir / tag) if folder != spec.folder]
        if not folders:
            raise UserError(f"--warm_start {tag}: there is nothing of this tag in {spec.results_dir}")
        for folder in folders:
            stored = load(folder)
            reason = _unlike(spec, stored)
            taken = [] if reason else list(_within(spec, stored))
            found += taken
            lines.append(
                f"warm start: {len(taken)} measurements of {folder}" if not reason else f"warm start: {folder} is left out: {reason}"
            )
    return found, lines


def _unlike(spec: ExperimentSpec, stored: StoredExperiment) -> str:
    """Return why an experiment says nothing about another one; empty where it may."""
    ours, theirs = spec.definition, stored.spec.definition
    name = ours.primary_objective
    if not stored.is_started:
        return "it was not started"
    if theirs.objectives.get(name) != ours.objectives[name]:
        return f"it does not measure {name} ({ours.objectives[name]})"
    if set(theirs.configuration_keys) != set(ours.configuration_keys):
        return f"its configurations have other keys ({', '.join(theirs.configuration_keys)})"
    if getattr(theirs.fidelity, "kind", None) != getattr(ours.fidelity, "kind", None):
        return "its levels are of another kind"
    return ""


def _within(spec: ExperimentSpec, stored: StoredExperiment) -> Iterator[dict[str, Any]]:
    with stored.journal() as journal:
        state = stored.state(journal)
    name, space = spec.definition.primary_objective, spec.definition.search_space
    for trial in state.trials.values():
        value = trial.value_of(name)
        if trial.status is not TrialStatus.COMPLETED or trial.level is not None or value is None or not math.isfinite(value):
            continue
        try:
            space.check(trial.configuration)
        except UserError:
            continue
        if all(rule.holds(trial.configuration) for rule in spec.definition.rules):
            yield {"configuration": dict(trial.configuration), "result": {name: value}}
