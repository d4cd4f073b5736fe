import math

import pytest

from backends.events import Closed, Ended, Rejected, Reported, Restarted, Started
from backends.failures import Cause, Outcome
from benchmarking.syne_tune_adapter.trial_record import ReportSchema, SyneTuneStatus, TrialRecord, by_time
from definitions.schema import BenchmarkDefinition


def record(*, level_name="epoch", reported=("loss",), derived=(), usd_per_hour=3600.0):
    made = TrialRecord(0, {"x": 1}, ReportSchema(reported, derived, level_name))
    made.submitted("j1", usd_per_hour, 2, restored=False)
    made.apply(Started("j1", 100.0))
    return made


def says(trial, epoch, loss=0.5, *, job="j1", elapsed_s=None, sequence=None, **more):
    metrics = {"epoch": epoch, **({} if loss is None else {"loss": loss}), **more}
    elapsed_s = float(epoch) if elapsed_s is None else elapsed_s
    return trial.apply(Reported(job, 100.0 + elapsed_s, epoch if sequence is None else sequence, metrics, elapsed_s))


def closes(trial, outcome=Outcome.COMPLETED, cause=None, *, job="j1", at=110.0, billable_s=10.0):
    trial.apply(Ended(job, at))
    return trial.apply(Closed(job, at, outcome, cause, billable_s=billable_s))


def epochs(results):
    return [result["epoch"] for result in results]


def test_results_are_handed_over_once_and_numbered():
    trial = record()
    says(trial, 1)
    says(trial, 2)
    assert [result["st_worker_iter"] for result in trial.take()] == [0, 1]
    assert trial.take() == []
    says(trial, 3)
    assert epochs(trial.take()) == [3]


def test_two_instances_cost_twice_as_much():
    trial = record()
    says(trial, 3)
    assert trial.take()[0]["st_worker_cost"] == pytest.approx(2 * 3.0)
    closes(trial)
    assert trial.cost_usd == pytest.approx(2 * 10.0)


def test_an_unknown_price_is_not_zero():
    trial = record(usd_per_hour=None, derived=("cost_usd", "duration_s"))
    says(trial, 3)
    result = trial.take()[0]
    assert "st_worker_cost" not in result
    assert "cost_usd" not in result
    assert result["duration_s"] == 3.0
    assert trial.cost_usd is None


def test_what_the_loop_dropped_with_a_pause_counts_after_the_resume():
    trial = record()
    for epoch in (1, 2, 3):
        says(trial, epoch)
    handed = trial.take()
    trial.asked_to_end(Cause.PAUSED, handed[0])
    says(trial, 4)
    closes(trial, Outcome.STOPPED, Cause.PAUSED)
    assert trial.status is SyneTuneStatus.PAUSED
    trial.resumed(restored=True)
    trial.submitted("j2", 3600.0, 2, restored=True)
    says(trial, 4, job="j2", sequence=0)
    says(trial, 5, job="j2", sequence=1)
    assert epochs(trial.take()) == [2, 3, 4, 5]
    assert trial.repeated == 1
    assert [result["st_worker_iter"] for result in trial.results] == [0, 1, 2, 3, 4]


def test_times_go_on_over_a_resume_and_a_restart():
    trial = record()
    says(trial, 1, elapsed_s=4.0)
    trial.asked_to_end(Cause.PAUSED, trial.take()[0])
    closes(trial, Outcome.STOPPED, Cause.PAUSED, billable_s=6.0)
    trial.resumed(restored=True)
    trial.submitted("j2", 3600.0, 1, restored=True)
    trial.apply(Started("j2", 200.0))
    says(trial, 2, job="j2", elapsed_s=1.0)
    trial.apply(Restarted("j2", 205.0, 1))
    says(trial, 3, job="j2", elapsed_s=2.0)
    assert [result["st_worker_time"] for result in trial.results] == [4.0, 7.0, 9.0]


