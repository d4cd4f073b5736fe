"""What travels to a launched run by content: each benchmark's source as its trials get it, folders of data, tables of measurements."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.sagemaker.code.packing import Package, pack
from backends.sagemaker.code.source_files import Entry
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.remote.launch_record import SentPackage, commit_state
from definitions.backend_description import DataAccess
from definitions.backend_registry import backend_description
from definitions.datasets import PathDataset
from definitions.errors import UserError
from definitions.models import OnnxModel, TorchScriptModel


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


def outgoing_data(specs: Sequence[ExperimentSpec]) -> dict[str, Outgoing]:
    """Return the folders of data sets and the files that definitions name by their paths here, each with all that is in it.

    Raises:
        UserError: one is not there, or cannot be read.
    """
    found: dict[str, Outgoing] = {}
    for spec in specs:
        for path in _paths(spec):
            if str(path) not in found:
                package = _packed(path)
                found[str(path)] = Outgoing(package, SentPackage(code_key(package), package.hash, str(path)))
    return found


def _paths(spec: ExperimentSpec) -> Iterator[Path]:
    definition, described = spec.definition, backend_description(spec.backend)
    if described.data_access is not DataAccess.NOTHING:
        yield from (Path(dataset.path) for dataset in definition.datasets.values() if isinstance(dataset, PathDataset))
    yield from (Path(model.path) for model in definition.models.values() if isinstance(model, (OnnxModel, TorchScriptModel)))
    block = definition.block(spec.backend, described.block)
    yield from (Path(value) for name in described.paths if (value := getattr(block, name)))


def _packed(path: Path) -> Package:
    try:
        files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
        if not files:
            raise UserError(f"{path}: there is no such file, nor a folder with any", "the study reads it", "check the path")
        entries = [_entry(one, one.name if one == path else one.relative_to(path).as_posix()) for one in files]
    except OSError as error:
        raise UserError(f"{path}: it cannot be read, and so not travel", str(error), "check its permissions") from error
    content = "\0".join(f"{entry.name}\0{entry.digest}" for entry in entries)
    return Package(hashlib.sha256(f"data\0{content}".encode("utf-8", "surrogateescape")).hexdigest()[:16], tuple(entries))


def _entry(path: Path, name: str) -> Entry:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Entry(name, path, "", 0o644, path.stat().st_size, digest)
