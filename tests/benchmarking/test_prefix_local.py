"""CANARY on processes of this machine: a real job that says how far it is, one that ignores its stop, and one that is over at once."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import argparse, signal, time
from outrider_report import progress, report
given = argparse.ArgumentParser()
given.add_argument("--steps", type=int)
given.add_argument("--stubborn", type=int, default=0)
asked = given.parse_args()
if asked.stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
for number in range(asked.steps):
    until = time.process_time() + 0.02
    while time.process_time() < until:
        pass
    progress(number + 1, asked.steps)
report(loss=0.5)
"""

pytestmark = pytest.mark.slow


def run(folder: Path, space: str, *more: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Return the rows of trials.csv and of forecasts.csv."""
    (folder / "job.py").write_text(SCRIPT)
    (folder / "job.yaml").write_text(
        f"name: job\nscript: job.py\nspace: {space}\nobjectives: {{loss: min, duration_s: min}}\nlocal: {{grace_s: 1}}\nexclusive: false\n"
    )
    command = [sys.executable, str(ROOT / "hpo_main.py"), "--benchmark", "job.yaml", "--method", "CANARY", "--n_workers", "1", *more]
    environ = {**os.environ, "OUTRIDER_LEASES": str(folder / "leases"), "OUTRIDER_RESULTS": str(folder / "results")}
    subprocess.run(command, cwd=folder, env=environ, check=True, capture_output=True, timeout=200)
    (place,) = folder.glob("results/*/job/CANARY-local-0")
    return [list(csv.DictReader((place / name).open(newline=""))) for name in ("trials.csv", "forecasts.csv")]


@pytest.mark.parametrize("stubborn", [0, 1])
def test_a_job_is_stopped_when_its_beginning_has_told_enough(tmp_path, stubborn):
    (trial,), forecasts = run(tmp_path, f"{{steps: {{choice: [3000]}}, stubborn: {{choice: [{stubborn}]}}}}")
    assert (trial["status"], trial["cause"]) == ("completed", "prefix_measured")
    (cpu,) = [row for row in forecasts if row["metric"] == "cpu_s"]
    # Sixty seconds of work, and what the interpreter takes.
    assert 50 < float(cpu["median"]) < 75
    assert float(trial["duration_s"]) < 60


def test_a_job_that_is_over_before_its_prefix_is_measured_whole(tmp_path):
    (trial,), forecasts = run(tmp_path, "{steps: {choice: [5]}}")
    assert (trial["status"], trial["cause"], trial["last_loss"]) == ("completed", "", "0.5")
    (total,) = [row for row in forecasts if row["metric"] == "total_s"]
    assert float(total["median"]) == pytest.approx(float(trial["duration_s"]), rel=0.1)
