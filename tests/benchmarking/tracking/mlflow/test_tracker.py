import itertools
import json
import os
import re
import time

import pytest
import requests

from backends.tracked import TrackerError
from benchmarking.tracking.catching_up import Telling
from benchmarking.tracking.mlflow.tracker import SERVER, MlflowTracker, check_uri, set_limits
from benchmarking.tracking.process import TrackingProcess
from definitions.errors import UserError
from launch.__main__ import main
from tests.benchmarking.tracking.mlflow.server import QUIET, MlflowServer, fake
from tests.benchmarking.tracking.told import DEFINITION, SCRIPT, finished

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]  # a server of MLflow takes minutes to start on a busy machine


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    found = MlflowServer(tmp_path_factory.mktemp("mlflow"))
    found.start()
    yield found
    found.kill()


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    for name, value in QUIET.items():
        monkeypatch.setenv(name, value)
    set_limits(os.environ)


def telling(uri, said, make=MlflowTracker):
    # Whoever looks at this clock finds every pause over.
    clock = itertools.count(0.0, 100.0)
    return Telling(lambda: make(uri), "mlflow", said.append, lambda: next(clock))


def export(tmp_path, tag, *words):
    return main(["export", tag, "--results_dir", str(tmp_path / "results"), "--to", "mlflow", *words])


def test_export_makes_a_run_of_each_trial_in_one_of_the_experiment(server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server.uri)
    finished(tmp_path, tag="whole", space={"x": {"choice": [3]}, "words": "v" * 10_000}, budget={"max_num_trials": 1})
    assert export(tmp_path, "whole") == 0
    out, err = capsys.readouterr()
    assert out == "mlflow has 1 experiment of whole\n"
    assert "MLflow does not take the name 'a b%', which is 'a b_' there" in err
    assert "MLflow takes 6000 characters of a value; 'words' has 10000 and ends there with …" in err
    runs = server.runs("whole/fake")
    assert sorted(runs) == ["RS-local-0", "trial-0"]
    parent, trial = runs["RS-local-0"], runs["trial-0"]
    assert trial.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert trial.data.tags["outrider.job"] == "job-t0-a1"
    assert trial.data.tags["mlflow.source.git.commit"] == "abc123"
    assert (trial.info.status, parent.info.status) == ("FINISHED", "FINISHED")
    assert trial.data.params["x"] == "3"
    assert len(trial.data.params["words"]) == 6000
    assert server.history(trial, "loss") == [(k, pytest.approx(1 / k + 0.03)) for k in (1, 2, 3)]
    assert server.history(trial, "a b_") == [(1, 0.5), (2, 0.5), (3, 0.5)]
    # A virtual clock begins at 0, which MLflow takes for no time at all.
    times = [one.timestamp for one in server.client().get_metric_history(trial.info.run_id, "loss")]
    assert [at - trial.info.start_time for at in times] == [999, 1999, 2999]
    assert trial.info.end_time - trial.info.start_time == 3249
    assert trial.data.metrics["cost_usd"] == pytest.approx(3.25 * 3.6 / 3600)


def test_twice_gives_nothing_twice(server, tmp_path):
    folder = finished(tmp_path, tag="twice")
    said = []
    first = telling(server.uri, said)
    first.follow(folder)
    assert first.round()
    before = server.runs("twice/fake")
    histories = {name: server.history(run, "loss") for name, run in before.items()}
    again = telling(server.uri, said)
    again.follow(folder)
    assert again.round()
    after = server.runs("twice/fake")
    assert {name: run.info.run_id for name, run in after.items()} == {name: run.info.run_id for name, run in before.items()}
    assert {name: server.history(run, "loss") for name, run in after.items()} == histories
    assert [len(history) for history in histories.values()].count(3) == 3


@pytest.fixture
def toy(tmp_path, monkeypatch):
    (tmp_path / "toy.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "toy.yaml").write_text(DEFINITION, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return lambda tag, *words: main(
        ["run", "--benchmark", "toy.yaml", "--experiment_tag", tag, "--results_dir", "results", "--track", "mlflow", *words]
    )


def there(server, experiment):
    return {
        name: (run.info.run_id, run.info.status, run.data.params, run.data.tags, server.history(run, "loss"))
        for name, run in server.runs(experiment).items()
    }


def test_told_while_it_runs_and_then_exported_changes_nothing(server, toy, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server.uri)
    assert toy("live") == 0
    out, err = capsys.readouterr()
    assert "mlflow" not in out
    assert "lacks something" not in err
    live = there(server, "live/toy")
    assert sorted(live) == ["RS-local-0", "trial-0", "trial-1", "trial-2"]
    assert [[step for step, _ in live[f"trial-{number}"][-1]] for number in range(3)] == [[1, 2, 3, 4]] * 3
    assert {status for _, status, *_ in live.values()} == {"FINISHED"}
    assert export(tmp_path, "live") == 0
    assert there(server, "live/toy") == live


