"""An API that throttles, fails, loses answers, or no longer knows who calls: it costs time, and nothing else."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from backends.sagemaker.aws.clients import Clients
from tests.backends.sagemaker.cloud_lab import CloudLab, per_trial

pytestmark = pytest.mark.slow


def quick(count, **trial):
    return [{"kind": "steps", "x": n / 100, **trial} for n in range(count)]


def test_32_jobs_at_once_where_two_a_second_are_taken(tmp_path, monkeypatch):
    faults = [{"kind": "throttle", "operation": "CreateTrainingJob", "rate_per_s": 2, "burst": 4}]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        run = lab.run(lab.definition(quick(32, pause=1), n_workers=32))
        assert run.statuses == ["completed"] * 32
        assert run.result.state.counted_failures == 0
        assert len(lab.jobs()) == 32
        assert run.calls["CreateTrainingJob"] <= 2 * 32
        assert "waiting for the API: CreateTrainingJob is throttled" in run.notes
        print("calls per trial:", per_trial(run.calls, 32))
        assert sum(per_trial(run.calls, 32).values()) <= 6.0


def test_thirty_percent_of_all_calls_are_throttled(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch, faults=[{"kind": "throttle", "probability": 0.3}], seed=3) as lab:
        run = lab.run(lab.definition(quick(5, steps=3), n_workers=5), check=False)
        lab.emulator.clear_faults()
        assert run.statuses == ["completed"] * 5
        assert [trial.reports for trial in run.result.state.trials.values()] == [3] * 5
        assert lab.running() == []
        assert run.result.state.money.spent_usd == pytest.approx(lab.bill_usd(), abs=1e-9)
        assert len(lab.jobs()) == 5


def test_the_service_fails_every_third_create(tmp_path, monkeypatch):
    faults = [
        {
            "kind": "error",
            "operation": "CreateTrainingJob,DescribeTrainingJob",
            "probability": 0.34,
            "status": 503,
            "code": "ServiceUnavailable",
        }
    ]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        run = lab.run(lab.definition(quick(6)), check=False)
        lab.emulator.clear_faults()
        assert run.statuses == ["completed"] * 6
        assert (len(lab.jobs()), lab.running()) == (6, [])


class Forgetful(Clients):
    """Clients of an operation whose first answers do not arrive although the call had its effect."""

    def __init__(self, environ, operation, times):
        super().__init__("us-east-1", environ)
        self.operation, self.left, self.lost = operation, times, 0

    def make(self, service, attempts, region):
        client = super().make(service, attempts, region)
        client.meta.events.register("after-call", self._lose)
        return client

    def _lose(self, model, http_response, **_):
        if model.name == self.operation and self.left and http_response.status_code == 200:
            self.left -= 1
            self.lost += 1
            raise ReadTimeoutError(endpoint_url="http://service")


def test_a_job_whose_creation_was_never_answered_is_recognised_and_not_started_twice(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch) as lab:
        clients = Forgetful(lab.emulator.environment, "CreateTrainingJob", 3)
        run = lab.run(lab.definition(quick(4)), clients=clients)
        assert clients.lost == 3
        assert run.statuses == ["completed"] * 4
        assert len(lab.jobs()) == 4
        assert [trial.submissions for trial in run.result.state.trials.values()] == [1] * 4


def test_a_job_that_fills_the_quota_itself_is_recognised_too(tmp_path, monkeypatch):
    """Where the answer is lost, and the second try is refused as the first has taken the last place."""
    faults = [{"kind": "quota", "quota": "ml.m5.large for training job usage", "limit": 1}]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        clients = Forgetful(lab.emulator.environment, "CreateTrainingJob", 1)
        run = lab.run(lab.definition(quick(2, pause=0.5), n_workers=1), clients=clients)
        assert run.statuses == ["completed"] * 2
        assert len(lab.jobs()) == 2


def test_a_job_that_exists_although_it_was_given_up_is_stopped(tmp_path, monkeypatch):
    """Its creation had its effect and was refused all the same, and when asked the service did not know it yet."""
    with CloudLab(tmp_path, monkeypatch) as lab:
        clients = Contradictory("us-east-1", lab.emulator.environment)
        trials = [{"kind": "steps", "x": 0.1, "steps": 60, "pause": 0.5}, {"kind": "steps", "x": 0.2, "steps": 4, "pause": 0.5}]
        run = lab.run(lab.definition(trials, n_workers=2, budget={"max_wallclock_time": 12, "max_run": 1200}), clients=clients, check=False)
        stray = run.of("rejected")[0]["job"]
        assert any(f"{stray} runs although its creation was refused" in note for note in run.notes)
        assert lab.sagemaker.describe_training_job(TrainingJobName=stray)["TrainingJobStatus"] in ("Stopping", "Stopped")


class Contradictory(Clients):
    """Clients whose first creation has its effect and is refused."""

    def make(self, service, attempts, region):
        client = super().make(service, attempts, region)
        client.meta.events.register("after-call.sagemaker.CreateTrainingJob", self._deny)
        return client

    def _deny(self, **_):
        if not getattr(self, "denied", False):
            self.denied = True
            details = {"Error": {"Code": "ResourceLimitExceeded", "Message": "The limit 'q' is 1 Instances"}}
            raise ClientError(details, "CreateTrainingJob")


def test_an_order_to_stop_whose_answer_is_lost_is_given_again(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch) as lab:
        clients = Forgetful(lab.emulator.environment, "StopTrainingJob", 1)
        definition = lab.definition(quick(2, steps=200, pause=1), budget={"max_wallclock_time": 8, "max_run": 1200})
        run = lab.run(definition, clients=clients)
        assert clients.lost == 1
        assert {job["TrainingJobStatus"] for job in lab.jobs()} == {"Stopped"}
        assert run.result.survivors == ()


def test_expired_credentials_pause_and_fail_nothing(tmp_path, monkeypatch):
    """From the fifth listing on all calls are refused, S3's included, until somebody renews."""
    monkeypatch.setattr("backends.sagemaker.aws.call_queue._CREDENTIALS_PAUSE_S", 1.0)
    monkeypatch.setattr("backends.sagemaker.jobs.checkpoints._PAUSE_S", 1.0)
    with CloudLab(tmp_path, monkeypatch) as lab:
        state = {"expired_at": None}

        def watch(record, _, backend):
            if state["expired_at"] is None and record.kind == "reported":
                state["expired_at"] = record.at
                lab.emulator.add_faults([{"kind": "expired_token"}])
            elif state["expired_at"] is not None and record.kind == "noted" and "credentials" in record.body["text"]:
                lab.emulator.clear_faults("expired_token")

        run = lab.run(lab.definition(quick(5, steps=4, pause=0.2), n_workers=2), watch=watch)
        assert run.statuses == ["completed"] * 5
        assert [trial.reports for trial in run.result.state.trials.values()] == [4] * 5
        assert run.result.state.counted_failures == 0
        assert any("credentials are not accepted" in note and "goes on by itself" in note for note in run.notes)


