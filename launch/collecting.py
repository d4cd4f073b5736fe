"""Brings runs from S3 into the folder of results, as runs of this machine leave them there."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from backends.object_store import ObjectStore
from benchmarking.archive.controllers import write_generations
from benchmarking.remote.launch_record import from_json
from benchmarking.remote.layout import LAUNCH, shared_root, tag_of
from benchmarking.remote.restoring import Restoration, restore
from benchmarking.remote.standing import SeenJob, look_at
from benchmarking.studies.files import read_study
from definitions.errors import UserError
from launch.remote.collected_sources import bring_sources
from launch.remote.run_bill import RunBill, bill_of, past_generations
from launch.remote.stores import clients_of, store_at

if TYPE_CHECKING:
    from backends.sagemaker.aws.clients import Clients

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


def note_bill(store: ObjectStore, tag_folder: Path, clients: Clients) -> RunBill | None:
    """Return the bill of a run that was collected, and keep with its results when its controllers were and what each cost.

    Args:
        store: of the run.
        tag_folder: into which it was collected.
        clients: of the region of its jobs.

    Returns:
        The bill; None for a run that has no controllers.

    Raises:
        OutriderError: the store refuses, or the folder cannot be written.
    """
    run = look_at(store, time.time(), lambda job: SeenJob())
    bill = bill_of(store, run, clients)
    if bill is not None:
        launched = tag_folder / LAUNCH
        write_generations(tag_folder, past_generations(from_json(launched.read_bytes(), str(launched)), run, bill))
    return bill


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
            store = store_at(name, environ)
            found_there = collect(store, store_at(shared_root(name), environ), tag_folder, say)
            note_bill(store, tag_folder, clients_of(environ))
            say(outcome_of_collecting(found_there, tag_folder))
            name = str(tag_folder)
        found.append(name)
    return found