def test_a_tracker_that_is_down_costs_the_run_nothing_and_is_caught_up(server, toy, tmp_path, monkeypatch, capsys):
    with fake(500, b"oops", "text/plain") as down:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", down.uri)
        assert toy("down") == 0
    err = capsys.readouterr().err
    assert err.count("mlflow could not be told") == 1
    assert "mlflow lacks something of down" in err
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server.uri)
    assert export(tmp_path, "down") == 0
    assert {len(history) for name, (*_, history) in there(server, "down/toy").items() if name != "RS-local-0"} == {4}


def test_nothing_runs_where_nobody_could_be_told(toy, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "./mlruns")
    assert toy("folder") == 2
    assert "./mlruns is a folder" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_a_second_run_for_one_job_is_deleted(server, tmp_path):
    folder = finished(tmp_path, tag="second")
    first = telling(server.uri, [])
    first.follow(folder)
    assert first.round()
    one = server.runs("second/fake")["trial-0"]
    server.client().create_run(one.info.experiment_id, tags={name: one.data.tags[name] for name in ("outrider.job", "outrider.experiment")})
    again = telling(server.uri, [])
    again.follow(folder)
    assert again.round()
    assert sorted(server.runs("second/fake")) == ["RS-local-0", "trial-0", "trial-1", "trial-2"]


def test_a_server_that_is_killed_in_the_middle_has_everything_once_it_is_back(server, tmp_path):
    folder = finished(tmp_path, tag="killed", budget={"max_num_trials": 6})
    said, writes = [], []

    class Dies(MlflowTracker):
        def write(self, change, known):
            writes.append(change.run.job)
            if len(writes) == 4:
                server.kill()
            return super().write(change, known)

    one = telling(server.uri, said, Dies)
    one.follow(folder)
    try:
        assert not one.round()
    finally:
        server.start()
    assert len(said) - sum("MLflow does not take" in line for line in said) == 1
    assert one.round()
    assert "mlflow takes what it is told again" in said
    runs = server.runs("killed/fake")
    assert sorted(runs) == ["RS-local-0", *(f"trial-{number}" for number in range(6))]
    assert {run.info.status for run in runs.values()} == {"FINISHED"}
    assert {len(server.history(run, "loss")) for name, run in runs.items() if name != "RS-local-0"} == {3}


class KilledError(BaseException):
    """Nothing catches it, as nothing outlives a process that is killed."""


def test_a_teller_killed_after_any_request_has_told_nothing_twice(server, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarking.tracking.mlflow.batches.MOST_ENTITIES", 7)  # so that a trial takes several requests
    send = requests.adapters.HTTPAdapter.send
    left = 0

    def counted(adapter, request, *words, **options):
        nonlocal left
        answer = send(adapter, request, *words, **options)
        left -= 1
        if not left:
            raise KilledError  # the server has it, and nobody here will know
        return answer

    monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", counted)

    def told(tag, after):
        nonlocal left
        folder = finished(tmp_path, tag=tag, budget={"max_num_trials": 1})
        left = after
        first = telling(server.uri, [])
        first.follow(folder)
        try:
            assert first.round()
        except KilledError:
            killed = True
        else:
            killed = False
        first.close()
        left = 0
        second = telling(server.uri, [])
        second.follow(folder)
        assert second.round()
        second.close()
        found = {}
        for name, run in server.runs(f"{tag}/fake").items():
            tags = {
                key: text for key, text in run.data.tags.items() if key not in ("mlflow.parentRunId", "outrider.experiment", "outrider.job")
            }
            histories = {key: server.history(run, key) for key in run.data.metrics}
            # As text, in which one NaN is as the other.
            found[name] = json.dumps([run.info.status, run.info.end_time, run.data.params, tags, histories], sort_keys=True)
        return killed, found

    _, whole = told("killed-never", 0)
    assert sorted(whole) == ["RS-local-0", "trial-0"]
    assert len(json.loads(whole["trial-0"])[-1]["loss"]) == 3
    after = 0
    while True:
        after += 1
        killed, found = told(f"killed-{after}", after)
        assert found == whole, after
        if not killed:
            break
    assert after > 10


def test_clean_deletes_what_a_tag_has_there_and_it_can_be_told_again(server, tmp_path, monkeypatch, capsys):
    folder = finished(tmp_path, tag="cleaned")
    one = telling(server.uri, [])
    one.follow(folder)
    assert one.round()
    finished(tmp_path, tag="kept", budget={"max_num_trials": 1})
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server.uri)
    assert export(tmp_path, "kept") == 0
    own = server.client().create_run(server.client().create_experiment("mine", tags={"outrider.tag": "cleaned"}))
    capsys.readouterr()
    words = ["clean", "--tag", "cleaned", "--tracking", "--results_dir", str(tmp_path / "results"), "--yes"]
    assert main(words) == 0
    out = capsys.readouterr().out.splitlines()
    assert [line.split() for line in out if line.startswith("mlflow")] == [["mlflow", "cleaned/fake", "4"]]
    assert out[-1] == "4 runs of cleaned deleted at mlflow"
    assert server.client().get_run(own.info.run_id).info.lifecycle_stage == "active"
    assert sorted(server.runs("kept/fake")) == ["RS-local-0", "trial-0"]
    assert main(words) == 0
    assert capsys.readouterr().out == "mlflow has nothing of cleaned\n"
    assert server.client().get_experiment_by_name("cleaned/fake").lifecycle_stage == "deleted"
    again = telling(server.uri, [])
    again.follow(folder)
    assert again.round()
    assert sorted(server.runs("cleaned/fake")) == ["RS-local-0", "trial-0", "trial-1", "trial-2"]


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (429, b'{"error_code": "RESOURCE_EXHAUSTED", "message": "slow down"}', "application/json", "slow down|429"),
        (500, b"oops", "text/plain", "500"),
        (200, b"<html><body>Sign in</body></html>", "text/html", "Sign in|JSON|Expecting|html"),
        (403, b'{"error_code": "PERMISSION_DENIED", "message": "not yours"}', "application/json", "not yours"),
    ],
)
def test_a_bad_answer_is_said_once_and_stops_nothing(tmp_path, status, body, kind, words):
    folder = finished(tmp_path, tag="bad", budget={"max_num_trials": 1})
    said = []
    with fake(status, body, kind) as server:
        one = telling(server.uri, said)
        one.follow(folder)
        for _ in range(3):
            assert not one.round()
        assert server.count == 3
    assert len(said) == 1
    assert re.search(words, said[0]), said


