"""`outrider advise`: an answer in one sentence, from small jobs; what it refuses."""

from __future__ import annotations

import json
import re

import pytest

from launch.__main__ import main

SCRIPT = """\
import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument("--step_ms", type=float)
parser.add_argument("--fraction", type=float, default=1.0)
given = parser.parse_args()
import outrider_report
steps = int(100 * given.fraction)
with outrider_report.phase("train"):
    for step in range(steps):
        time.sleep(given.step_ms / 1000)
outrider_report.report(loss=1.0)
"""
DEFINITION = """\
name: steps
script: steps.py
space: {step_ms: {choice: [100, 10]}}
objectives: {duration_s: min}
fidelity: {kind: per_job, argument: fraction, ladder: [0.05, 0.2]}
"""


@pytest.fixture
def steps(tmp_path, monkeypatch):
    (tmp_path / "steps.py").write_text(SCRIPT)
    (tmp_path / "steps.yaml").write_text(DEFINITION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OUTRIDER_LEASES", str(tmp_path / "leases"))
    return tmp_path


@pytest.mark.slow
def test_it_says_in_one_sentence_what_to_use_and_what_finding_out_has_cost(steps, capsys):
    # Ten times the work at each step: no noise of a busy machine hides that.
    assert main(["advise", "steps.yaml", "--set", "exclusive=false"]) == 0
    said, spent, files = capsys.readouterr().out.splitlines()
    assert re.match(r"Use step_ms=10 \((9\d|100)% sure that nothing is better by more than 5%\): ", said), said
    assert "next best is step_ms=100, " in said
    # Nobody is billed on this machine, so that no dollars were spent.
    assert spent.startswith("Spent ")
    assert "$" not in spent
    assert files.endswith("/steps/RACE-local-0/forecasts.csv, trials.csv")


@pytest.mark.slow
def test_as_json_it_has_the_figures_and_the_forecasts(steps, capsys):
    flags = ["--method", "CANARY", "--set", "space.step_ms=10,10.5", "--set", "exclusive=false", "--format", "json"]
    assert main(["advise", "steps.yaml", *flags]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema_version"], found["nominal_dollars"]) == (1, True)
    assert found["ordered_by"] in ("total_s", "quiet_s")  # the latter where other programs had the processor
    assert found["best"] in ("step_ms=10", "step_ms=10.5")
    times = {one["configuration"]: one for one in found["forecasts"] if one["metric"] == "total_s"}
    assert set(times) == {"step_ms=10", "step_ms=10.5"}
    assert all(one["lo90"] <= one["lo80"] <= one["median"] <= one["hi80"] <= one["hi90"] for one in times.values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "ASHA"], "it is one run of RACE or CANARY"),
        (["--method", "RACE", "CANARY"], "it is one run of RACE or CANARY"),
        (["--num_seeds", "3"], "it is one run of RACE or CANARY"),
        (["--format", "csv"], "the answer is a sentence"),
        (["--set", "space.no=1,2", "--backend", "nowhere"], "nowhere"),
    ],
)
def test_what_is_no_question_of_this_kind_is_refused(steps, capsys, words, said):
    assert main(["advise", "steps.yaml", *words]) == 2
    assert said in capsys.readouterr().err
    assert not (steps / "results").exists()


def test_what_would_run_is_shown_without_running_it(steps, capsys):
    assert main(["advise", "steps.yaml", "--dry_run"]) == 0
    assert "steps      RACE " in capsys.readouterr().out
    (steps / "steps.yaml").write_text(DEFINITION.replace("duration_s: min", "loss: min"))
    assert main(["advise", "steps.yaml", "--dry_run"]) == 0
    assert "steps      CANARY " in capsys.readouterr().out
    assert not (steps / "results").exists()
