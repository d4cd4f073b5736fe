"""The report that a study leaves in its folder when it ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from definitions.errors import UserError
from launch.report_files import REPORT, write_report


def leave_report(tag_folder: Path, say: Callable[[str], None], warn: Callable[[str], None], *, is_asked_anew: bool = False) -> None:
    """Write the report of a study as it is now, unless it is there; that it cannot be written is said in a line, and loses nothing.

    Args:
        tag_folder: of the study.
        say: takes the line that names the report.
        warn: takes the line that says why there is none.
        is_asked_anew: whether something else is asked of it than before.
    """
    path = tag_folder / REPORT
    if not any(tag_folder.glob("*/*/experiment.json")):
        return  # all were refused, which was said
    if not is_asked_anew and is_current(tag_folder):
        say(f"report: {path}, as it was")
        return
    try:
        # What cannot be read the comparison has said.
        written = write_report([str(tag_folder)], tag_folder.parent, path, {}, lambda _: None)
    except UserError as error:
        warn(f"no report: {': '.join(part for part in (error.asked, error.fact) if part)}")
    except Exception as error:  # noqa: BLE001 - a fault in it is none of the study's, whose results are kept
        warn(f"no report: {type(error).__name__}: {error}; outrider report {tag_folder.name} tells more")
    else:
        say(f"report: {written.path}" + ("" if written.drawn else " (tables only: figures need pip install 'outrider[report]')"))


def is_current(tag_folder: Path) -> bool:
    """Return whether a study's report is there, and nothing was written into the journal of any of its experiments since."""
    try:
        written = (tag_folder / REPORT).stat().st_mtime_ns
        # Readers touch what lies beside a journal, but put nothing into it.
        files = [path.stat() for name in ("journal.sqlite", "journal.sqlite-wal") for path in tag_folder.glob(f"*/*/{name}")]
        return all(file.st_mtime_ns < written for file in files if file.st_size)
    except OSError:
        return False
