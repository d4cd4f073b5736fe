"""`outrider status` of a launched run, from a machine that knows its tag alone."""

from __future__ import annotations

import json

import pytest

from backends.sagemaker.aws.object_store import S3ObjectStore
from benchmarking.remote.controller_word import ControllerState, ControllerWord, Restart, as_bytes
from benchmarking.remote.generations import claim_generation
from benchmarking.remote.layout import controller_live_key, live_key
from benchmarking.remote.standing import SeenController, SeenExperiment, SeenRun
from launch.__main__ import main
from launch.remote.run_status import document, text
from tests.backends.tag_bench import BUCKET, TagBench, tag_bench, use
from tests.benchmarking.archive.stored_folders import copied

SAID = {
    "standing": "running",
    "benchmark": "toy",
    "method": "RS",
    "seed": 0,
    "trials": {"completed": 3, "running": 2},
    "budget_trials": 8,
    "objective": "loss",
    "best": 0.25,
    "elapsed_s": 61.0,
    "spent_usd": 0.5,
    "dollars": "emulated",
    "in_flight": 2,
    "next": {"queued": 3, "waiting": 0, "at": None},
    "running": {"4": "60 % after 30 s"},
}


def test_what_is_wrong_comes_first_then_controllers_then_experiments():
    failed = SeenController(1, 2, "failed: 3 restarts", is_alive=False, silent_s=240.0, restarts=("no memory", "killed"), job="ctl-x-g2")
    run = SeenRun((failed,), (SeenExperiment("toy/RS-sagemaker-0", "left", SAID), SeenExperiment("toy/RS-sagemaker-1", "not started")))
    lines = text("t", run).splitlines()
    assert lines[0] == "nobody is at work on t: controller 1, generation 2: failed: 3 restarts"
    assert lines[1].endswith("outrider launch --resume t")
    row = next(line for line in lines if line.split()[:2] == ["1", "2"])
    assert "4 min 0 s ago" in row
    assert [line for line in lines if "was started again" in line] == ["controller 1 was started again: killed"]
    row = next(line for line in lines if line.startswith("toy "))
    assert "3 completed, 2 running of 8" in row
    assert "$0.50 emulated" in row
    assert row.split()[-3:] == ["2", "3", "queued"]
    assert lines[-1] == "toy/RS-sagemaker-0, trial 4: 60 % after 30 s"
    assert [one["state"] for one in document("t", run)["experiments"]] == ["left", "not started"]


@pytest.mark.slow
def test_the_tag_alone_is_enough_and_none_is_said(monkeypatch, tmp_path, capsys):
    with tag_bench() as emulator:
        use(monkeypatch, emulator.environment, tmp_path)
        monkeypatch.chdir(tmp_path)
        bench = TagBench(emulator)
        assert main(["status", "t"]) == 2
        assert "there is no run" in capsys.readouterr().err
        store = S3ObjectStore(f"s3://{BUCKET}/outrider/runs/t", bench.clients())
        job = bench.job("t")
        claim_generation(store, "n", 1, 1, job, 1.0)
        said = ControllerWord(1, 1, job, 1.0, ControllerState.RUNNING, "", (Restart(1.0, "killed"),), 100.0)
        store.put(controller_live_key(1), as_bytes(said))
        store.put(live_key("toy/RS-sagemaker-0"), json.dumps(SAID).encode())
        store.put("toy/RS-sagemaker-0/journal/00000001", b"")
        assert main(["status", "t", "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert [(one["state"], one["job_status"]) for one in found["controllers"]] == [("running", "InProgress")]
        assert [(one["state"], one["best"]) for one in found["experiments"]] == [("running", 0.25)]
        assert main(["status", "t", "--prefix", "elsewhere"]) == 2
        # One that was collected here, and whose state in S3 was deleted, is told by what is here.
        copied(tmp_path, "repeated")
        monkeypatch.setenv("OUTRIDER_RESULTS", str(tmp_path / "results"))
        (tmp_path / "results" / "repeated" / "launch.json").write_text("{}")
        capsys.readouterr()
        assert main(["status", "repeated"]) == 0
        assert capsys.readouterr().out.startswith("1 experiment")
        assert main(["status", "repeated", "--region", "us-east-1"]) == 2
