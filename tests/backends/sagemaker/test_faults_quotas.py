"""Quotas and capacity: jobs wait or go elsewhere, nobody fails, and the bill is that of what they ran on."""

from __future__ import annotations

import dataclasses

import pytest

from backends.emulator import Settings
from backends.emulator.core.settings import Delays
from backends.failures import Cause
from benchmarking.controller.retry_policy import RETRY_RULES
from definitions.instances import price_of
from tests.backends.sagemaker.cloud_lab import M5, M5X, CloudLab, quotas

pytestmark = pytest.mark.slow

NAME = "ml.m5.large for training job usage"


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Capacity comes back sooner than it does in life."""
    monkeypatch.setitem(RETRY_RULES, Cause.CAPACITY, dataclasses.replace(RETRY_RULES[Cause.CAPACITY], backoff_s=0.2))
    monkeypatch.setattr("backends.sagemaker.lifecycle.submission._CAPACITY_WAIT_S", 0.2)


def most_at_once(run):
    """Return how many jobs were accepted and not ended at most, by the journal."""
    now = most = 0
    for record in run.records:
        now += {"accepted": 1, "ended": -1}.get(record.kind, 0)
        most = max(most, now)
    return most


def test_stopping_jobs_hold_their_places(tmp_path, monkeypatch):
    """Three workers, a quota of three, early stopping, and jobs that take their time to stop."""
    settings = Settings(quotas=quotas(m5=3), delays=Delays(stop_s=3.0))
    with CloudLab(tmp_path, monkeypatch, settings=settings) as lab:
        definition = lab.definition(
            arguments={"instance_type": M5, "pause": 0.15},
            space={"x": {"uniform": [0, 1]}},
            fidelity={"kind": "progressive", "argument": "steps", "reported_as": "step", "full": 9},
            n_workers=3,
            budget={"max_num_trials": 7, "max_run": 480, "max_failures": 0},
        )
        run = lab.run(definition, method="ASHA")
        assert set(run.statuses) <= {"completed", "stopped"}
        assert run.statuses.count("stopped") >= 1
        assert (run.result.state.failures, run.result.state.counted_failures) == ([], 0)
        assert most_at_once(run) <= 3
        refused = run.calls["CreateTrainingJob"] - len(lab.jobs())
        assert refused == len(run.of("rejected")) <= 1


def test_five_workers_where_two_may_run(tmp_path, monkeypatch):
    """The account's quota is lower than the workers asked for: all trials run, and the service is not asked in vain for each."""
    with CloudLab(tmp_path, monkeypatch, settings=Settings(quotas=quotas(m5=2))) as lab:
        run = lab.run(lab.definition([{"x": n / 10, "pause": 0.5} for n in range(8)], n_workers=5))
        assert run.statuses == ["completed"] * 8
        assert run.result.state.counted_failures == 0
        assert most_at_once(run) <= 2
        assert run.calls["CreateTrainingJob"] - 8 <= 3
        messages = [body["message"] for body in run.of("rejected")]
        assert messages
        assert all(NAME in message and "is 2 Instances" in message for message in messages)
        assert all(body["cause"] == "quota" for body in run.of("rejected"))


def test_a_quota_of_nothing_is_refused_before_anything_starts(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, settings=Settings(quotas=quotas(m5=0))) as lab:
        with pytest.raises(Exception, match=r"ml\.m5\.large"):
            lab.run(lab.definition([{"x": 0.1}]))
        assert lab.jobs() == []


def test_where_there_is_no_capacity_another_type_takes_over_and_is_what_is_paid_for(tmp_path, monkeypatch):
    """One refusal comes with the answer, one once the job is there; jobs that come later do not try again what has just failed."""
    faults = [
        {"kind": "capacity", "instance_type": M5, "job": "*-t0-*", "times": 9},
        {"kind": "capacity", "instance_type": M5, "job": "*-t1-*", "on": "create", "times": 9},
    ]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        trials = [{"x": n / 10, "pause": 0.6, "steps": 3} for n in range(4)]
        run = lab.run(lab.definition(trials, block={"fallback_instance_types": [M5X]}, n_workers=2))
        assert run.statuses == ["completed"] * 4
        assert run.result.state.counted_failures == 0
        used = [job["ResourceConfig"]["InstanceType"] for job in lab.jobs() if job["TrainingJobStatus"] == "Completed"]
        assert used == [M5X] * 4
        per_hour = price_of(M5X, "us-east-1").usd_per_hour
        for trial in run.result.state.trials.values():
            assert trial.billable_s > 0
            assert trial.cost_usd == pytest.approx(trial.billable_s * per_hour / 3600)


def test_without_another_type_it_is_tried_again_and_counts_only_past_its_cap(tmp_path, monkeypatch):
    monkeypatch.setitem(RETRY_RULES, Cause.CAPACITY, dataclasses.replace(RETRY_RULES[Cause.CAPACITY], retries=2, backoff_s=0.2))
    faults = [{"kind": "capacity", "job": "*-t0-a1"}, {"kind": "capacity", "job": "*-t1-*"}]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        run = lab.run(lab.definition([{"x": 0.1}, {"x": 0.2}], n_workers=2))
        assert (run.statuses, run.causes) == (["completed", "failed"], [None, "capacity"])
        assert [trial.submissions for trial in run.result.state.trials.values()] == [2, 3]
        assert run.result.state.counted_failures == 1
        assert "CapacityError" in run.result.state.trials[1].message
