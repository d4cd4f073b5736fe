"""Studies whose controller is killed without warning: the same end, the same bill, and the money under its cap."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import pytest

from backends.emulator import Emulator
from benchmarking.studies.files import read_study
from benchmarking.studies.standing import spent_usd
from definitions.instances import price_of
from tests.launch.conftest import ROOT, rows

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KILLED_AT_A_WRITE = """\
import os, signal, sys
from benchmarking.studies import files
from launch.__main__ import main

left, before = int(sys.argv[1]), sys.argv[2] == "before"
write = files.write_atomically

def counted(path, text):
    global left
    left -= 1
    if not left and before:
        os.kill(os.getpid(), signal.SIGKILL)
    write(path, text)
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

files.write_atomically = counted
sys.exit(main(["run", *sys.argv[3:]]))
"""


def measured(folder):
    """Return what each experiment measured: (benchmark's folder, experiment) -> the losses of its trials."""
    return {
        (path.parent.parent.name, path.parent.name): [(row["status"], row["last_loss"]) for row in rows(path)]
        for path in sorted(folder.glob("*/*/trials.csv"))
    }


@pytest.mark.parametrize("side", ["before", "after"])
def test_killed_at_each_write_of_its_file_a_study_comes_to_the_same_end(toy, run, side):
    words = ("--benchmark", "toy.yaml", "--method", "RS", "GRID", "--num_seeds", "2", "--max_num_trials", "1", "--max_cost", "0.5")
    run(*words, "--experiment_tag", "whole")
    wanted = measured(toy.results / "whole")
    assert len(wanted) == 4
    kills = 0
    while True:
        tag = f"k{kills}"
        command = [sys.executable, "-c", KILLED_AT_A_WRITE, str(kills + 1), side, *words, "--experiment_tag", tag]
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=toy.folder, env=environ, capture_output=True, text=True, timeout=200, check=False)
        if done.returncode != -9:
            assert done.returncode in (0, 4), done.stderr
            break
        kills += 1
        # Where not even its plan was written, the tag is as new: then it is asked for again in full.
        code, _, err = run(*(("--resume", tag) if read_study(toy.results / tag) is not None else (*words, "--experiment_tag", tag)))
        assert code in (0, 4), err
        assert measured(toy.results / tag) == wanted
        study = read_study(toy.results / tag)
        assert sum(one.share_usd for one in study.experiments) == pytest.approx(0.5)
    assert kills >= 2, "when it is planned, and when it is looked at"


def test_killed_at_ten_moments_sixteen_experiments_have_the_emulators_bill_under_the_cap(toy, run, monkeypatch):
    rng = random.Random(5)
    block = "sagemaker: {image: 'image:1', bucket: bench}\n"
    (toy.folder / "toy.yaml").write_text((toy.folder / "toy.yaml").read_text() + block, encoding="utf-8")
    cap = 2.0
    words = ("--benchmark", "toy.yaml", "--backend", "sagemaker", "--set", "arguments.instance_type=ml.m5.large", "--max_num_trials", "1")
    study = ("--method", "RS", "GRID", "--num_seeds", "8", "--experiment_tag", "s", "--max_cost", str(cap), "--max_run", "600", "--yes")
    with Emulator() as emulator:
        emulator.create_bucket("bench")
        environ = {**os.environ, **emulator.environment, "OUTRIDER_LEASES": str(toy.folder / "leases")}
        asked = [*words, *study]
        for kill in range(10):
            command = [sys.executable, str(ROOT / "hpo_main.py"), *asked]
            with subprocess.Popen(command, cwd=toy.folder, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as controller:
                # Two while it starts, which takes long on a busy machine; the others at any moment of what it does then.
                if kill > 1:
                    next((line for line in controller.stderr if b" starts" in line), None)
                time.sleep(rng.uniform(0.2, 3.0))
                controller.kill()
                controller.wait()
            if (toy.results / "s" / "study.json").exists():
                asked = ["--resume", "s", "--yes"]
        for name, value in emulator.environment.items():
            monkeypatch.setenv(name, value)
        code, _, err = run(*asked)
        assert code in (0, 4), err
        client = emulator.client("sagemaker")
        names = [
            one["TrainingJobName"] for page in client.get_paginator("list_training_jobs").paginate() for one in page["TrainingJobSummaries"]
        ]
        jobs = [client.describe_training_job(TrainingJobName=name) for name in names]
    found = measured(toy.results / "s")
    assert len(found) == 16
    assert all([status for status, _ in trials] == ["completed"] for trials in found.values())
    assert {job["TrainingJobStatus"] for job in jobs} <= {"Completed", "Stopped", "Failed"}
    price = price_of("ml.m5.large", "us-east-1")
    bill_usd = sum(job.get("BillableTimeInSeconds", 0) for job in jobs) * price.usd_per_hour / 3600
    spent = [spent_usd(path.parent) for path in (toy.results / "s").glob("*/*/experiment.json")]
    assert sum(spent) == pytest.approx(bill_usd, abs=1e-9)
    assert bill_usd < cap
    assert len(jobs) == 16, "a job that runs on while its controller is gone is found again, never started twice"
