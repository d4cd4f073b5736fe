import pytest

from backends.failures import Cause
from benchmarking.controller.budget import Limit
from benchmarking.controller.ending import Reason, budget_use, ending, limit_reason, stop_cause
from definitions.schema import Budget

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
    ("interrupted", False, True): 130,
    ("interrupted", True, False): 130,
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


def test_each_limit_has_the_reason_of_its_name():
    assert {limit: str(limit_reason(limit)) for limit in Limit} == {limit: str(limit) for limit in Limit}


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


def test_what_is_stopped_with_an_experiment_has_the_cause_of_its_end():
    causes = {reason: stop_cause(reason) for reason in (Reason.TIME, Reason.FAILURES, Reason.ALIKE, Reason.INTERRUPTED)}
    assert list(causes.values()) == [Cause.BUDGET, Cause.BUDGET, Cause.ALIKE, Cause.INTERRUPTED]
