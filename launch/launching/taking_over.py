"""Goes on here with a launched run: its state is brought here, and what it does from now on is kept where it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from backends.stop_mark import lift
from benchmarking.remote.launch_record import from_json
from benchmarking.remote.layout import LAUNCH
from benchmarking.studies.record import StudyRecord
from definitions.errors import UserError
from definitions.program import command
from launch.launching.bringing import bring
from launch.launching.extending import extend, extends
from launch.launching.place import RunPlace
from launch.launching.resuming import launched_run, refuse_live, standings
from launch.request import RunRequest


def check_not_launched(tag_folder: Path, request: RunRequest) -> None:
    """Raise `UserError` where a run would go on here as if it were of this machine although it was launched: it may be at work elsewhere.

    Args:
        tag_folder: `<results>/<tag>`.
        request: that the run was planned of.
    """
    if request.launched_remotely or not (tag_folder / LAUNCH).is_file():
        return
    tag = tag_folder.name
    there, here = command("launch", "--resume", tag), command("run", "--resume", tag, "--take_over")
    raise UserError(
        f"tag {tag!r} was launched, and {tag_folder} has what was collected of it",
        "what is measured here would be unknown there, where a controller may be at work on it",
        f"`{there}` goes on there, `{here}` here; or use another tag",
    )


def as_it_was_launched(study: StudyRecord | None, tag_folder: Path) -> StudyRecord | None:
    """Return a launched study with the limit of money that it was launched with, of which its trials have what controllers leave."""
    if study is None:
        return None
    whole = from_json((tag_folder / LAUNCH).read_bytes(), str(tag_folder / LAUNCH)).money.max_cost
    return study if whole is None else replace(study, flags=replace(study.flags, max_cost=whole))


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
    lift(place.store)
    if extends(request):
        # There first: what is brought here is what is there.
        said = extend(place, record, request)
        if said:
            say(said)
        record = launched_run(place, what)
    found = bring(place, record, request.results_dir)
    say(f"{place.tag}: {len(found.experiments)} experiments brought here, {found.records} new records")
    return replace(request, launched_remotely=place.uri)
