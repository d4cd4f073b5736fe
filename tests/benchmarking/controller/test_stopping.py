from backends.failures import Cause, Outcome
from benchmarking.controller.budget import Limit
from benchmarking.controller.end_request import EndRequest
from benchmarking.controller.ending import Reason
from benchmarking.controller.stopping import limit_reason, nothing_left, stop_cause, why_stopping
from definitions.schema import Budget
from tests.benchmarking.controller.scripted_state import Script


def test_each_limit_has_the_reason_of_its_name():
    assert {limit: str(limit_reason(limit)) for limit in Limit} == {limit: str(limit) for limit in Limit}


def test_what_is_stopped_with_an_experiment_has_the_cause_of_its_end():
    causes = {reason: stop_cause(reason) for reason in (Reason.TIME, Reason.FAILURES, Reason.ALIKE, Reason.INTERRUPTED, Reason.ALONE)}
    assert list(causes.values()) == [Cause.BUDGET, Cause.BUDGET, Cause.ALIKE, Cause.INTERRUPTED, Cause.ALONE]


def failing(*messages, running=0):
    """Return a state whose first trials failed with these messages; `running` more are in flight."""
    script = Script()
    for trial in range(len(messages) + running):
        script.suggest(trial)
        script.start(trial)
    for trial, message in enumerate(messages):
        script.close(f"j{trial}-1", Outcome.FAILED, Cause.SCRIPT_ERROR, status="failed", counts=True, message=message)
    return script


def why(script, *, max_failures=10, max_wallclock_time=None, interrupted=False, elapsed_s=0.0, n_workers=2):
    budget = Budget(max_failures=max_failures, max_wallclock_time=max_wallclock_time)
    return why_stopping(script.state, budget, EndRequest(interrupted), elapsed_s=elapsed_s, n_workers=n_workers)


def test_a_fresh_experiment_goes_on_until_somebody_interrupts_it():
    assert why(Script()) is None
    assert why(Script(), interrupted=True) == (Reason.INTERRUPTED, "")


def test_an_interruption_comes_before_every_other_reason():
    assert why(failing("same", "same"), interrupted=True, max_failures=0) == (Reason.INTERRUPTED, "")


def test_as_many_equal_failures_as_there_are_workers_end_it():
    assert why(failing("same")) is None
    assert why(failing("same", "same", running=1)) == (Reason.ALIKE, "same")
    assert why(failing("same", "same"), n_workers=3) is None


def test_one_trial_that_did_not_fail_shows_that_not_all_fail_alike():
    script = failing("same", "same", running=1)
    script.close("j2-1", status="completed")
    assert why(script) is None


def test_failures_beyond_their_limit_end_it_with_the_last_message():
    assert why(failing("a", "b"), max_failures=2) is None
    assert why(failing("a", "b", "c"), max_failures=2) == (Reason.FAILURES, "c")


def test_time_ends_it_without_a_message():
    assert why(failing("a"), max_wallclock_time=60, elapsed_s=59.9) is None
    assert why(failing("a"), max_wallclock_time=60, elapsed_s=60.0) == (Reason.TIME, "")


def left(script, *, now=100.0, max_num_trials=None, is_computing=False):
    return nothing_left(script.state, Budget(max_num_trials=max_num_trials), now, is_computing=is_computing)


def test_where_the_next_trial_is_there_but_did_not_start_money_is_short():
    script = Script()
    script.suggest(0)
    assert left(script) == (Reason.COST, "")
    assert left(script, is_computing=True) is None  # it may be asked for another
    assert left(failing("a"), max_num_trials=1) == (Reason.TRIALS, "")
    assert left(failing("a"), max_num_trials=2) == (Reason.COST, "")


def test_a_search_that_is_through_is_exhausted_and_one_without_any_trial_had_nothing_valid():
    script = failing("a")
    script.suggest(None)
    assert left(script) == (Reason.EXHAUSTED, "")
    nothing = Script()
    nothing.suggest(None, skipped=3, reason="ruled out by valid: x > 2")
    assert left(nothing) == (Reason.NOTHING_VALID, "ruled out by valid: x > 2")


def waiting_until(retry_at):
    script = Script()
    script.suggest(0)
    script.start(0)
    script.close("j0-1", Outcome.FAILED, Cause.SPOT, status="waiting", retry_at=retry_at)
    return script


def test_a_retry_that_is_due_later_is_waited_for_and_one_that_is_due_and_did_not_start_is_too_dear():
    assert left(waiting_until(100.5)) is None
    assert left(waiting_until(100.0)) == (Reason.COST, "")


def test_a_retry_that_is_due_while_its_kind_of_jobs_is_refused_until_later_is_waited_for():
    script = waiting_until(100.0)
    script.state.doors.until["ml.m5.large"] = 130.0
    assert left(script) is None
    assert left(script, now=130.0) == (Reason.COST, "")


def test_an_interrupted_trial_that_did_not_start_again_is_too_dear():
    script = Script()
    script.suggest(0)
    script.suggest(None)
    script.start(0)
    script.close("j0-1", Outcome.STOPPED, Cause.INTERRUPTED, status="interrupted")
    assert left(script) == (Reason.COST, "")


def test_a_service_that_takes_no_jobs_until_later_is_waited_for():
    script = Script()
    script.suggest(0)
    script.state.doors.until[""] = 130.0
    assert left(script) is None
    assert left(script, now=130.0) == (Reason.COST, "")