@pytest.mark.parametrize(("restored", "heard"), [(True, [1, 2, 3, 4, 5]), (False, [1, 2, 3])])
def test_without_levels_a_checkpoint_decides_what_is_new(restored, heard):
    """From a checkpoint the script goes on to say 4 and 5; without one it says 1 to 3 anew."""
    trial = record(level_name=None)
    says(trial, 1)
    says(trial, 2)
    trial.asked_to_end(Cause.PAUSED, trial.take()[1])
    says(trial, 3)
    closes(trial, Outcome.STOPPED, Cause.PAUSED)
    trial.resumed(restored=restored)
    trial.submitted("j2", None, 1, restored=restored)
    for epoch in (4, 5) if restored else (1, 2, 3):
        says(trial, epoch, job="j2")
    assert epochs(trial.results) == heard


def test_a_result_needs_every_objective_and_finite_ones():
    trial = record(reported=("loss", "accuracy"))
    assert says(trial, 1) == ""
    assert says(trial, 2, accuracy=0.5) == ""
    assert says(trial, 3, loss=math.inf, accuracy=0.5) == "stop"
    assert epochs(trial.take()) == [2]
    assert trial.withheld == 2
    closes(trial, Outcome.STOPPED, Cause.DIVERGED)
    assert trial.status is SyneTuneStatus.FAILED


def test_completed_without_a_result_is_a_failure():
    trial = record()
    closes(trial)
    assert trial.status is SyneTuneStatus.FAILED
    assert trial.why.startswith("no_metrics: objective 'loss' was never reported (reported: nothing); report with: ")


def test_objectives_that_never_came_together_are_a_failure():
    trial = record(reported=("loss", "accuracy"))
    says(trial, 1)
    says(trial, 2, loss=None, accuracy=0.5)
    closes(trial)
    assert trial.status is SyneTuneStatus.FAILED
    assert "no report held all objectives: loss, accuracy" in trial.why


def test_spot_interruptions_are_retried_with_a_growing_wait():
    trial = record()
    waits = []
    for number in range(3):
        assert closes(trial, Outcome.FAILED, Cause.SPOT, job=trial.job, at=200.0) == "again"
        waits.append(trial.retry_at - 200.0)
        trial.submitted(f"again{number}", 1.0, 1, restored=False)
    assert waits == [5.0, 10.0, 20.0]
    assert trial.status is SyneTuneStatus.IN_PROGRESS


def test_rejected_for_now_waits_as_long_as_the_back_end_says_and_for_good_fails():
    trial = record()
    assert trial.apply(Rejected("j1", 100.0, Cause.QUOTA, "8 of 8", retry_at=160.0)) == "again"
    assert trial.retry_at == 160.0
    trial.submitted("j2", 1.0, 1, restored=False)
    assert trial.apply(Rejected("j2", 160.0, Cause.BAD_REQUEST, "no such type")) == ""
    assert (trial.status, trial.why) == (SyneTuneStatus.FAILED, "bad_request: no such type")


def test_a_stopped_trial_is_stopping_until_its_job_has_closed_and_is_not_retried():
    trial = record()
    says(trial, 1)
    trial.asked_to_end(Cause.SCHEDULER, trial.take()[0])
    assert trial.status is SyneTuneStatus.STOPPING
    assert closes(trial, Outcome.FAILED, Cause.LOST) == ""
    assert trial.status is SyneTuneStatus.STOPPED


def test_how_a_definition_is_judged():
    definition = BenchmarkDefinition(
        name="b",
        script="s.py",
        space={"x": {"choice": [1, 2]}},
        objectives={"loss": "min", "cost_usd": "min"},
        fidelity={"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 9},
    )
    assert ReportSchema.of(definition) == ReportSchema(("loss",), ("cost_usd",), "epoch")


def test_results_of_several_trials_come_in_the_order_of_their_making():
    pairs = [(0, {"st_worker_timestamp": 3.0}), (1, {"st_worker_timestamp": 1.0}), (0, {"st_worker_timestamp": 2.0})]
    assert [trial for trial, _ in by_time(pairs)] == [1, 0, 0]
