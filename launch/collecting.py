"""Brings runs from S3 into the folder of results, as runs of this machine leave them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from backends.object_store import ObjectStore
from benchmarking.remote.launch_record import from_json
from benchmarking.remote.layout import LAUNCH, shared_root, tag_of
from benchmarking.remote.restoring import Restoration, restore
from benchmarking.studies.files import read_study
from definitions.errors import UserError
from launch.remote.collected_sources import bring_sources
from launch.remote.stores import store_at

Say = Callable[[str], None]


def collect(store: ObjectStore, shared: ObjectStore, tag_folder: Path, say: Say) -> Restoration:
    """Bring a run into the folder of its tag, what is new of it since the last time; it may be running.

    Args:
        store: of the run.
        shared: the root that all runs have in common, with the sources.
        tag_folder: `<results>/<tag>`.
        say: takes a line for each experiment that could not be brought.

    Raises:
        UserError: there is no such run, the folder holds another one, or nothing of it could be brought.
        CloudError: the store refuses.
    """
    found = restore(store, tag_folder, keep_longer=True, problems_end=False)
    for experiment, problem in found.problems.items():
        say(f"not collected: {experiment}: {problem}")
    if found.problems and len(found.problems) == len(found.experiments):
        raise UserError(f"{store.uri}: nothing of it could be collected", "", "mend what is said above, then collect again")
    from benchmarking.results import collate

    launched = tag_folder / LAUNCH
    if launched.is_file():
        bring_sources(from_json(launched.read_bytes(), str(launched)), shared, tag_folder, say)
    collate(tag_folder)
    return found


def outcome_of_collecting(found: Restoration, tag_folder: Path) -> str:
    """Return in a line what collecting came to."""
    study = read_study(tag_folder)
    begun = len(found.experiments)
    of = f" of {len(study.experiments)}" if study is not None and len(study.experiments) > begun else ""
    fetched = f"{found.records} records and {found.files} files came" if found.records or found.files else "nothing is new"
    return f"{tag_folder}: {begun}{of} experiments; {fetched}"


def with_collected(named: Sequence[str], results_dir: Path, environ: Mapping[str, str], say: Say) -> list[str]:
    """Return names of results on this machine: what is named as `s3://BUCKET/PREFIX/runs/TAG` is collected, all else is as it was.

    Args:
        named: tags, folders and URIs.
        results_dir: folder of results.
        environ: of this program.
        say: takes what there is to say of it.

    Raises:
        UserError, CloudError: see `collect`.
    """
    found = []
    for name in named:
        if name.startswith("s3://"):
            tag_folder = results_dir / tag_of(name)
            found_there = collect(store_at(name, environ), store_at(shared_root(name), environ), tag_folder, say)
            say(outcome_of_collecting(found_there, tag_folder))
            name = str(tag_folder)
        found.append(name)
    return found
