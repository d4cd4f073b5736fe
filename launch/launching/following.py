"""Follows a launched run to its end, then brings its results here and says what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchmarking.remote.launch_record import LaunchRecord
from definitions.errors import EXIT_INTERRUPTED, UserError
from launch.collecting import collect, note_bill
from launch.launching.place import RunPlace
from launch.launching.watching import Watch
from launch.remote.run_bill import bill_text
from launch.study_report import compare_study, leave_report

_EMULATED_S = 0.5


def watch_of(place: RunPlace, record: LaunchRecord, say: Callable[[str], None]) -> Watch:
    """Return what follows a run, as often as its service can be asked."""
    every_s = _EMULATED_S if place.clients.emulated else Watch.every_s
    return Watch(place, record, say, time.sleep, time.monotonic, every_s)


def follow(place: RunPlace, record: LaunchRecord, results_dir: Path, say: Callable[[str], None]) -> int:
    """Follow a run to its end, bring its results, print how its methods compare; return the exit code.

    Args:
        place: where it is kept.
        record: of the launch.
        results_dir: folder of all results here.
        say: takes each line of its controllers.
    """
    try:
        code = watch_of(place, record, say).until_over()
    except KeyboardInterrupt:
        status, stop = place.found_by("status", place.tag), place.found_by("stop", "--tag", place.tag)
        say(f"it goes on: `{status}` shows how it stands, `{stop}` ends it")
        return EXIT_INTERRUPTED
    tag_folder = results_dir / place.tag
    try:
        collect(place.store, place.shared, tag_folder, say)
        bill = note_bill(place.store, tag_folder, place.clients)
        print(compare_study(tag_folder, with_details=False).text)
        if bill is not None:
            print(bill_text(bill))
        leave_report(tag_folder, print, say, is_asked_anew=False)
    except UserError as error:
        say(f"nothing to compare: {error}")
    print(f"\nresults: {tag_folder}", flush=True)
    return EXIT_INTERRUPTED if code is None else code
