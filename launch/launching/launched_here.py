"""What a folder of this machine says of its run having been launched. Every run asks, so that it imports next to nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarking.remote.layout import LAUNCH
from definitions.errors import UserError
from definitions.program import command

if TYPE_CHECKING:
    from benchmarking.studies.record import StudyRecord
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
    """Return a launched study with the limit of money that it was launched with, of which its trials have what controllers leave.

    One whose state is kept elsewhere without a launch has no such record, and stays as it is.
    """
    if study is None or not (tag_folder / LAUNCH).is_file():
        return study
    from benchmarking.remote.launch_record import from_json

    whole = from_json((tag_folder / LAUNCH).read_bytes(), str(tag_folder / LAUNCH)).money.max_cost
    return study if whole is None else replace(study, flags=replace(study.flags, max_cost=whole))