def test_a_tracker_that_hangs_costs_its_process_and_not_the_run(tmp_path):
    folder = finished(tmp_path, tag="hangs", budget={"max_num_trials": 1})
    said = []
    with fake(0) as server:
        process = TrackingProcess("mlflow", said.append, {**os.environ, "MLFLOW_TRACKING_URI": server.uri})
        process.follow(folder)
        until = time.monotonic() + 100
        while not server.count and time.monotonic() < until:
            time.sleep(0.05)
        began = time.process_time()
        for _ in range(20_000):
            process.follow(folder)
        assert time.process_time() - began < 5.0
        left, error = process.close(timeout_s=0.5)
    assert (left, error != "") == (None, True)


@pytest.mark.parametrize("uri", ["file:///tmp/mlruns", "./mlruns", "/data/mlruns", "mlruns", ""])
def test_a_folder_is_refused_with_the_line_that_starts_a_server(uri):
    with pytest.raises(UserError, match=re.escape(SERVER)):
        check_uri(uri)


ARN = "arn:aws:sagemaker:eu-west-1:123456789012:mlflow-tracking-server/team"


@pytest.fixture
def managed(monkeypatch):
    """Have the plug-in of SageMaker's speak to a server on this machine, with credentials that are none."""
    for name, value in (("ACCESS_KEY_ID", "emulated"), ("SECRET_ACCESS_KEY", "emulated"), ("EC2_METADATA_DISABLED", "true")):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", ARN)
    return lambda uri: monkeypatch.setenv("SAGEMAKER_MLFLOW_CUSTOM_ENDPOINT", uri)


def test_an_arn_goes_through_the_plug_in_of_sagemaker(server, tmp_path, managed, capsys):
    managed(server.uri)
    finished(tmp_path, tag="managed", budget={"max_num_trials": 1})
    assert export(tmp_path, "managed") == 0
    assert capsys.readouterr().out == "mlflow has 1 experiment of managed\n"
    assert sorted(server.runs("managed/fake")) == ["RS-local-0", "trial-0"]


def test_requests_to_an_arn_are_signed_for_its_region_and_service(managed):
    with fake(403, b'{"error_code": "PERMISSION_DENIED", "message": "not yours"}') as server:
        managed(server.uri)
        with pytest.raises(TrackerError, match="not yours"):
            MlflowTracker(ARN).delete("t")
        (headers,) = server.headers
    assert re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=emulated/\d{8}/eu-west-1/sagemaker-mlflow/aws4_request, SignedHeaders=.*", headers["Authorization"]
    )
    assert headers["x-mlflow-sm-tracking-server-arn"] == ARN


@pytest.mark.parametrize("uri", ["arn:aws:sagemaker:eu-west-1:123456789012:training-job/x", "arn:aws:s3:::bucket", "arn:"])
def test_an_arn_of_something_else_is_refused(uri):
    with pytest.raises(UserError, match=r"is no ARN of SageMaker's managed MLflow\n  the form is arn:aws:sagemaker:"):
        check_uri(uri)


def test_an_address_where_nobody_listens_will_pass(tmp_path):
    folder = finished(tmp_path, tag="nobody", budget={"max_num_trials": 1})
    one = telling("http://127.0.0.1:9", [])
    one.follow(folder)
    assert not one.round()
    assert not one.refused
    with pytest.raises(TrackerError, match=r"127\.0\.0\.1"):
        MlflowTracker("http://127.0.0.1:9").delete("t")
