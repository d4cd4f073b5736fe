"""Jobs that fail, are silent, killed, stopped or deleted by somebody, too long, too large: the right cause, and the others go on."""

from __future__ import annotations

import dataclasses
import json
import sys
import threading
import time

import pytest

from backends.emulator import Settings
from backends.failures import Cause
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CloudError
from backends.sagemaker.lifecycle.poll_intervals import PollIntervals
from benchmarking.controller.retry_policy import RETRY_RULES
from definitions.errors import UserError
from tests.backends.sagemaker.cloud_lab import M5, SCRIPT, CloudLab

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    for cause in (Cause.CAPACITY, Cause.SERVICE_ERROR):
        monkeypatch.setitem(RETRY_RULES, cause, dataclasses.replace(RETRY_RULES[cause], backoff_s=0.2))


def test_one_failing_one_silent_one_unlucky_job_among_ten_and_some_worse(tmp_path, monkeypatch):
    """Job 3 exits with 1, job 5 prints nothing, job 7 finds no capacity once, job 8 is killed, job 9 takes too long."""
    kinds = {3: "fails", 5: "silent", 8: "killed", 9: "steps"}
    trials = [
        {"kind": kinds.get(n, "steps"), "x": n / 100, "steps": 300 if n == 9 else 2, "pause": 0.25 if n == 9 else 0} for n in range(10)
    ]
    with CloudLab(tmp_path, monkeypatch, faults=[{"kind": "capacity", "job": "*-t7-a1"}]) as lab:
        run = lab.run(lab.definition(trials, n_workers=10, budget={"max_failures": 3, "max_run": 24}))
        found = run.result.state.trials
        assert {n: str(trial.cause) for n, trial in found.items() if trial.cause is not None} == {
            3: "script_error",
            5: "no_metrics",
            8: "stopped_from_outside",  # the kernel killed nothing meanwhile
            9: "time_out",
        }
        assert [n for n, trial in found.items() if str(trial.status) == "completed"] == [0, 1, 2, 4, 6, 7]
        assert run.result.state.counted_failures == 3
        assert [found[n].submissions for n in (0, 7)] == [1, 2]
        assert found[3].message == "no such file: data.csv"
        assert list(found[3].log_tail) == ["reading data.csv", "no such file: data.csv"]
        assert found[5].message.startswith("it ended well, but reported nothing; its last line: nothing to do; report with: ")
        assert list(found[5].log_tail) == ["nothing to do"]
        assert found[8].log_tail[0] == "allocating"
        assert "max_run = 24 s" in found[9].message
        assert found[9].billable_s >= 24
        assert found[9].last["step"] >= 4


def test_all_fail_with_one_import_error(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch) as lab:
        trials = [{"kind": "import", "x": n / 100} for n in range(20)]
        run = lab.run(lab.definition(trials, n_workers=3, budget={"max_failures": 100, "max_run": 240}))
        assert run.result.ending.exit_code == 3
        assert "No module named 'a_module_that_nobody_has'" in run.result.ending.message
        # A slot is free when a job ends, its cause is known when its log is settled: up to three rounds of three have begun by then.
        assert len(lab.jobs()) <= 9
        assert "ModuleNotFoundError" in run.result.state.trials[0].message


def test_the_failure_budget_stops_the_others_even_if_the_first_order_fails(tmp_path, monkeypatch):
    """Three fail, two are tolerated, five run on: each is stopped, although StopTrainingJob itself fails once."""
    faults = [{"kind": "error", "operation": "StopTrainingJob", "times": 1, "status": 500}]
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        trials = [{"kind": "steps", "steps": 300, "pause": 1, "x": n / 100} for n in range(5)]
        trials += [{"kind": "fails", "x": n / 100} for n in range(3)]
        run = lab.run(lab.definition(trials, n_workers=8, budget={"max_failures": 2, "max_run": 2400}))
        assert run.result.ending.exit_code == 3
        by_status = sorted(job["TrainingJobStatus"] for job in lab.jobs())
        assert by_status == ["Failed"] * 3 + ["Stopped"] * 5
        assert run.result.survivors == ()
        assert run.calls["StopTrainingJob"] == 6


