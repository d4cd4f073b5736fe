"""Which experiments of a study are over, and what they have spent."""

from __future__ import annotations

import contextlib

import pytest

from benchmarking.archive.stored import load
from benchmarking.controller.ending import Ending, Reason
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.studies.standing import final_ending, spent_usd
from definitions.errors import UserError
from definitions.schema import Budget
from tests.benchmarking.archive.stored_folders import change_identity, copied

UNDER = Budget(max_num_trials=4)
DUMPED = UNDER.model_dump(mode="json", exclude_none=True)


def ends(folder, reason, message="so it ended", code=0):
    with contextlib.closing(SqliteJournal(folder / "journal.sqlite")) as journal:
        journal.append(9.0, "end", {"reason": reason, "message": message, "exit_code": code})
        journal.commit()


@pytest.fixture
def folder(tmp_path):
    return copied(tmp_path, "repeated")


def test_one_that_never_began_is_open_and_has_spent_nothing(tmp_path):
    assert final_ending(tmp_path / "none", UNDER) is None
    assert spent_usd(tmp_path / "none") == 0.0


def test_one_that_ended_under_this_budget_is_over_and_says_how(folder):
    change_identity(folder, ended_under=DUMPED)
    ends(folder, "max_num_trials", "enough", 4)
    assert final_ending(folder, UNDER) == Ending(Reason.TRIALS, "enough", 4)
    assert final_ending(folder, Budget(max_num_trials=5)) is None
    assert final_ending(folder, Budget(max_num_trials=4, max_wallclock_time=9.0)) is None


@pytest.mark.parametrize("reason", ["interrupted", "stopped_alone", "disk_full", "a reason of a later version"])
def test_after_some_endings_there_is_something_left_to_do(folder, reason):
    change_identity(folder, ended_under=DUMPED)
    ends(folder, reason)
    assert final_ending(folder, UNDER) is None


def test_one_whose_last_record_is_no_end_goes_on(folder):
    change_identity(folder, ended_under=DUMPED)
    assert final_ending(folder, UNDER) is None


@pytest.mark.parametrize("name", ["experiment.json", "journal.sqlite"])
def test_what_is_damaged_is_not_over_so_that_who_runs_it_says_what_is_wrong(folder, name):
    change_identity(folder, ended_under=DUMPED)
    ends(folder, "max_num_trials")
    (folder / name).write_bytes(b"{")
    assert final_ending(folder, UNDER) is None
    with pytest.raises(UserError):
        spent_usd(folder)


def test_spent_is_what_jobs_cost_and_the_worst_case_of_those_whose_end_nobody_saw(folder):
    stored = load(folder)
    with stored.journal() as journal:
        state = stored.state(journal)
    closed = sum(trial.cost_usd or 0.0 for trial in state.trials.values())
    assert spent_usd(folder) == pytest.approx(closed + state.money.reserved_usd)
    assert spent_usd(folder) > 0.0
