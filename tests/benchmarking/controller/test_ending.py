import pytest

from backends.failures import Cause, Outcome
from benchmarking.controller.ending import Reason, budget_use, ending, final_ending, final_reason
from definitions.schema import Budget
from tests.benchmarking.controller.scripted_state import Script

# (reason, finite, unfinished) -> exit code, by design: 0 done, 2 wrong use, 3 failures, 4 a list cut short, 130 interrupted
CODES = {
    ("exhausted", False, False): 0,
    ("exhausted", True, False): 0,
    ("nothing_valid", False, False): 2,
    ("nothing_valid", True, False): 2,
    ("max_num_trials", False, True): 0,
    ("max_num_trials", True, True): 4,
    ("max_num_trials", True, False): 0,
    ("max_wallclock_time", False, True): 0,
    ("max_wallclock_time", True, True): 4,
    ("max_wallclock_time", True, False): 0,
    ("max_cost", False, True): 0,
    ("max_cost", True, True): 4,
    ("max_failures", False, True): 3,
    ("max_failures", True, False): 3,
    ("all_fail_alike", False, True): 3,
    ("all_fail_alike", True, True): 3,
    ("every_trial_failed", False, True): 3,
    ("every_trial_failed", True, False): 3,
    ("disk_full", False, True): 4,
    ("disk_full", True, True): 4,
    ("interrupted", False, True): 130,
    ("interrupted", True, False): 130,
    ("detached", False, True): 6,
    ("detached", True, True): 6,
    ("stopped_alone", False, True): 130,
}


@pytest.mark.parametrize(("reason", "finite", "unfinished"), CODES)
def test_exit_codes(reason, finite, unfinished):
    assert ending(Reason(reason), finite=finite, unfinished=unfinished, trials=7).exit_code == CODES[reason, finite, unfinished]


def test_every_reason_is_tested():
    assert {reason for reason, _, _ in CODES} == set(Reason)


@pytest.mark.parametrize("reason", [Reason.COST, Reason.TIME])
def test_a_budget_that_allows_nothing_is_no_success_even_of_an_open_ended_search(reason):
    assert ending(reason, finite=False, unfinished=True, trials=0).exit_code == 4


@pytest.mark.parametrize("reason", [Reason.COST, Reason.TIME, Reason.TRIALS])
def test_an_open_ended_search_that_measured_nothing_is_no_success_however_its_budget_ended(reason):
    assert ending(reason, finite=False, unfinished=True, trials=2, measured=False).exit_code == 3
    assert ending(reason, finite=False, unfinished=True, trials=2, measured=True).exit_code == 0
    assert ending(reason, finite=True, unfinished=True, trials=2, measured=False).exit_code == 4


def test_the_sentence_has_number_and_detail():
    assert ending(Reason.EXHAUSTED, finite=True, unfinished=False, trials=6).message == "all 6 trials are done"
    found = ending(Reason.ALIKE, finite=False, unfinished=True, trials=2, detail="KeyError: 'x'")
    assert found.message == "the first 2 trials all fail alike: KeyError: 'x'"


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (Reason.TIME, "max_wallclock_time is over after 4 trials (max_wallclock_time = 9 s, 9.2 s used)"),
        (Reason.COST, "max_cost allows no further trial after 4 (max_cost = $5, $4.75 spent)"),
        (Reason.FAILURES, "the failure budget is spent after 4 trials (max_failures = 2, 3 trials failed)"),
        (Reason.TRIALS, "max_num_trials is reached after 4 trials (max_num_trials = 4, 4 started)"),
        (Reason.INTERRUPTED, "interrupted after 4 trials"),
    ],
)
def test_an_end_by_a_budget_says_which_its_value_and_what_was_used(reason, said):
    budget = Budget(max_wallclock_time=9, max_cost=5, max_failures=2, max_num_trials=4)
    used = budget_use(reason, budget, trials=4, failures=3, elapsed_s=9.21, spent_usd=4.75)
    assert ending(reason, finite=False, unfinished=True, trials=4, used=used).message == said


def failed_trials(n, finished=None):
    script = Script()
    for trial in range(n):
        script.suggest(trial)
        script.start(trial)
    for trial in range(n if finished is None else finished):
        script.close(f"j{trial}-1", Outcome.FAILED, Cause.SCRIPT_ERROR, status="failed", counts=True, message=f"m{trial}")
    return script


