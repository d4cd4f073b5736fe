"""Brings a launched run into a folder of results, so that it can go on from there."""

from __future__ import annotations

from pathlib import Path

from benchmarking.remote.launch_record import LaunchRecord
from benchmarking.remote.restoring import Restoration, restore
from launch.launching.place import RunPlace
from launch.remote.sources import place_sources

SOURCES = ".launched"
"""Folder beside the tags, with the sources of launched runs."""


def bring(place: RunPlace, record: LaunchRecord, results_dir: Path) -> Restoration:
    """Bring a run's state and its sources into a folder of results, so that it can go on from there.

    Args:
        place: where it is kept.
        record: of the launch.
        results_dir: folder of all results.
    """
    tag_folder = results_dir / place.tag
    found = restore(place.store, tag_folder)
    place_sources(record, place.shared, tag_folder, results_dir / SOURCES)
    return found