def test_a_token_that_expires_before_the_first_upload(tmp_path, monkeypatch):
    monkeypatch.setattr("backends.sagemaker.aws.call_queue._CREDENTIALS_PAUSE_S", 0.5)
    faults = [{"kind": "expired_token", "operation": "PutObject", "times": 2}]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        run = lab.run(lab.definition(quick(2)))
        assert run.statuses == ["completed"] * 2
        assert any("credentials" in note for note in run.notes)


def test_checkpoints_looked_up_with_expired_credentials_wait(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("backends.sagemaker.jobs.checkpoints._PAUSE_S", 0.1)
    faults = [
        {"kind": "capacity", "job": "*-t0-a1"},
        {"kind": "expired_token", "operation": "ListObjectsV2", "times": 2},
    ]
    monkeypatch.setitem(__import__("benchmarking.controller.retry_policy", fromlist=["RETRY_RULES"]).RETRY_RULES, *_soon("CAPACITY"))
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        run = lab.run(lab.definition(quick(1)))
        assert (run.statuses, run.result.state.trials[0].submissions) == (["completed"], 2)
        assert "expired" in caplog.text


def _soon(name):
    """Return a cause and its rule with a short back-off."""
    import dataclasses

    from backends.failures import Cause
    from benchmarking.controller.retry_policy import RETRY_RULES

    return Cause[name], dataclasses.replace(RETRY_RULES[Cause[name]], backoff_s=0.2)
