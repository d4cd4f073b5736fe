import math

import pytest

from backends.events import Accepted, Closed, Ended, Rejected, Reported, Restarted, Scope, Started
from backends.failures import Cause, Outcome
from backends.job_spec import JobSpec
from benchmarking.controller.adopting import adopted_jobs
from benchmarking.controller.aggregation import Tell
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.journal import Record
from benchmarking.controller.retry_policy import TrialStatus
from tests.benchmarking.controller.scripted_state import Script


def test_a_trial_from_suggestion_to_its_end():
    script = Script()
    script.suggest(0, x=4)
    assert list(script.state.queue) == [(0, 0)]
    script.start(0)
    assert (script.state.busy, script.state.money.reserved_usd) == (1, 0.5)
    script.event(Accepted("j0-1", 0.5))
    script.event(Started("j0-1", 1.0))
    script.report("j0-1", loss=0.5, note="text")
    script.report("j0-1", loss=0.75)
    script.close("j0-1", status="completed")
    trial = script.state.trials[0]
    assert (trial.status, trial.configuration, trial.starts, trial.reports) == (TrialStatus.COMPLETED, {"x": 4}, 1, 2)
    assert (trial.last, trial.best) == ({"loss": 0.75, "note": "text"}, {"loss": 0.5})
    assert (trial.started_at, trial.ended_at, trial.duration_s, trial.billable_s, trial.cost_usd) == (1.0, 3.0, 2.0, 2.5, 0.25)
    assert (script.state.busy, script.state.money.reserved_usd, script.state.money.spent_usd) == (0, 0.0, 0.25)
    assert (script.state.finished, script.state.succeeded, script.state.jobs) == (1, 1, {})
    assert [(tell.call, tell.result) for tell in script.state.due_tells] == [("complete", {"loss": 0.75})]


@pytest.mark.parametrize(("mode", "best"), [("min", 0.25), ("max", 4.0)])
def test_the_best_value_follows_the_mode_and_ignores_nan(mode, best):
    script = Script(objectives={"loss": mode})
    script.suggest(0)
    script.start(0)
    for loss in (math.nan, 1.0, math.nan, "4.0", 0.25, None, "text", True):
        script.report("j0-1", loss=loss)
    assert script.state.trials[0].best == {"loss": best}


def test_a_slot_is_free_at_ended_and_counted_once():
    script = Script()
    for trial in (0, 1):
        script.suggest(trial)
        script.start(trial)
    script.event(Ended("j0-1", 3.0))
    assert script.state.busy == 1
    script.event(Closed("j0-1", 3.0, Outcome.COMPLETED))
    assert script.state.busy == 1
    script.event(Closed("j1-1", 3.0, Outcome.COMPLETED))  # closed without Ended
    assert script.state.busy == 0


def test_a_retry_is_the_same_trial_and_adds_up():
    script = Script()
    script.suggest(0)
    script.start(0)
    script.event(Started("j0-1", 1.0))
    script.close("j0-1", Outcome.FAILED, Cause.SPOT, status="waiting", retry_at=8.0)
    assert script.state.waiting == [(8.0, 0)]
    assert not script.state.due_tells
    script.start(0, attempt=2, at=8.0)
    script.event(Started("j0-2", 9.0))
    script.close("j0-2", started_at=9.0, ended_at=12.0, status="completed")
    trial = script.state.trials[0]
    assert (len(script.state.trials), trial.submissions, trial.starts, trial.causes[Cause.SPOT]) == (1, 2, 2, 1)
    assert (trial.started_at, trial.ended_at, trial.duration_s, trial.billable_s, trial.cost_usd) == (1.0, 12.0, 5.0, 5.0, 0.5)
    assert (trial.status, trial.cause) == (TrialStatus.COMPLETED, None)


def test_an_unknown_cost_stays_unknown_over_attempts_and_adds_nothing_to_the_bill():
    script = Script()
    script.suggest(0)
    script.start(0, worst_usd=None)
    script.close("j0-1", Outcome.FAILED, Cause.SPOT, status="waiting", retry_at=8.0, cost_usd=None)
    script.start(0, attempt=2)
    script.close("j0-2", status="completed", cost_usd=0.25)
    assert script.state.trials[0].cost_usd is None
    assert script.state.trials[0].value_of("cost_usd") is None
    assert script.state.money.spent_usd == 0.25


