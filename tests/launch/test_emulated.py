"""`--emulate` on a command, and the comparison with another endpoint."""

from __future__ import annotations

import json
import os

import pytest

from backends.emulator import Emulator
from launch.__main__ import main

pytestmark = pytest.mark.slow


def test_a_commands_jobs_see_the_emulator_and_afterwards_nothing_is_left(toy, run, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "mine")
    (toy.folder / "toy.py").write_text(
        "import base64, os, urllib.request, json\nfrom outrider_report import report\n"
        "asked = urllib.request.Request(os.environ['AWS_ENDPOINT_URL'] + '/_emulator/state')\n"
        "pair = os.environ['AWS_ACCESS_KEY_ID'] + ':' + os.environ['AWS_SECRET_ACCESS_KEY']\n"
        "asked.add_header('Authorization', 'Basic ' + base64.b64encode(pair.encode()).decode())\n"
        "state = json.load(urllib.request.urlopen(asked))\n"
        "report(loss=float(len(state) > 0), epoch=2, endpoint=os.environ['AWS_ENDPOINT_URL'])\n"
    )
    code, out, err = run("--benchmark", "toy.yaml", "--max_num_trials", "1", "--format", "json", "--emulate")
    assert code == 0
    assert json.loads(out)["experiments"][0]["trials"][0]["last_loss"] == 1.0
    assert "emulated AWS on http://127.0.0.1:" in err
    assert os.environ["AWS_REGION"] == "mine"
    assert "AWS_ENDPOINT_URL" not in os.environ


def test_doctor_finds_the_emulator_like_another_emulator(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("launch.smoke._POLL_S", 0.2)
    with Emulator() as other:
        other.create_bucket("bucket")
        for name, value in other.environment.items():
            monkeypatch.setenv(name, value)
        words = ["--role", "arn:aws:iam::123456789012:role/r", "--output", "s3://bucket/smoke/", "--image", "image"]
        asked = ["--only", "refusals", "completed", "--yes", "--to", str(tmp_path / "smoke.json")]
        code = main(["doctor", "--smoke", *words, *asked, "--endpoint_url", other.endpoint_url])
    printed = capsys.readouterr()
    assert (code, printed.out[:9]) == (0, "alike in "), printed.err


def test_the_logs_of_emulated_jobs_stay_and_are_shown(toy, run, capfd, monkeypatch):
    monkeypatch.chdir(toy.folder)
    words = ["--benchmark", "toy.yaml", "--backend", "sagemaker", "--set", "arguments.instance_type=ml.m5.large", "--max_num_trials", "1"]
    block = "\nsagemaker: {framework: pytorch, framework_version: '2.9'}\n"
    (toy.folder / "toy.yaml").write_text((toy.folder / "toy.yaml").read_text() + block)
    code, out, err = run(*words, "--experiment_tag", "t", "--yes", "--emulate")
    assert out.splitlines()[-1].endswith(", journal.sqlite, logs/")
    assert code == 0, err
    assert main(["logs", "t", "--trial", "0"]) == 0
    assert capfd.readouterr().out.count("[tune-metric]:") == 2
