"""Canaries of earlier runs, read from folders of results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarking.forecasting.data.table import Canary, CanaryTable
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
    from benchmarking.archive.identity import ExperimentSpec
    from benchmarking.archive.stored import read_state
    from benchmarking.controller.journal import SqliteJournal
    from benchmarking.forecasting.data.experiment import canaries_of, full_runs_of
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
