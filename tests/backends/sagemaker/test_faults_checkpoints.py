"""Checkpoints in S3: paused trials go on where they were, copies start where their source was, and all calls are allowed by the policy."""

from __future__ import annotations

import itertools

import pytest

from backends.emulator import Settings
from backends.emulator.core.settings import Delays
from backends.sagemaker.aws.iam_operations import CALLER
from tests.backends.sagemaker.cloud_lab import M5, CloudLab

pytestmark = pytest.mark.slow

FAST = Settings(delays=Delays(checkpoint_sync_s=0.4))


def steps_of(run, trial):
    """Return the steps that a trial's jobs reported, by job."""
    found = {}
    for body in run.of("reported"):
        if f"-t{trial}-a" in body["job"]:
            found.setdefault(body["job"], []).append((body["metrics"]["step"], body["metrics"]["first"]))
    return found


def test_paused_and_promoted_each_step_once(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, settings=FAST) as lab:
        definition = lab.definition(
            arguments={"instance_type": M5, "pause": 0.3, "kind": "resumes"},
            space={"x": {"uniform": [0, 1]}},
            # The best first: by the sixth result the best two are to go on; at most one came too late to be paused.
            points_to_evaluate=[{"x": n / 10} for n in range(6)],
            fidelity={"kind": "progressive", "argument": "steps", "reported_as": "step", "full": 9},
            n_workers=3,
            budget={"max_num_trials": 6, "max_run": 480},
        )
        run = lab.run(definition, method="ASHA", arguments={"type": "promotion", "grace_period": 1, "reduction_factor": 3})
        assert run.result.state.counted_failures == 0
        resumed = [trial for trial in run.result.state.trials.values() if trial.submissions > 1]
        assert resumed
        for trial in resumed:
            jobs = steps_of(run, trial.trial)
            (_, before), *later = jobs.items()
            done = before[-1][0]
            for _, steps in later:
                # It read its checkpoint, and so began after the last step that was done.
                assert steps[0][1] == steps[0][0] >= done
                assert steps[0][0] <= done + 3
                done = steps[-1][0]
            levels = [body["level"] for body in run.of("tell") if body["evaluation"] == trial.evaluation and body["call"] == "result"]
            assert all(one < other for one, other in itertools.pairwise(levels))
        assert lab.running() == []


def test_a_copy_starts_where_its_source_was(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, settings=FAST) as lab:
        definition = lab.definition(
            arguments={"instance_type": M5, "pause": 0.3, "kind": "resumes"},
            space={"x": {"uniform": [0, 1]}},
            fidelity={"kind": "progressive", "argument": "steps", "reported_as": "step", "full": 8},
            n_workers=4,
            budget={"max_num_trials": 7, "max_run": 480},
        )
        run = lab.run(definition, method="PBT", arguments={"population_size": 4, "perturbation_interval": 2})
        copies = [body for body in run.of("suggest") if body.get("checkpoint_from") is not None]
        assert copies
        for body in copies:
            trials = [trial for trial in run.result.state.trials.values() if trial.evaluation == body["evaluation"]]
            for trial in trials:
                jobs = list(steps_of(run, trial.trial).values())
                assert jobs[0][0][0] > 1, "it did not begin with step 1, as its source's checkpoint was there"
        assert "CopyObject" in run.calls


def test_all_that_is_called_is_in_the_policy(tmp_path, monkeypatch):
    """A run with all there is to call: default bucket, failures with and without a line, pause, stop, arguments by file, spot."""
    with CloudLab(tmp_path, monkeypatch, settings=FAST) as lab:
        kinds = [("fails", 1), ("slain", 1), ("silent", 1), ("steps", 2), ("resumes", 300)]
        trials = [{"kind": kind, "steps": steps, "pause": 0.3, "x": n / 10} for n, (kind, steps) in enumerate(kinds)]
        definition = lab.definition(
            trials,
            block={"spot": True, "bucket": None},
            arguments={"instance_type": M5, "long": "x" * 5000},
            budget={"max_wallclock_time": 24, "max_run": 2400},
            n_workers=5,
        )
        run = lab.run(definition)
        assert set(run.causes[:4]) == {"script_error", "out_of_memory", "no_metrics", None}
        # Its starter was killed with it, so that not one of our lines told of its log.
        assert run.result.state.trials[1].log_tail == ("allocating",)
        called = set(run.calls)
        assert called <= set(CALLER), called - set(CALLER)
        expected = """CreateTrainingJob StopTrainingJob DescribeTrainingJob ListTrainingJobs FilterLogEvents GetLogEvents DescribeLogStreams
            HeadBucket PutObject HeadObject GetCallerIdentity ListServiceQuotas ListObjectsV2"""
        assert called >= set(expected.split()), set(expected.split()) - called
