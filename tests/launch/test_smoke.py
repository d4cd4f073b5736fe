"""`doctor --smoke` as a command: what it asks before, what it writes, what it says of an endpoint that differs."""

from __future__ import annotations

import json

import pytest

from definitions.errors import UserError
from launch.smoke import main

ROLE = "arn:aws:iam::123456789012:role/r"
WORDS = ["--smoke", "--role", ROLE, "--output", "s3://bucket/smoke", "--image", "image"]


@pytest.fixture(autouse=True)
def region(monkeypatch):
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


@pytest.mark.parametrize("answer", ["", "n", "no"])
def test_nothing_is_started_where_it_was_not_agreed_to_and_the_cost_is_said(answer, capsys):
    with pytest.raises(UserError, match="not agreed"):
        main([*WORDS, "--only", "completed", "stopped"], lambda question: answer)
    # 120 and 180 s of $0.115 an hour.
    assert "2 questions, 5 minutes of ml.m5.large: at most $0.01 (prices of us-east-1)" in capsys.readouterr().err


def test_without_a_terminal_somebody_has_to_agree_beforehand():
    with pytest.raises(UserError, match="no terminal"):
        main([*WORDS, "--only", "completed"])


def test_without_a_region_that_is_said(monkeypatch):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    with pytest.raises(UserError, match="set AWS_REGION"):
        main(WORDS)


@pytest.mark.slow
def test_an_endpoint_that_differs_is_shown_and_everything_is_written(tmp_path, monkeypatch, capsys):
    from backends.emulator import Emulator

    file = tmp_path / "smoke.json"
    # An error that no client repeats.
    denied = {
        "kind": "error",
        "operation": "DescribeTrainingJob",
        "code": "AccessDeniedException",
        "message": "Not for you.",
        "status": 400,
    }
    with Emulator(faults=[denied]) as emulator:
        emulator.create_bucket("bucket")
        for name, value in emulator.environment.items():
            monkeypatch.setenv(name, value)
        words = [*WORDS, "--endpoint_url", emulator.endpoint_url, "--only", "conditional writes", "refusals", "--to", str(file)]
        assert main(words) == 1
    shown = capsys.readouterr().out
    assert "refusals: describe an unknown job" in shown
    assert "['AccessDeniedException', 'Not for you.']" in shown
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["account"]["conditional writes: if match, where there is none"] == ["NoSuchKey", "The specified key does not exist."]
    assert written["emulator"]["refusals: describe an unknown job"] == ["ValidationException", "Requested resource not found."]
    assert "123456789012" not in file.read_text(encoding="utf-8")
