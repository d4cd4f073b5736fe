"""The experiments of a run and how their jobs are called, by what this machine or the run's state in S3 knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backends.object_store import ObjectStore
from benchmarking.archive.identity import prefix_of
from benchmarking.archive.stored import read_identity
from benchmarking.remote.layout import STUDY, experiment_key, file_key, file_of
from benchmarking.studies.record import from_json
from definitions import strict_json
from definitions.errors import UserError

_IDENTITY = "experiment.json"


def experiments_in(tag: str, folders: Sequence[Path], stores: Sequence[ObjectStore]) -> dict[str, str]:
    """Return the beginning of the jobs' names of each experiment that has begun, by its folder below the tag's.

    Args:
        tag: of the run.
        folders: of its experiments on this machine.
        stores: where its state is kept, or would be; asked where this machine knows none.

    Raises:
        OutriderError: S3 refuses.
    """
    found: dict[str, str] = {}
    for folder in folders:
        known = _read(folder)
        if known is not None:
            found["/".join(folder.parts[-2:])] = prefix_of(known, tag)
    if found:
        return found
    for store in stores:
        names = [place[0] for one in store.list() if (place := file_of(one.key)) is not None and place[1] == _IDENTITY]
        for name in names:
            there = store.get(file_key(name, _IDENTITY))
            if there is not None:
                found[name] = prefix_of(strict_json.loads(there.body.decode()), tag)
    return found


def planned_in(stores: Sequence[ObjectStore]) -> list[str]:
    """Return the experiments that a launched study is to have, begun or not, each as its folder below the tag's.

    Args:
        stores: where its state is kept, or would be.

    Raises:
        OutriderError: S3 refuses, or study.json is damaged.
    """
    found: dict[str, None] = {}
    for store in stores:
        there = store.get(STUDY)
        if there is not None:
            study = from_json(there.body.decode(), f"{store.uri}/{STUDY}")
            backend = study.flags.backend
            found |= dict.fromkeys(experiment_key(one.benchmark, one.method, backend, one.number) for one in study.experiments)
    return [*found]


def _read(folder: Path) -> Mapping[str, Any] | None:
    try:
        return read_identity(folder)
    except UserError:
        return None
