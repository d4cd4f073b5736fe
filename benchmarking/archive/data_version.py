"""Which data an experiment reads: one short hash of all data sets of its definition, by which results of other data are told apart."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from benchmarking.archive.identity import ExperimentSpec
from definitions import strict_json
from definitions.backend_description import DataAccess
from definitions.backend_registry import backend_description
from definitions.datasets import Dataset, PathDataset
from definitions.scaling import datasets_of

MOST_BYTES = 16 * 2**20
"""Of a folder whose files are read; of a larger one names and sizes count, as reading it would take longer than many a trial."""


def data_version(spec: ExperimentSpec) -> str | None:
    """Return a hash of 12 hexadecimal digits of the data sets that an experiment's jobs may read; None where they read none that are known.

    Args:
        spec: of the experiment.
    """
    if not spec.definition.datasets or backend_description(spec.backend).data_access is DataAccess.NOTHING:
        return None
    facts = {name: _facts(dataset) for name, dataset in datasets_of(spec.definition).items()}
    return hashlib.sha256(strict_json.dumps(dict(sorted(facts.items()))).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _facts(dataset: Dataset) -> dict[str, Any]:
    """Return what tells one data set from another: a specification or an address as it is, a folder by what is in it, not where it is."""
    if isinstance(dataset, PathDataset):
        return {"format": dataset.format, "files": _files(Path(dataset.path))}
    return dataset.model_dump(mode="json")


def _files(folder: Path) -> list[list[Any]]:
    found = sorted((path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file())
    sizes = [path.stat().st_size for _, path in found]
    small = sum(sizes) <= MOST_BYTES
    return [[name, size, _content(path) if small else ""] for (name, path), size in zip(found, sizes, strict=True)]


def _content(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        # Who cannot read it here may read it in a job of another user: its size is known.
        return ""