def test_what_nobody_may_stop_is_named(tmp_path, monkeypatch):
    faults = [{"kind": "error", "operation": "StopTrainingJob", "code": "AccessDeniedException", "message": "not you", "status": 403}]
    monkeypatch.setattr("backends.sagemaker.backend._CLOSE_WAIT_S", 2.0)
    with CloudLab(tmp_path, monkeypatch, faults=faults) as lab:
        definition = lab.definition([{"steps": 10, "pause": 0.5, "x": 0.1}], budget={"max_wallclock_time": 8, "max_run": 2400})
        run = lab.run(definition, check=False)
        name = lab.jobs()[0]["TrainingJobName"]
        assert any(f"{name} cannot be stopped" in note and "not you" in note for note in run.notes)
        assert any('"Action": "sagemaker:StopTrainingJob"' in note for note in run.notes)


def test_an_experiment_that_may_not_look_stops_its_jobs_all_the_same(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch) as lab:

        def watch(record, _, backend):
            if record.kind == "reported":
                lab.emulator.add_faults(
                    [{"kind": "error", "operation": "ListTrainingJobs", "code": "AccessDeniedException", "status": 403}]
                )

        with pytest.raises(Exception, match="cannot be listed"):
            lab.run(lab.definition([{"steps": 300, "pause": 1, "x": n / 10} for n in range(3)], budget={"max_run": 2400}), watch=watch)
        lab.emulator.clear_faults()
        deadline = time.monotonic() + 90
        while lab.running() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [job["TrainingJobStatus"] for job in lab.jobs()] == ["Stopped"] * 3


DENIED = {
    "kind": "error", "operation": "CreateTrainingJob", "code": "AccessDeniedException", "status": 400,
    "message": "User: arn:aws:iam::123456789012:user/ann is not authorized to perform: iam:PassRole on resource: "
    "arn:aws:iam::123456789012:role/jobs because no identity-based policy allows the iam:PassRole action",
}  # fmt: skip


@pytest.mark.parametrize("after", [0, 2])
def test_a_creation_that_is_denied_ends_the_experiment_and_says_which_line_is_missing(tmp_path, monkeypatch, after):
    """It is the fault of no trial: once somebody has allowed it, the experiment goes on with the same ones."""
    with CloudLab(tmp_path, monkeypatch, faults=[{**DENIED, "after": after}]) as lab:
        definition = lab.definition([{"steps": 2, "pause": 0.5, "x": n / 10} for n in range(8)], n_workers=2)
        clients = Clients("us-east-1", lab.emulator.environment)
        with pytest.raises(CloudError, match="cannot be created") as caught:
            lab.run(definition, clients=clients)
        assert '{"Effect": "Allow", "Action": "iam:PassRole", "Resource": "arn:aws:iam::*:role/jobs"}' in str(caught.value)
        assert clients.counts["CreateTrainingJob"] <= after + 2  # one for each worker, and none again
        lab.emulator.clear_faults()
        run = lab.run(definition, check=False)
        assert [str(trial.status) for trial in run.result.state.trials.values()].count("failed") == 0
        assert len(run.result.state.trials) == 8
        assert run.result.state.money.spent_usd == pytest.approx(lab.bill_usd(), abs=1e-9)


def test_stopped_or_deleted_by_somebody_else(tmp_path, monkeypatch):
    """Trial 0 is stopped from outside; trial 1 is stopped and deleted before anybody looks, and is lost, and run once more."""
    with CloudLab(tmp_path, monkeypatch) as lab:
        done = threading.Event()

        def meddle(zero, one):
            lab.sagemaker.stop_training_job(TrainingJobName=zero)
            lab.sagemaker.stop_training_job(TrainingJobName=one)
            while lab.sagemaker.describe_training_job(TrainingJobName=one)["TrainingJobStatus"] != "Stopped":
                time.sleep(0.01)
            lab.sagemaker.delete_training_job(TrainingJobName=one)
            done.set()

        def watch(record, state, backend):
            reports = {job.trial: job for job in state.jobs.values() if job.reports}
            if record.kind == "reported" and {0, 1} <= set(reports) and not done.is_set():
                # Done between two looks of the back-end's, as the loop waits here.
                meddle(reports[0].name, reports[1].name)

        trials = [{"steps": 5 if n else 300, "pause": 0.5, "x": n / 10} for n in range(3)]
        run = lab.run(lab.definition(trials), watch=watch, intervals=PollIntervals(1.0, 2.0, 4.0, full_s=6.0), check=False)
        assert (run.statuses, run.causes) == (["stopped", "completed", "completed"], ["stopped_from_outside", None, None])
        assert [trial.submissions for trial in run.result.state.trials.values()] == [1, 2, 1]
        closed = [body for body in run.of("closed") if body["job"].endswith("t1-a1")]
        assert [(body["outcome"], body["cause"]) for body in closed] == [("failed", "lost")]
        assert run.result.state.counted_failures == 0
        assert lab.running() == []


