"""Goes on here with a launched run: its state is brought here, and what it does from now on is kept where it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from backends.sagemaker.aws.object_store import S3ObjectStore
from benchmarking.remote.launch_record import LaunchRecord
from benchmarking.remote.restoring import Restoration, restore
from definitions.errors import UserError
from launch.launching.place import RunPlace
from launch.launching.resuming import launched_run, lift_marks, refuse_live, standings
from launch.remote.sources import place_sources
from launch.request import RunRequest

SOURCES = ".launched"
"""Folder beside the tags, with the sources of launched runs that go on here."""


def take_over(place: RunPlace, request: RunRequest, say: Callable[[str], None]) -> RunRequest:
    """Bring a launched run here and return the request by which it goes on.

    Args:
        place: where it is kept.
        request: that resumes its tag.
        say: told what is done.

    Raises:
        UserError: there is no such run, a controller of it is at work, or the folder here holds another run.
    """
    what = f"--resume {place.tag} --take_over"
    if request.resume != place.tag:
        raise UserError("--take_over", "it goes on with a launched run", "say with which: --resume TAG --take_over")
    record = launched_run(place, what)
    refuse_live(place, standings(place, record), what)
    lift_marks(place)
    found = bring(place, record, request.results_dir)
    say(f"{place.tag}: {len(found.experiments)} experiments brought here, {found.records} new records")
    return replace(request, launched_remotely=place.uri)


def bring(place: RunPlace, record: LaunchRecord, results_dir: Path) -> Restoration:
    """Bring a run's state and its sources into a folder of results, so that it can go on from there.

    Args:
        place: where it is kept.
        record: of the launch.
        results_dir: folder of all results.
    """
    tag_folder = results_dir / place.tag
    found = restore(place.store, tag_folder)
    shared = S3ObjectStore(place.shared_uri, place.clients)
    place_sources(record, shared, tag_folder, results_dir / SOURCES)
    return found
