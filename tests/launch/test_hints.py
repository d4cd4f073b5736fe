"""How to go on is one line that does go on: it raises what ended the experiments, and nothing that did not."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backends.failures import Cause
from benchmarking.controller.ending import Reason
from definitions.errors import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES, EXIT_INTERRUPTED, EXIT_USAGE
from definitions.schema import Budget
from launch.hints import hint_for, is_called_wrongly

RESUME = "outrider run --resume t"


def outcome(reason, code=EXIT_DONE, failures=0, causes=(), message="", **budget):
    trials = {number: SimpleNamespace(cause=cause, message=message) for number, cause in enumerate(causes)}
    result = SimpleNamespace(
        ending=SimpleNamespace(reason=reason),
        spec=SimpleNamespace(definition=SimpleNamespace(budget=Budget(**budget))),
        state=SimpleNamespace(trials=trials, counted_failures=failures),
    )
    return SimpleNamespace(exit_code=code, reason=str(reason), result=result)


def not_run(reason, code):
    return SimpleNamespace(exit_code=code, reason=reason, result=None)


def test_twice_the_limit_that_ended_it_is_proposed():
    assert hint_for([outcome(Reason.TIME, max_wallclock_time=45)], RESUME) == f"resume with more: {RESUME} --max_wallclock_time 90"
    ran = outcome(Reason.COST, max_cost=0.25, causes=[None])
    assert hint_for([ran], RESUME) == f"resume with more: {RESUME} --max_cost 0.5"


def test_a_number_of_trials_that_was_asked_for_and_reached_needs_no_more_one_that_cut_a_list_short_does():
    done = outcome(Reason.TRIALS, max_num_trials=20)
    assert hint_for([done], RESUME) == ""
    short = outcome(Reason.TRIALS, EXIT_BUDGET, max_num_trials=20)
    assert hint_for([done, short], RESUME) == f"resume with more: {RESUME} --max_num_trials 40"


def test_where_several_limits_ended_experiments_each_is_raised_and_counted():
    by_time = [outcome(Reason.TIME, max_wallclock_time=limit, max_num_trials=200) for limit in (45, 60, 45)]
    by_trials = [outcome(Reason.TRIALS, max_wallclock_time=45, max_num_trials=200)] * 2
    assert hint_for([*by_trials, *by_time, outcome(Reason.EXHAUSTED)], RESUME) == (
        "experiments ended 2 by max_num_trials, 3 by max_wallclock_time; "
        f"resume with more: {RESUME} --max_num_trials 400 --max_wallclock_time 120"
    )


def test_of_a_share_twice_what_all_have_is_proposed():
    study = SimpleNamespace(flags=SimpleNamespace(max_cost=8.0))
    found = hint_for([outcome(Reason.COST, max_cost=1.0, causes=[None])], RESUME, study)
    assert found == f"resume with more: {RESUME} --max_cost 16"


def test_a_limit_that_no_trial_fits_under_is_to_be_looked_up_first():
    assert "--dry_run` says how much" in hint_for([outcome(Reason.COST, EXIT_BUDGET, max_cost=0.1)], RESUME)


@pytest.mark.parametrize(
    ("one", "hint"),
    [
        (outcome(Reason.INTERRUPTED, EXIT_INTERRUPTED), f"resume with: {RESUME}"),
        (outcome(Reason.ALONE, EXIT_INTERRUPTED), f"resume with: {RESUME}"),
        (outcome(Reason.DISK_FULL, EXIT_BUDGET), f"make room, then resume with: {RESUME}"),
        (not_run("in use", EXIT_USAGE), f"once that is mended, resume with: {RESUME}"),
        (not_run("not begun", EXIT_FAILURES), ""),
        (outcome(Reason.EXHAUSTED), ""),
    ],
)
def test_what_was_not_ended_by_a_limit_goes_on_as_it_is(one, hint):
    assert hint_for([one], RESUME) == hint


def test_the_gravest_end_is_what_is_to_be_mended():
    ended = [outcome(Reason.TIME, max_wallclock_time=45), outcome(Reason.ALIKE, EXIT_FAILURES, causes=[Cause.SCRIPT_ERROR])]
    assert hint_for(ended, RESUME) == "mend the script, then start anew with another tag"


def test_failures_beyond_their_budget_may_be_gone_on_with_by_as_many_more():
    failed = outcome(Reason.FAILURES, EXIT_FAILURES, failures=4, causes=[Cause.SCRIPT_ERROR], max_failures=3)
    assert hint_for([failed], RESUME).endswith(f"go on in spite of the failures with: {RESUME} --max_failures 7")


def test_what_a_script_does_not_take_is_mended_in_the_definition():
    wrong = outcome(Reason.ALIKE, EXIT_FAILURES, causes=[Cause.SCRIPT_ERROR], message="exit code 2\n  the script does not know --lr")
    assert is_called_wrongly([wrong.result])
    assert hint_for([wrong], RESUME).startswith("mend the definition, then start anew")
    full = outcome(Reason.NONE_SUCCEEDED, EXIT_FAILURES, causes=[Cause.OUT_OF_MEMORY])
    assert hint_for([full], RESUME).startswith("search smaller settings or larger machines")
