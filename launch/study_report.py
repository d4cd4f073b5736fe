"""What a study leaves at its end: its comparison, printed, and its report, both of experiments that are read once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.errors import EXIT_DONE, EXIT_FAILURES, UserError
from definitions.program import install_extra
from launch.report_files import REPORT, write_report

if TYPE_CHECKING:
    from launch.named_results import ReadDetails


@dataclass(frozen=True)
class StudyComparison:
    """What `outrider compare` says of a study.

    Args:
        text: it, for people.
        exit_code: of it.
        details: the experiments, where they were read with all that a report needs.
    """

    text: str
    exit_code: int
    details: ReadDetails | None


def compare_study(tag_folder: Path, *, with_details: bool) -> StudyComparison:
    """Return what `outrider compare` says of a study, and why nothing could be decided where the seeds are too few.

    Args:
        tag_folder: of the study.
        with_details: whether a report is made of it as well, so that all journals are read now, and once.

    Raises:
        UserError: there is nothing to compare.
    """
    from benchmarking.comparison.document import as_text, document
    from benchmarking.page.comparison import why_undecided
    from launch.comparison_flags import question_for
    from launch.named_results import named_details, named_runs

    named = ([tag_folder.name], tag_folder.parent, "compare")
    question = question_for(*named, {})
    details = named_details(*named) if with_details else None
    found = document(named_runs(*named) if details is None else [one.run for one in details.experiments], question)
    advice = why_undecided(found)
    return StudyComparison(as_text(found) + (f"\n\n{advice}" if advice else ""), EXIT_FAILURES if found.lacks_seeds else EXIT_DONE, details)


def leave_report(
    tag_folder: Path,
    say: Callable[[str], None],
    warn: Callable[[str], None],
    *,
    is_asked_anew: bool = False,
    details: ReadDetails | None = None,
) -> None:
    """Write the report of a study as it is now, unless it is there; that it cannot be written is said in a line, and loses nothing.

    Args:
        tag_folder: of the study.
        say: takes the line that names the report.
        warn: takes the line that says why there is none.
        is_asked_anew: whether something else is asked of it than before.
        details: its experiments, where they have been read already.
    """
    path = tag_folder / REPORT
    if not any(tag_folder.glob("*/*/experiment.json")):
        return  # all were refused, which was said
    if not is_asked_anew and is_current(tag_folder):
        say(f"report: {path}, as it was")
        return
    try:
        # What cannot be read the comparison has said.
        written = write_report([str(tag_folder)], tag_folder.parent, path, {}, lambda _: None, details)
    except UserError as error:
        warn(f"no report: {': '.join(part for part in (error.asked, error.fact) if part)}")
    except Exception as error:  # noqa: BLE001 - a fault in it is none of the study's, whose results are kept
        warn(f"no report: {type(error).__name__}: {error}; outrider report {tag_folder.name} tells more")
    else:
        say(f"report: {written.path}" + ("" if written.drawn else f" (tables only: figures need the extra, {install_extra('report')})"))


def is_current(tag_folder: Path) -> bool:
    """Return whether a study's report is there, and nothing was written into the journal of any of its experiments since."""
    try:
        written = (tag_folder / REPORT).stat().st_mtime_ns
        # Readers touch what lies beside a journal, but put nothing into it.
        files = [path.stat() for name in ("journal.sqlite", "journal.sqlite-wal") for path in tag_folder.glob(f"*/*/{name}")]
        return all(file.st_mtime_ns < written for file in files if file.st_size)
    except OSError:
        return False
