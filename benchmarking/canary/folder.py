"""Canaries of earlier runs, read from folders of results. Used by `outrider forecast FOLDER` and by forecasts at work."""

from __future__ import annotations

from pathlib import Path

from benchmarking.canary.table import Canary, CanaryTable
from definitions.errors import UserError


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
