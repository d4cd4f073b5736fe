"""How far an experiment of a study is: never begun, open, or at an end that running it again would not change."""

from __future__ import annotations

from pathlib import Path

from benchmarking.archive.stored import load, read_identity
from benchmarking.controller.ending import Ending, Reason
from benchmarking.controller.sqlite_journal import has_records, latest_record
from definitions.errors import UserError
from definitions.schema import Budget

_GOES_ON = frozenset({Reason.INTERRUPTED, Reason.ALONE, Reason.DISK_FULL})
"""Endings after which there is something left to do under the same budget."""


def final_ending(folder: Path, budget: Budget) -> Ending | None:
    """Return how an experiment ended for good; None where it never began, was cut short, or ended under another budget.

    Args:
        folder: of the experiment.
        budget: under which it would go on.
    """
    try:
        ended_under = read_identity(folder).get("ended_under") if (folder / "experiment.json").is_file() else None
        if ended_under is None or ended_under != budget.model_dump(mode="json", exclude_none=True):
            return None
        last = latest_record(folder / "journal.sqlite")
    except UserError:
        return None  # who runs it says what is wrong
    if last is None or last.kind != "end":
        return None
    try:
        reason = Reason(last.body["reason"])
    except ValueError:
        return None
    return None if reason in _GOES_ON else Ending(reason, str(last.body["message"]), int(last.body["exit_code"]))


def spent_usd(folder: Path) -> float:
    """Return the dollars that an experiment has spent, with the worst case of jobs that nobody has seen the end of; 0 where it never began.

    Raises:
        UserError: its journal cannot be read, so that nobody knows.
    """
    if not has_records(folder / "journal.sqlite"):
        return 0.0
    stored = load(folder)
    with stored.journal() as journal:
        state = stored.state(journal)
    return state.money.spent_usd + state.money.reserved_usd
