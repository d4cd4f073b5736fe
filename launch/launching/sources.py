"""What travels to a launched run by content: each benchmark's source as its trials get it, folders of data, tables of measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.sagemaker.code.packing import Package, pack
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.remote.launch_record import SentPackage, commit_state


@dataclass(frozen=True)
class Outgoing:
    """One package that is to travel.

    Args:
        package: its content.
        sent: what launch.json says of it.
    """

    package: Package
    sent: SentPackage


def code_key(package: Package) -> str:
    """Return where a package lies, relative to the root that all runs have in common: where the trials' staging looks for it too."""
    return f"code/{package.hash}/"


def outgoing_sources(specs: Sequence[ExperimentSpec]) -> dict[str, Outgoing]:
    """Return the source of each benchmark, packed as the back-ends of trials pack it.

    Raises:
        UserError: one cannot travel: it is too large, a link leads out of it, or its script is not there.
    """
    found: dict[str, Outgoing] = {}
    for spec in specs:
        definition = spec.definition
        folder = Path(definition.source_dir)
        if definition.name in found or definition.program is None or not folder.is_dir():
            continue
        package = pack(folder, definition.include)
        found[definition.name] = Outgoing(package, SentPackage(code_key(package), package.hash, str(folder), commit_state(folder)))
    return found