def test_many_arguments_travel_by_file_and_two_hosts_count_once(tmp_path, monkeypatch):
    script = SCRIPT + "\nreport(step=9, loss=0.5, last=given['--a119'], long=len(given['--long']), hosts=os.environ['SM_HOSTS'])\n"
    with CloudLab(tmp_path, monkeypatch, script=script) as lab:
        arguments = {"instance_type": M5, "instance_count": 2, "long": "ä" * 5000, **{f"a{n}": n for n in range(120)}}
        run = lab.run(lab.definition([{"x": 0.1, "steps": 2}], arguments=arguments))
        assert run.statuses == ["completed"], run.result.state.trials[0].message
        trial = run.result.state.trials[0]
        assert (trial.reports, trial.last["last"], trial.last["long"]) == (3, "119", 5000)
        assert json.loads(trial.last["hosts"]) == ["algo-1", "algo-2"]
        assert lab.jobs()[0]["ResourceConfig"]["InstanceCount"] == 2
        assert trial.cost_usd == pytest.approx(2 * trial.billable_s * 0.115 / 3600)


PROGRAM = """
import json, os, sys
p = json.load(open(os.environ["SM_INPUT_CONFIG_DIR"] + "/hyperparameters.json"))
for epoch in range(3):
    print(f"[{epoch}] train-rmse:{float(p['eta']) / (epoch + 1)}", flush=True)
if float(p["eta"]) > 0.5:
    print("eta is too large", flush=True)
    sys.exit(1)
"""


def test_an_image_s_own_program_with_metrics_by_expression(tmp_path, monkeypatch):
    settings = Settings(images={"xgboost*": (sys.executable, "-c", PROGRAM)})
    with CloudLab(tmp_path, monkeypatch, settings=settings) as lab:
        block = {"image": "xgboost:1", "log_settle_s": 1}
        metrics = {"rmse": r"train-rmse:([\d.]+)"}
        trials = [{"eta": 0.3}, {"eta": 0.9}]
        run = lab.run(lab.definition(trials, block=block, script=None, metrics=metrics, objectives={"rmse": "min"}))
        first, second = run.result.state.trials.values()
        assert (str(first.status), first.reports, first.last["rmse"]) == ("completed", 3, pytest.approx(0.1))
        assert (str(second.cause), second.message) == ("script_error", "eta is too large")
        assert "PutObject" not in run.calls


def test_an_unknown_price_is_unknown_and_never_nothing(tmp_path, monkeypatch):
    with CloudLab(tmp_path, monkeypatch) as lab:
        arguments = {"instance_type": "ml.zz9.xlarge"}
        capped = lab.definition([{"x": 0.1, **arguments}], arguments={}, budget={"max_cost": 1.0})
        with pytest.raises(UserError, match=r"price of ml\.zz9\.xlarge is unknown"):
            lab.run(capped, tag="capped", check=False)
        assert lab.jobs() == []
        run = lab.run(lab.definition([{"x": 0.1}], arguments=arguments), tag="refused", check=False)
        assert (run.statuses, run.causes) == (["failed"], ["bad_request"])
        assert "ml.zz9.xlarge" in run.result.state.trials[0].message
        # One that the service knows, and the price table does not.
        run = lab.run(lab.definition([{"x": 0.1}], arguments={"instance_type": "ml.r7i.large"}), tag="open", check=False)
        assert run.statuses == ["completed"], run.result.state.trials[0].message
        assert run.result.state.trials[0].cost_usd is None
        assert run.result.state.trials[0].billable_s >= 0
        assert run.result.trials[0]["cost_usd"] in (None, "")
        assert lab.running() == []
