"""`outrider stop`: what it prints and returns."""

from __future__ import annotations

import csv
import time

import pytest

from launch.__main__ import main
from launch.verbs import stop
from tests.backends.tag_bench import TagBench, tag_bench, use

pytestmark = pytest.mark.slow


@pytest.fixture
def bench(monkeypatch, tmp_path):
    with tag_bench() as emulator:
        use(monkeypatch, emulator.environment, tmp_path)
        yield TagBench(emulator)


def test_jobs_are_stopped_and_listed(bench, capsys):
    names = [bench.job("my-run"), bench.job("my-run")]
    other = bench.job("other")
    assert main(["stop", "--tag", "my-run"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["job", "before", "now", "what", "was", "done"]
    assert sorted(line.split()[0] for line in out[2:]) == sorted(names)
    assert all(line.split()[1:] == ["InProgress", "Stopped", "stopped"] for line in out[2:])
    assert bench.status(other) == "InProgress"
    assert main(["stop", "--tag", "my-run"]) == 0
    assert capsys.readouterr().out == "no job of my-run runs in us-east-1; there is no run of it in results\n"


def test_what_is_left_is_named_and_told_by_the_exit_code(bench, capsys):
    name = bench.job("my-run")
    bench.emulator.add_faults([{"kind": "error", "operation": "StopTrainingJob", "code": "AccessDeniedException", "status": 400}])
    assert main(["stop", "--tag", "my-run"]) == 5
    assert capsys.readouterr().err.splitlines()[-1].strip() == name


def test_dashes_and_no_waiting(bench, capsys):
    bench.job("my-run")
    bench.emulator.add_faults([{"kind": "slow_stop", "seconds": 60.0}])
    assert main(["stop", "--tag", "my-run", "--no-wait"]) == 0
    assert "asked to stop" in capsys.readouterr().out


def test_a_refusal_is_no_traceback(bench, capsys):
    bench.job("my-run")
    bench.emulator.add_faults([{"kind": "expired_token"}])
    assert main(["stop", "--tag", "my-run"]) == 5
    err = capsys.readouterr().err
    assert err.startswith(
        "error: where my-run is kept is not known, as AWS does not say whose account this is\n  GetCallerIdentity: Expired"
    )
    assert "Traceback" not in err


@pytest.mark.parametrize(("environment", "code"), [({}, 2), ({"AWS_DEFAULT_REGION": "us-east-1"}, 5)])
def test_without_region_or_credentials(monkeypatch, tmp_path, capsys, environment, code):
    use(monkeypatch, environment, tmp_path)
    assert main(["stop", "--tag", "my-run"]) == code
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    if code == 2:
        assert err.splitlines() == [
            "error: stop my-run: there is nothing of this tag in results",
            "  nor is an AWS region known in which it could be looked for",
            "  give --results_dir, if its results are elsewhere; or --region (or AWS_DEFAULT_REGION), where its jobs run",
        ]


def test_what_is_no_tag_is_refused(capsys):
    assert main(["stop", "--tag", ""]) == 2
    assert "--tag ''" in capsys.readouterr().err


def wait_for(condition):
    until = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_run_on_this_machine_ends_as_at_ctrl_c_and_one_trial_for_good(toy, controller, monkeypatch, capsys):
    monkeypatch.chdir(toy.folder)
    monkeypatch.delenv("AWS_REGION", raising=False)
    words = ["--benchmark", "toy.yaml", "--experiment_tag", "t", "--set", "seconds=30", "--n_workers", "1"]
    process = controller(*words)
    folder = toy.experiment("t")
    wait_for(lambda: [*(folder / "logs").glob("*-t0-a1.log")] and (folder / "stop").exists())
    assert (folder / "stop").stat().st_mode & 0o777 == 0o600
    assert main(["stop", "t", "--trial", "5"]) == 2
    assert "such a trial" in capsys.readouterr().err
    assert main(["stop", "t", "--trial", "0"]) == 0
    assert capsys.readouterr().out == f"trial 0 of {folder.relative_to(toy.folder)}: stopped\n"
    wait_for(lambda: [*(folder / "logs").glob("*-t1-a1.log")])
    assert main(["stop", "t"]) == 0
    assert process.process.wait(90) == 130
    rows = {row["trial"]: row for row in csv.DictReader((folder / "trials.csv").open())}
    assert [(rows[trial]["status"], rows[trial]["cause"]) for trial in "01"] == [
        ("stopped", "stopped_from_outside"),
        ("interrupted", "interrupted"),
    ]
    assert not (folder / "stop").exists()
    capsys.readouterr()
    assert main(["stop", "--tag", "t"]) == 0
    assert capsys.readouterr().out == "nothing of t runs on this machine\n"


@pytest.mark.parametrize(("backend", "outlive"), [("sagemaker", True), ("warm_pool", True), ("local", False), ("simulated", False)])
def test_the_service_is_asked_wherever_jobs_may_outlive_their_controller(backend, outlive):
    assert stop.jobs_outlive_it(backend) is outlive