def test_failures_that_count_are_kept_with_their_message():
    script = Script()
    for trial, (status, cause, counts) in enumerate(
        [("failed", Cause.SCRIPT_ERROR, True), ("infeasible", Cause.OUT_OF_MEMORY, False), ("diverged", Cause.DIVERGED, False)]
    ):
        script.suggest(trial)
        script.start(trial)
        script.close(f"j{trial}-1", Outcome.FAILED, cause, status=status, counts=counts)
    state = script.state
    assert (state.counted_failures, state.finished, state.succeeded) == (1, 3, 0)
    assert state.failures == [(Cause.SCRIPT_ERROR, "m", "")]
    assert [tell.call for tell in state.due_tells] == ["error"] * 3


def test_a_method_that_stops_an_evaluation_hears_no_more_of_it():
    script = Script(level_name="epoch", full_level=9)
    script.suggest(0)
    script.start(0)
    script.report("j0-1", loss=0.5, epoch=1)
    script.record("tell", {"decision": "STOP"})
    assert list(script.state.due_stops) == [("j0-1", Cause.SCHEDULER)]
    script.record("stop", {"job": "j0-1", "reason": "stopped_by_method"}, 2.0)
    assert not script.state.due_stops
    assert script.state.jobs["j0-1"].stop_requested_at == 2.0
    script.report("j0-1", at=2.5, loss=0.25, epoch=2)  # after the stop: kept, but not told
    assert script.state.trials[0].last["loss"] == 0.25
    script.close("j0-1", Outcome.STOPPED, Cause.SCHEDULER, status="stopped")
    assert not script.state.due_tells
    assert script.state.trials[0].status is TrialStatus.STOPPED


def test_a_stop_at_the_full_level_lets_the_script_finish():
    script = Script(level_name="epoch", full_level=2)
    script.suggest(0)
    script.start(0)
    script.report("j0-1", loss=0.5, epoch=2)
    script.record("tell", {"decision": "STOP"})
    assert not script.state.due_stops


def test_a_paused_evaluation_waits_again_when_it_is_resumed():
    script = Script(level_name="epoch", full_level=9)
    script.suggest(0)
    script.start(0)
    script.report("j0-1", loss=0.5, epoch=1)
    script.record("tell", {"decision": "PAUSE"})
    assert list(script.state.due_stops) == [("j0-1", Cause.PAUSED)]
    script.record("stop", {"job": "j0-1", "reason": "paused_by_method"})
    script.close("j0-1", Outcome.STOPPED, Cause.PAUSED, status="paused")
    assert (script.state.finished, list(script.state.waiting)) == (0, [])
    script.record("suggest", {"evaluation": 0, "resume": True, "configuration": {"x": 0}, "block_of": 1}, 5.0)
    assert script.state.waiting == [(5.0, 0)]
    assert not script.state.queue


def test_an_evaluation_that_is_resumed_before_its_job_has_ended_goes_on_once_it_has():
    script = Script(level_name="epoch", full_level=9)
    script.suggest(0)
    script.start(0)
    script.report("j0-1", loss=0.5, epoch=1)
    script.record("tell", {"decision": "PAUSE"})
    script.record("stop", {"job": "j0-1", "reason": "paused_by_method"})
    script.record("suggest", {"evaluation": 0, "resume": True, "configuration": {"x": 0}, "block_of": 1}, 2.0)
    assert script.state.waiting == []
    script.close("j0-1", Outcome.STOPPED, Cause.PAUSED, status="paused")
    assert script.state.waiting == [(3.0, 0)]


def test_interrupted_trials_are_kept_for_a_resume():
    script = Script()
    script.suggest(0)
    script.start(0)
    script.record("stop", {"job": "j0-1", "reason": "interrupted"})
    script.close("j0-1", Outcome.STOPPED, Cause.INTERRUPTED, status="interrupted")
    assert list(script.state.interrupted) == [0]
    assert not script.state.due_tells
    script.start(0, attempt=2)
    assert not script.state.interrupted


def test_rejections_block_what_they_name():
    script = Script()
    for trial in range(3):
        script.suggest(trial)
        script.start(trial)
    for trial, (scope, retry_at) in enumerate([(Scope.JOB, 5.0), (Scope.BACKEND, 50.0), (Scope.BACKEND, 20.0)]):
        script.event(Rejected(f"j{trial}-1", 1.0, Cause.THROTTLED, "slow down", scope, retry_at))
    assert script.state.doors.until == {"": 50.0}
    assert (script.state.busy, script.state.jobs) == (0, {})


def test_blocks_of_suggestions_are_ordered_together():
    script = Script(repeats=2, order="interleave")
    for evaluation in range(3):
        script.record("suggest", {"evaluation": evaluation, "configuration": {"x": evaluation}, "level": None, "repeat": 0, "block_of": 3})
        assert len(script.state.queue) == (0 if evaluation < 2 else 6)
    assert list(script.state.queue) == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]


