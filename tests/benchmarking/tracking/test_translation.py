import math

import pytest

from backends.failures import Cause
from backends.tracked import RunStatus
from benchmarking.tracking.translation import Translation
from tests.benchmarking.experiments import FakeTable, Killed, MemoryJournal
from tests.benchmarking.tracking.told import Reports, run_into, spec_of, translated


@pytest.fixture
def spec(tmp_path):
    return spec_of(tmp_path)


def ran(spec, table=None, limit=None, **options):
    journal = MemoryJournal(limit=limit)
    try:
        run_into(journal, spec, table, **options)
    except Killed:
        journal.limit = None
    return journal


def test_reports_are_points_by_level_with_their_own_times(spec):
    told = translated(spec, ran(spec))
    assert [run.name for run in told.trials] == ["trial-0", "trial-1", "trial-2"]
    first = told.trials[0]
    x = first.parameters["x"]
    losses = [point for point in first.points if point.name == "loss"]
    assert [(point.step, point.value) for point in losses] == [(k, pytest.approx(1 / k + x * 0.01)) for k in (1, 2, 3)]
    assert [point.at - first.started_at for point in losses] == pytest.approx([1.0, 2.0, 3.0])
    assert {point.job for point in losses} == {"job-t0-a1"}
    assert first.job == "job-t0-a1"


def test_the_level_is_the_step_and_no_metric_and_texts_are_tags(spec):
    first = translated(spec, ran(spec)).trials[0]
    names = {point.name for point in first.points}
    assert names == {"loss", "a b%", "fine", "nan", "duration_s", "billable_s", "cost_usd"}
    assert first.tags["last.phase"] == "warm"
    assert {point.value for point in first.points if point.name == "fine"} == {1.0}
    assert all(math.isnan(point.value) for point in first.points if point.name == "nan")


def test_a_trial_that_is_over_has_costs_and_an_end(spec):
    first = translated(spec, ran(spec)).trials[0]
    values = {point.name: point.value for point in first.points}
    duration_s = 3.25 + 0.125 * (first.parameters["x"] % 3)
    assert values["duration_s"] == pytest.approx(duration_s)
    assert values["cost_usd"] == pytest.approx(duration_s * 3.6 / 3600)
    assert (first.status, first.ended_at - first.started_at) == (RunStatus.FINISHED, pytest.approx(duration_s))
    assert first.tags["outrider.status"] == "completed"
    assert "outrider.cause" not in first.tags


def test_the_experiment_has_the_best_so_far_and_what_was_spent(spec):
    told = translated(spec, ran(spec))
    whole, finals = told.whole, {}
    for run in told.trials:
        finals[run.ended_at] = [point.value for point in run.points if point.name == "loss"][-1]
    best = [point.value for point in whole.points if point.name == "best_loss"]
    assert best == sorted(best, reverse=True)
    assert best[-1] == pytest.approx(min(finals.values()))
    spent = [point.value for point in whole.points if point.name == "spent_usd"]
    assert spent[-1] == pytest.approx(sum(point.value for run in told.trials for point in run.points if point.name == "cost_usd"))
    assert (whole.job, whole.name, whole.status, told.commit) == ("prefix", "RS-local-0", RunStatus.FINISHED, "abc123")
    assert whole.parameters["budget.max_num_trials"] == 3


def test_a_failure_says_its_cause(tmp_path):
    spec = spec_of(tmp_path, budget={"max_num_trials": 2, "max_failures": 5})
    table = Reports(fails=dict.fromkeys(range(100), Cause.DIVERGED))
    first = translated(spec, ran(spec, table)).trials[0]
    assert (first.status, first.tags["outrider.status"], first.tags["outrider.cause"]) == (RunStatus.FAILED, "diverged", "diverged")


def test_record_by_record_is_the_same_as_afterwards(spec):
    journal = ran(spec)
    live = Translation(spec, "prefix", "abc123")
    for record in journal.records():
        live.take(record)
        seen = live.experiment(live=True)
        assert all(run.sequence <= record.sequence for run in seen.trials)
    assert live.experiment(live=False) == translated(spec, journal)


def test_what_a_killed_controller_left_runs_only_while_the_next_one_does(spec):
    journal = ran(spec, limit=14)
    live, dead = translated(spec, journal, live=True), translated(spec, journal)
    assert live.whole.status is RunStatus.RUNNING
    assert {run.status for run in live.trials} == {RunStatus.RUNNING}
    assert {run.ended_at for run in live.trials} == {None}
    assert dead.whole.status is RunStatus.STOPPED
    assert {(run.status, run.tags["outrider.status"]) for run in dead.trials} == {(RunStatus.STOPPED, "interrupted")}
    assert [job.status for run in dead.trials for job in run.jobs] == [RunStatus.STOPPED] * 2
    assert [run.points for run in dead.trials] == [run.points for run in live.trials]


def test_a_level_that_is_no_whole_number_is_no_step(tmp_path):
    class Halves(FakeTable):
        def run(self, configuration, level, repeat):
            found = super().run(configuration, level, repeat)
            for _, metrics in found.reports:
                metrics["epoch"] /= 2
            return found

    spec = spec_of(tmp_path)
    first = translated(spec, ran(spec, Halves())).trials[0]
    assert len({point.step for point in first.points if point.name == "loss"}) == 3
