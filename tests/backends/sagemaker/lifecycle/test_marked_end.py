"""A mark that somebody leaves from elsewhere ends a controller's experiment, whatever it is at, and a resume goes on."""

from __future__ import annotations

import dataclasses

import pytest

from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.object_store import S3ObjectStore
from backends.sagemaker.lifecycle.stop_watch import StopWatch
from backends.stop_mark import StopMark, leave, lift
from benchmarking.controller.ending import Reason
from tests.backends.sagemaker import cloud_lab

pytestmark = pytest.mark.slow

INTERVALS = dataclasses.replace(cloud_lab.INTERVALS, mark_s=2.0)
NAME = "lab/LISTED-sagemaker-1"


@pytest.fixture
def lab(tmp_path, monkeypatch):
    with cloud_lab.CloudLab(tmp_path, monkeypatch) as lab:
        yield lab


def store_of(lab):
    return S3ObjectStore("s3://bench/outrider/runs/tag", Clients("us-east-1", lab.emulator.environment))


def run(lab, store, trials, watch=None, **changes):
    stop_watch = StopWatch(store, NAME, kept_s=0.2)
    return lab.run(lab.definition(trials, **changes), watch=watch, intervals=INTERVALS, stop_watch=stop_watch)


def test_no_further_job_is_created_once_the_mark_is_there_and_a_resume_does_the_rest(lab):
    store = store_of(lab)
    trials = [{"x": 0.1 * number, "pause": 0.2} for number in range(6)]

    def mark(record, state, backend):
        if record.kind == "settle" and state.finished == 2:
            leave(store, StopMark(1.0, "ann"))

    stopped = run(lab, store, trials, mark, n_workers=1)
    assert stopped.result.ending.reason is Reason.INTERRUPTED
    assert stopped.result.ending.exit_code == 130
    assert "ann asked for its end from elsewhere" in stopped.result.ending.message
    created = len(lab.jobs())
    assert 2 <= created <= 3
    again = run(lab, store, trials, n_workers=1)
    assert again.result.ending.reason is Reason.INTERRUPTED
    assert len(lab.jobs()) == created
    lift(store)
    done = run(lab, store, trials, n_workers=1)
    assert done.result.ending.reason is Reason.EXHAUSTED
    assert done.statuses == ["completed"] * 6


def test_jobs_that_run_are_wound_down_although_none_is_to_be_created(lab):
    store = store_of(lab)

    def mark(record, state, backend):
        if record.kind == "reported":
            leave(store, StopMark(1.0, "ann", (NAME,)))

    stopped = run(lab, store, [{"steps": 400, "pause": 0.2}] * 2, mark)
    assert stopped.result.ending.reason is Reason.ALONE
    assert stopped.statuses == ["interrupted"] * 2
    assert stopped.causes == ["experiment_stopped"] * 2
    assert {job["TrainingJobStatus"] for job in lab.jobs()} == {"Stopped"}


def test_jobs_that_are_stopped_with_the_run_go_on_at_a_resume_and_without_a_mark_they_do_not(lab):
    store = store_of(lab)

    def stop(with_mark):
        def watch(record, state, backend):
            if record.kind == "reported" and state.jobs:
                if with_mark:
                    leave(store, StopMark(1.0, "ann"))
                for name in lab.running():
                    lab.sagemaker.stop_training_job(TrainingJobName=name)

        return watch

    stopped = run(lab, store, [{"steps": 400, "pause": 0.2}], stop(with_mark=True))
    assert (stopped.statuses, stopped.causes) == (["interrupted"], ["interrupted"])
    assert stopped.result.ending.reason is Reason.INTERRUPTED
    lift(store)
    stopped = run(lab, store, [{"steps": 400, "pause": 0.2}], stop(with_mark=False))
    assert (stopped.statuses, stopped.causes) == (["stopped"], ["stopped_from_outside"])


def test_a_create_that_was_not_answered_leaves_nothing_when_the_mark_comes(lab):
    store = store_of(lab)
    lab.emulator.add_faults([{"kind": "error", "operation": "CreateTrainingJob", "code": "InternalFailure", "status": 500, "times": 1}])

    def mark(record, state, backend):
        if record.kind == "start":
            leave(store, StopMark(1.0, "ann"))

    stopped = run(lab, store, [{"steps": 400, "pause": 0.2}], mark)
    assert stopped.statuses == ["interrupted"]
    assert lab.running() == []
