"""Canaries of earlier runs, read from folders of results. Used by `outrider forecast FOLDER` and by forecasts at work."""

from __future__ import annotations

import math
from pathlib import Path

from benchmarking.canary.calibration import Calibration, score
from benchmarking.canary.forecast import forecast
from benchmarking.canary.table import COMPLETED, Canary, CanaryTable, by_configuration
from definitions.errors import UserError

_MOST = 100
"""Experiments whose scores count: the latest, as machines and code change."""


def read_folder(folder: Path) -> CanaryTable:
    """Return the canaries of all experiments below a folder of results.

    Raises:
        UserError: there is no experiment, or none of them has canaries.
    """
    paths = sorted(folder.glob("experiment.json")) or sorted(folder.glob("**/experiment.json"))
    if not paths:
        raise UserError(f"{folder}: there are no results", "a folder of results holds experiment.json and journal.sqlite", "give its path")
    canaries: list[Canary] = []
    for path in paths:
        canaries += read_experiment(path.parent).canaries
    small = [canary for canary in canaries if canary.fraction < 1.0]
    if not small:
        raise UserError(f"{folder}: no canaries were run", f"{len(paths)} experiments are there", "run with --method CANARY first")
    return CanaryTable(tuple(small))


def read_experiment(folder: Path) -> CanaryTable:
    """Return the canaries of one experiment's folder; empty where it has none or was not started."""
    from benchmarking.canary.record import canaries_of
    from benchmarking.experiment import ExperimentSpec, read_state
    from benchmarking.journal import SqliteJournal
    from definitions import strict_json
    from definitions.resolve import resolve
    from definitions.yaml_source import read_yaml

    path = folder / "journal.sqlite"
    if not path.is_file():
        return CanaryTable(())
    known = strict_json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    resolved = resolve(read_yaml(folder / "definition.yaml"), known["backend"], ())
    spec = ExperimentSpec(resolved, known["method"], known["seed"], "", folder, known["method_arguments"], known["number"])
    journal = SqliteJournal(path, read_only=True)
    try:
        state = read_state(spec, journal)
    finally:
        journal.close()
    return canaries_of(spec.definition, state)


def calibration_of(results_dir: Path) -> Calibration:
    """Return the scores of the jobs that were finished here: configurations whose canaries and full runs are in one experiment.

    Each job is forecast from its canaries alone, so that no forecast has seen what it is scored by. The latest `_MOST` experiments count.
    """
    scores: dict[str, list[float]] = {}
    marks = (
        sorted(results_dir.glob("*/*/*/forecasts.csv"), key=lambda one: one.stat().st_mtime, reverse=True) if results_dir.is_dir() else []
    )
    for mark in marks[:_MOST]:
        try:
            table = read_experiment(mark.parent)
        except (UserError, OSError, KeyError, ValueError):
            continue
        for metric, values in scores_of(table).items():
            scores.setdefault(metric, []).extend(values)
    return Calibration(scores)


def scores_of(table: CanaryTable) -> dict[str, list[float]]:
    """Return by metric the scores of the configurations that also ran in full."""
    groups = by_configuration(table.canaries)
    found: dict[str, list[float]] = {}
    for group in groups.values():
        full = [canary for canary in group if canary.fraction >= 1.0 and canary.status == COMPLETED]
        small = [canary for canary in group if canary.fraction < 1.0]
        if not full or not small:
            continue
        for one in forecast(CanaryTable(tuple(small))):
            measured = [value for canary in full if (value := getattr(canary, one.metric, None)) is not None]
            if measured and (value := score(one, math.fsum(measured) / len(measured))) is not None:
                found.setdefault(one.metric, []).append(value)
    return found
