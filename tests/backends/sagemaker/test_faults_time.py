"""Clocks that differ, and spot instances that go: durations stay right, steps count once, the bill is that of all lives."""

from __future__ import annotations

import pytest

from backends.emulator import Settings
from backends.emulator.core.settings import Delays
from tests.backends.sagemaker.cloud_lab import CloudLab

pytestmark = pytest.mark.slow


def test_the_service_s_clock_is_four_minutes_ahead(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, faults=[{"kind": "clock_ahead", "seconds": 240}]) as lab:
        before = lab.clock.now()
        run = lab.run(lab.definition([{"x": 0.1, "pause": 0.5, "steps": 3}, {"x": 0.2, "pause": 0.5, "steps": 3}], n_workers=1))
        after = lab.clock.now()
        assert run.statuses == ["completed"] * 2
        jobs = lab.jobs()
        assert jobs[0]["CreationTime"].timestamp() > before + 200
        for body, job in zip(run.of("closed"), jobs, strict=True):
            assert before - 4 <= body["started_at"] < body["ended_at"] <= after + 4
            service_s = (job["TrainingEndTime"] - job["TrainingStartTime"]).total_seconds()
            assert body["ended_at"] - body["started_at"] == pytest.approx(service_s, abs=0.2)
        durations = [trial.duration_s for trial in run.result.state.trials.values()]
        assert all(6.0 <= duration < 120 for duration in durations)
        assert all(0 <= body["elapsed_s"] < 120 for body in run.of("reported"))


def test_a_clock_ahead_with_the_next_controller(tmp_path, monkeypatch):
    """It did not make the job itself, and learns the difference from the job's creation, whose time the journal has."""

    class Killed(BaseException):
        pass

    with CloudLab(tmp_path, monkeypatch, faults=[{"kind": "clock_ahead", "seconds": 240}]) as lab:
        definition = lab.definition([{"x": 0.1, "pause": 0.2, "steps": 8}])

        def die(record, state, backend):
            if record.kind == "reported":
                backend.close = lambda grace_s=None: []
                raise Killed

        before = lab.clock.now()
        with pytest.raises(Killed):
            lab.run(definition, watch=die)
        run = lab.run(definition)
        assert run.statuses == ["completed"]
        assert run.result.state.trials[0].reports == 8
        (body,) = run.of("closed")
        assert before - 4 <= body["started_at"] < body["ended_at"] <= lab.clock.now() + 4
        assert 6.0 <= body["ended_at"] - body["started_at"] < 120


def test_spot_instances_go_at_steps_3_and_7(tmp_path, monkeypatch):
    """Ten steps in three lives; checkpoints let each go on where the last stopped, and what is replayed counts once."""
    faults = [
        {"kind": "spot_interruption", "at_step": 3, "times": 1, "notice_s": 1},
        {"kind": "spot_interruption", "at_step": 7, "times": 1, "notice_s": 1, "after": 1},
    ]
    settings = Settings(delays=Delays(checkpoint_sync_s=0.4, spot_return_s=0.3, grace_s=8.0))
    with CloudLab(tmp_path, monkeypatch, faults=faults, settings=settings) as lab:
        trials = [{"kind": "resumes", "steps": 10, "pause": 0.4, "x": 0.1}]
        run = lab.run(lab.definition(trials, block={"spot": True}))
        trial = run.result.state.trials[0]
        assert (str(trial.status), trial.submissions) == ("completed", 1)
        assert [body["incarnation"] for body in run.of("restarted")] == [1, 2]
        bodies = run.of("reported")
        assert {body["metrics"]["step"] for body in bodies} == set(range(1, 11))
        assert len(bodies) <= 14
        assert {body.get("incarnation", 0) for body in bodies} == {0, 1, 2}
        assert len({(body.get("incarnation", 0), body["sequence"]) for body in bodies}) == len(bodies)
        (job,) = lab.jobs()
        steps = [step["Status"] for step in job["SecondaryStatusTransitions"]]
        assert steps.count("Interrupted") == 2
        assert job["BillableTimeInSeconds"] < job["TrainingTimeInSeconds"]
        assert trial.billable_s == job["BillableTimeInSeconds"]
        stages = trial.usage["stages_s"]
        assert stages["Interrupted"] >= 0.5
        assert stages["Training"] == pytest.approx(
            sum((s["EndTime"] - s["StartTime"]).total_seconds() for s in job["SecondaryStatusTransitions"] if s["Status"] == "Training"),
            abs=0.01,
        )


def test_no_spot_capacity_within_max_wait_is_tried_again(tmp_path, monkeypatch):
    import dataclasses

    from backends.failures import Cause
    from benchmarking.controller.retry_policy import RETRY_RULES

    monkeypatch.setitem(RETRY_RULES, Cause.SPOT, dataclasses.replace(RETRY_RULES[Cause.SPOT], backoff_s=0.2))
    with CloudLab(tmp_path, monkeypatch, faults=[{"kind": "pending", "job": "*-t0-a1", "seconds": 600}]) as lab:
        definition = lab.definition([{"x": 0.1}], block={"spot": True, "max_wait": 12}, budget={"max_run": 12})
        run = lab.run(definition)
        assert (run.statuses, run.result.state.trials[0].submissions) == (["completed"], 2)
        first = run.of("closed")[0]
        assert (first["cause"], first["message"], first["billable_s"]) == (
            "spot_interruption",
            "no spot capacity within max_wait = 12 s",
            0.0,
        )
        assert run.result.state.counted_failures == 0


def test_an_internal_error_that_the_service_itself_makes_good(tmp_path, monkeypatch):
    """A second life within the same job: one start, its reports with its own number, nothing retried by us."""
    faults = [{"kind": "internal_error", "at_step": 2, "times": 1}]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        run = lab.run(lab.definition([{"steps": 4, "pause": 0.2, "x": 0.1}], block={"retries": 2}))
        assert (run.statuses, run.result.state.trials[0].submissions) == (["completed"], 1)
        assert [body["incarnation"] for body in run.of("restarted")] == [1]
        steps = [(body.get("incarnation", 0), body["metrics"]["step"]) for body in run.of("reported")]
        assert [step for life, step in steps if life == 1] == [1, 2, 3, 4]
        assert [step for life, step in steps if life == 0] in ([1], [1, 2])
