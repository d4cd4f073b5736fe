"""Brings the sources of a launched run to its collected experiments, as a run of this machine keeps them beside what they measured."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from backends.object_store import ObjectStore
from benchmarking.archive.code_version import code_version
from benchmarking.archive.kept_source import keep_source, source_folder
from benchmarking.archive.stored import StoredExperiment, experiments_of, load
from benchmarking.controller.sqlite_journal import latest_records
from benchmarking.remote.launch_record import LaunchRecord
from definitions.errors import UserError
from definitions.files import write_atomically
from launch.remote.sources import placed_source, pointed

_SOURCE = re.compile(r"^source_dir: (.*?)\s*(#.*)?$", re.MULTILINE)


def bring_sources(record: LaunchRecord, shared: ObjectStore, tag_folder: Path, say: Callable[[str], None]) -> None:
    """Keep the sources of a run below its experiments, and have their definitions name them by where they were launched.

    In a controller a source is in a folder of its own, which is nowhere else. What is here already is not fetched again.

    Args:
        record: of the launch.
        shared: the root that all runs have in common.
        tag_folder: with the collected run.
        say: takes what cannot be brought, which nothing that was measured depends on.
    """
    found = [load(folder) for folder in experiments_of(tag_folder)]
    for stored in found:
        sent = record.sources.get(stored.spec.definition.name)
        if sent is not None and sent.source_dir:
            _point(stored.folder / "definition.yaml", sent.source_dir)
    for name, experiments in _lacking(found, record).items():
        with tempfile.TemporaryDirectory() as scratch:
            try:
                there = placed_source(name, record.sources[name], shared, Path(scratch))
            except UserError as error:
                say(f"the source of {name} is not kept with the results: {error}")
                continue
            for stored in experiments:
                _keep(stored, there)


def _point(path: Path, source_dir: str) -> None:
    text = path.read_text(encoding="utf-8")
    named = _SOURCE.search(text)
    # One that is on this machine is where somebody goes on with it.
    if named is None or not Path(named[1].strip("'\"")).is_dir():
        changed = pointed(text, Path(source_dir))
        if changed != text:
            write_atomically(path, changed)


def _lacking(found: Sequence[StoredExperiment], record: LaunchRecord) -> Mapping[str, list[StoredExperiment]]:
    """Return the experiments whose source is not kept here, by their benchmarks."""
    lacking: dict[str, list[StoredExperiment]] = {}
    for stored in found:
        name, code = stored.spec.definition.name, _code(stored)
        if name in record.sources and code and not source_folder(stored.folder, code).is_dir():
            lacking.setdefault(name, []).append(stored)
    return lacking


def _code(stored: StoredExperiment) -> str:
    """Return the version of the code that an experiment measured last; empty where that is not known."""
    path = stored.folder / "journal.sqlite"
    return next((str(one.body["code"]) for one in latest_records(path, "code")), "") if path.is_file() else ""


def _keep(stored: StoredExperiment, there: Path) -> None:
    resolved = stored.spec.resolved
    moved = dataclasses.replace(resolved, definition=resolved.definition.model_copy(update={"source_dir": str(there)}))
    spec = dataclasses.replace(stored.spec, resolved=moved)
    version = code_version(spec)
    # Of a run that went on with another source this is not what was measured last.
    if version.code == _code(stored):
        keep_source(spec, version)
