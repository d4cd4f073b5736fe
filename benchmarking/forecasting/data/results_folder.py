"""Canaries of earlier runs, read from folders of results."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from benchmarking.archive.stored import load
from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.data.experiment import canaries_of, full_runs_of
from definitions import strict_json
from definitions.errors import UserError
from definitions.instances import Options, no_options


def read_folder(folder: Path) -> CanaryTable:
    """Return the canaries of all experiments below a folder of results.

    Raises:
        UserError: there is no experiment, or none of them has canaries.
    """
    paths = sorted(folder.glob("experiment.json")) or sorted(folder.glob("**/experiment.json"))
    if not paths:
        raise UserError(f"{folder}: there are no results", "a folder of results holds experiment.json and journal.sqlite", "give its path")
    canaries: list[Canary] = []
    unread: list[str] = []
    for path in paths:
        try:
            found = read_measured(path.parent)
        except UserError as error:
            if len(paths) == 1:
                raise
            unread.append(f"passed over: {error}")
            continue
        canaries += found.canaries.canaries if found is not None else ()
    small = [canary for canary in canaries if not canary.is_full]
    if not small:
        raise UserError(
            f"{folder}: no canaries were run",
            "\n  ".join([f"{len(paths)} experiments are there", *unread]),
            "run with --method CANARY first",
        )
    return CanaryTable(tuple(small), {"": tuple(unread)} if unread else {})


def regions_of(folder: Path) -> list[str]:
    """Return the regions whose prices count for the experiments below a folder; those that cannot be read are passed over."""
    found = set()
    for path in sorted(folder.glob("experiment.json")) or sorted(folder.glob("**/experiment.json")):
        with contextlib.suppress(UserError):
            found.add(load(path.parent).region)
    return sorted(found)


def options_of(folder: Path) -> Options:
    """Return the options of back-ends in the definition that was run last below a folder; those of none where none can be read."""
    for path in sorted((*folder.glob("experiment.json"), *folder.glob("**/experiment.json")), key=lambda one: -one.stat().st_mtime):
        with contextlib.suppress(UserError):
            return load(path.parent).spec.definition.block
    return no_options


@dataclass(frozen=True)
class MeasuredExperiment:
    """What an experiment measured.

    Args:
        code: what must be alike for runs of two experiments to be runs of one job.
        canaries: runs that a canary method asked for, full ones among them; `full`: full runs that another method asked for.
        region: whose prices their costs were computed with.
    """

    code: str
    canaries: CanaryTable
    full: CanaryTable
    region: str


def read_measured(folder: Path) -> MeasuredExperiment | None:
    """Return what one experiment measured; None where it was not started.

    Raises:
        UserError: the folder holds no experiment, or one that cannot be read.
    """
    stored = load(folder)
    if not stored.is_started:
        return None
    with stored.journal() as journal:
        state = stored.state(journal)
    definition = stored.spec.definition
    alike = definition.model_dump(mode="json", include={"script", "source_dir", "arguments", "inputs", "datasets", "fidelity"})
    code = strict_json.dumps([definition.name, stored.spec.backend, alike])
    return MeasuredExperiment(code, canaries_of(definition, state), full_runs_of(definition, state), stored.region)
