"""`outrider clean --tracking`: shows what trackers were told of a tag, and deletes it there."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, MutableMapping, Sequence
from pathlib import Path

from backends.tracked import Tracker, TrackerError
from benchmarking.archive.folder_lock import is_held
from benchmarking.archive.stored import experiments_of
from benchmarking.report.text import table
from benchmarking.tracking.registry import MLFLOW, check_tracker, make_tracker
from definitions.errors import EXIT_CLOUD, EXIT_DONE, UserError
from definitions.program import command
from definitions.results_folder import results_words


def delete_tracked(tag: str, kinds: Sequence[str], results_dir: Path, environ: MutableMapping[str, str], agree: Callable[[], None]) -> int:
    """Delete at trackers what they were told of a tag, and return the exit code.

    Args:
        tag: what experiments have in common.
        kinds: of trackers; MLflow where there is none.
        results_dir: where experiments of the tag may be running.
        environ: where the addresses and credentials of trackers are found.
        agree: asks whether what was shown may be deleted; raises `UserError` where it may not.

    Raises:
        UserError: an experiment of the tag is running, a tracker cannot be asked, or it was not agreed to.
    """
    named = tuple(dict.fromkeys(kinds)) or (MLFLOW,)
    for kind in named:
        check_tracker(kind, environ)
    live = [folder for folder in experiments_of(results_dir / tag) if is_held(folder)]
    if live:
        raise UserError(f"{tag} still runs: {live[0]}", "it would be told again", command("stop", tag, *results_words(results_dir)))
    failed = False
    trackers: list[tuple[str, Tracker]] = []
    rows: list[list[str | int]] = []
    for kind in named:
        # What clients of trackers print is not what was asked for.
        with contextlib.redirect_stdout(sys.stderr):
            try:
                tracker = make_tracker(kind, environ)
                held = tracker.holds(tag)
            except TrackerError as error:
                print(f"{kind} could not be asked, so nothing was deleted there: {error}", file=sys.stderr)
                failed = True
                continue
        if held:
            trackers.append((kind, tracker))
            rows += [[kind, name, count] for name, count in held.items()]
        else:
            print(f"{kind} has nothing of {tag}")
    if rows:
        print(table(["tracker", "experiment", "runs"], rows), flush=True)
        agree()
    for kind, tracker in trackers:
        with contextlib.redirect_stdout(sys.stderr):
            try:
                count = tracker.delete(tag)
            except TrackerError as error:
                print(f"{kind}: not all of {tag} could be deleted ({error}); the same command goes on", file=sys.stderr)
                failed = True
                continue
        print(f"{count} run{'s' * (count != 1)} of {tag} deleted at {kind}")
    return EXIT_CLOUD if failed else EXIT_DONE