def test_an_exhausted_method_releases_what_it_had_suggested():
    script = Script(repeats=2, order="interleave")
    for evaluation in (0, 1):
        script.record(
            "suggest", {"evaluation": evaluation, "configuration": {"x": evaluation}, "level": None, "repeat": 0, "block_of": None}
        )
    assert not script.state.queue
    script.record("suggest", {"evaluation": None, "block_of": None, "skipped": 3, "reason": "odd"})
    assert list(script.state.queue) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert (script.state.exhausted, script.state.skipped, script.state.last_reason) == (True, 3, "odd")


def test_a_restart_within_a_job_counts_its_reports_anew():
    script = Script()
    script.suggest(0)
    script.start(0)
    script.report("j0-1", loss=1.0)
    script.event(Restarted("j0-1", 1.5, 1))
    script.report("j0-1", loss=0.5)
    job = script.state.jobs["j0-1"]
    assert (job.incarnation, job.reports, script.state.trials[0].reports) == (1, 1, 2)


def test_open_jobs_are_handed_over_as_the_journal_has_them():
    script = Script()
    for trial in (0, 1):
        script.suggest(trial)
        script.start(trial, at=float(trial))
    script.event(Accepted("j0-1", 1.25))
    script.event(Started("j0-1", 1.5))
    script.report("j0-1", at=2.0, loss=1.0)
    script.record("stop", {"job": "j0-1", "reason": "budget_spent"}, 2.5)
    specs = {name: JobSpec(name, 0, 1, "s") for name in ("j0-1", "j1-1")}
    first, second = adopted_jobs(script.state, specs)
    assert (first.spec.name, first.submitted_at, first.accepted_at, first.last_event_at) == ("j0-1", 0.0, 1.25, 2.0)
    assert (first.started, first.ended, first.reports, first.stop_requested_at) == (True, False, 1, 2.5)
    assert first.stop_reason is Cause.BUDGET
    assert (second.spec.name, second.submitted_at, second.accepted_at, second.last_event_at) == ("j1-1", 1.0, None, None)


def test_events_of_closed_jobs_change_nothing():
    script = Script()
    script.suggest(0)
    script.start(0)
    script.close("j0-1", status="completed")
    script.report("j0-1", loss=9.0)
    assert script.state.trials[0].last == {}
    assert script.state.reports == 0


def test_derived_objectives_come_from_the_account():
    script = Script(objectives={"cost_usd": "min", "duration_s": "min", "billable_s": "min", "loss": "min"})
    script.suggest(0)
    script.start(0)
    script.report("j0-1", loss=0.5, cost_usd=99.0)
    script.close("j0-1", status="completed")
    assert script.state.reported_objectives == ("loss",)
    assert script.state.due_tells[0].result == {"cost_usd": 0.25, "duration_s": 2.0, "billable_s": 2.5, "loss": 0.5}


def test_an_event_at_hand_spares_making_it_again_of_the_record():
    at_hand, again = Script(level_name="epoch"), Script(level_name="epoch")
    for script, live in ((at_hand, True), (again, False)):
        script.suggest(0, x=4)
        script.start(0)
        for event in (Accepted("j0-1", 0.5), Started("j0-1", 1.0), Reported("j0-1", 2.0, 0, {"epoch": 1, "loss": 0.5}, 1.0)):
            kind, body = event_record(event)
            script.sequence += 1
            script.state.apply(Record(script.sequence, event.at, kind, body), event if live else None)
    assert at_hand.state.trials == again.state.trials
    assert at_hand.state.jobs == again.state.jobs
    assert list(at_hand.state.due_tells) == list(again.state.due_tells)
    assert (at_hand.state.reports, at_hand.state.last_at, at_hand.state.due_tells[0].level) == (1, 2.0, 1.0)


def test_a_paused_trial_whose_job_failed_while_it_was_stopped_is_told_as_failed_when_it_is_to_go_on():
    script = Script(level_name="epoch", full_level=9)
    script.suggest(0)
    script.start(0)
    script.report("j0-1", loss=1.0, epoch=1)
    script.record("tell", {"call": "result", "evaluation": 0, "level": 1, "decision": "PAUSE"})
    script.record("stop", {"job": "j0-1", "reason": "paused_by_method"})
    script.close("j0-1", Outcome.FAILED, Cause.SCRIPT_ERROR, status="failed", counts=True)
    assert list(script.state.due_tells) == []
    script.record("suggest", {"evaluation": 0, "resume": True, "limited": False, "block_of": None})
    assert list(script.state.due_tells) == [Tell("error", 0)]
