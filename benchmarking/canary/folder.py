"""Canaries of earlier runs, read from folders of results. Used by `outrider forecast FOLDER` and by forecasts at work."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
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
    found = _read(folder)
    return CanaryTable(()) if found is None else found.canaries


@dataclass(frozen=True)
class _Experiment:
    """What an experiment measured.

    Args:
        code: what must be alike for runs of two experiments to be runs of one job.
        canaries: runs that a canary method asked for, full ones among them; `full`: full runs that another method asked for.
    """

    code: str
    canaries: CanaryTable
    full: CanaryTable


def _read(folder: Path) -> _Experiment | None:
    from benchmarking.canary.record import canaries_of, full_runs_of
    from benchmarking.experiment import read_state
    from benchmarking.journal import SqliteJournal
    from benchmarking.spec import ExperimentSpec
    from definitions import strict_json
    from definitions.resolve import resolve
    from definitions.yaml_source import read_yaml

    path = folder / "journal.sqlite"
    if not path.is_file():
        return None
    known = strict_json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    resolved = resolve(read_yaml(folder / "definition.yaml"), known["backend"], ())
    spec = ExperimentSpec(resolved, known["method"], known["seed"], "", folder, known["method_arguments"], known["number"])
    journal = SqliteJournal(path, read_only=True)
    try:
        state = read_state(spec, journal)
    finally:
        journal.close()
    definition = spec.definition
    alike = definition.model_dump(mode="json", include={"script", "source_dir", "arguments", "inputs", "datasets", "fidelity"})
    code = strict_json.dumps([definition.name, spec.backend, alike])
    return _Experiment(code, canaries_of(definition, state), full_runs_of(definition, state))


def calibration_of(results_dir: Path) -> Calibration:
    """Return the scores of the jobs that were finished here: configurations with canaries in one experiment, and full runs in any.

    Each job is forecast from its canaries alone, so that no forecast has seen what it is scored by. The latest `_MOST` experiments of the
    benchmarks that have canaries count; full runs of another experiment do where script, arguments, data and back-end are the same.
    """
    if not results_dir.is_dir():
        return Calibration({})
    with_canaries = {_place(mark.parent) for mark in results_dir.glob("*/*/*/forecasts.csv")}
    marks = [mark for mark in results_dir.glob("*/*/*/experiment.json") if _place(mark.parent) in with_canaries]
    experiments = []
    for mark in sorted(marks, key=_age, reverse=True)[:_MOST]:
        with contextlib.suppress(UserError, OSError, KeyError, ValueError):
            found = _read(mark.parent)
            experiments += [found] if found is not None else []
    elsewhere: dict[tuple[str, str], list[Canary]] = {}
    for one in experiments:
        for run in one.full.canaries:
            elsewhere.setdefault((one.code, run.about["configuration_id"]), []).append(run)
    scores: dict[str, list[float]] = {}
    for one in experiments:
        groups = by_configuration(one.canaries.canaries)
        more = [
            replace(run, configuration=name)
            for name, group in groups.items()
            for run in elsewhere.get((one.code, group[0].about["configuration_id"]), ())
        ]
        for metric, values in scores_of(CanaryTable((*one.canaries.canaries, *more))).items():
            scores.setdefault(metric, []).extend(values)
    return Calibration(scores)


def _place(folder: Path) -> tuple[str, str]:
    """Return benchmark and back-end of an experiment's folder, by its name."""
    return folder.parent.name, folder.name.rsplit("-", 2)[-2] if folder.name.count("-") >= 2 else ""


def _age(mark: Path) -> float:
    try:
        return (mark.parent / "journal.sqlite").stat().st_mtime
    except OSError:
        return 0.0


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
            measured = [value for canary in full if (value := getattr(canary, one.metric, canary.about.get(one.metric))) is not None]
            if measured and (value := score(one, math.fsum(measured) / len(measured))) is not None:
                found.setdefault(one.metric, []).append(value)
    return found