@pytest.mark.parametrize("reason", [Reason.EXHAUSTED, Reason.TRIALS])
def test_where_every_trial_failed_that_is_the_reason_with_the_last_message(reason):
    assert final_reason(reason, "", failed_trials(3).state) == (Reason.NONE_SUCCEEDED, "3 x script_error; the last: m2")


@pytest.mark.parametrize("reason", [Reason.EXHAUSTED, Reason.TRIALS])
def test_trials_that_need_too_much_memory_or_diverge_are_no_success_though_they_do_not_count(reason):
    script = Script()
    ends = [("infeasible", Cause.OUT_OF_MEMORY), ("diverged", Cause.DIVERGED), ("infeasible", Cause.OUT_OF_MEMORY)]
    for trial, (status, cause) in enumerate(ends):
        script.suggest(trial)
        script.start(trial)
        script.report(f"j{trial}-1", loss=0.5)
        script.close(f"j{trial}-1", Outcome.FAILED, cause, status=status, message=f"m{trial}")
    reason, detail = final_reason(reason, "", script.state)
    assert (reason, detail) == (Reason.NONE_SUCCEEDED, "2 x out_of_memory, 1 x diverged; the last: m2")
    assert final_ending(reason, detail, script.state, finite=True).exit_code == 3
    # What they had reported before is no result, whichever budget ended it.
    found = final_ending(Reason.TIME, "", script.state, finite=False)
    assert (found.exit_code, found.message.endswith("2 x out_of_memory, 1 x diverged; the last: m2")) == (3, True)


def test_a_trial_that_is_left_or_another_reason_leaves_the_reason_as_it_was():
    assert final_reason(Reason.TRIALS, "d", failed_trials(3, finished=2).state) == (Reason.TRIALS, "d")
    assert final_reason(Reason.TIME, "d", failed_trials(3).state) == (Reason.TIME, "d")
    assert final_reason(Reason.EXHAUSTED, "d", Script().state) == (Reason.EXHAUSTED, "d")


def done_trial():
    script = Script()
    script.suggest(0)
    script.start(0)
    script.report("j0-1", loss=0.5)
    script.close("j0-1", status="completed")
    return script


def test_a_list_of_which_nothing_is_left_is_done_and_one_that_goes_on_is_cut_short():
    script = done_trial()
    assert final_ending(Reason.COST, "", script.state, finite=True).exit_code == 4  # who is asked next might suggest more
    script.suggest(None)
    assert final_ending(Reason.COST, "", script.state, finite=True).exit_code == 0


@pytest.mark.parametrize("left", ["queue", "block", "interrupted", "waiting"])
def test_whatever_is_left_of_a_list_makes_it_unfinished(left):
    script = done_trial()
    script.suggest(None)
    getattr(script.state, left).append((9.0, 1) if left == "waiting" else (1, 0) if left == "queue" else 1)
    assert final_ending(Reason.COST, "", script.state, finite=True).exit_code == 4


def test_trials_that_fail_alike_are_counted_without_those_stopped_for_it():
    state = failed_trials(3, finished=2).state
    assert final_ending(Reason.ALIKE, "m", state, finite=False).message == "the first 2 trials all fail alike: m"
    assert final_ending(Reason.INTERRUPTED, "", state, finite=False).message == "interrupted after 3 trials"


def test_a_method_that_could_not_decide_ends_as_a_list_cut_short_and_says_why():
    script = done_trial()
    undecided = final_ending(Reason.EXHAUSTED, "", script.state, finite=True, conclusion=(False, "not decided: a or b"))
    assert (undecided.exit_code, undecided.message) == (4, "all 1 trials are done: not decided: a or b")
    decided = final_ending(Reason.EXHAUSTED, "", script.state, finite=True, conclusion=(True, "a is best"))
    assert (decided.exit_code, decided.message) == (0, "all 1 trials are done: a is best")


def test_an_open_search_whose_trials_measured_nothing_is_a_failure():
    assert final_ending(Reason.TIME, "", failed_trials(2).state, finite=False).exit_code == 3
    assert final_ending(Reason.TIME, "", done_trial().state, finite=False).exit_code == 0
