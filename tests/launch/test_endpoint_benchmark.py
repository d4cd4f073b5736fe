"""A built-in benchmark of an endpoint by the command itself: its model is exported, served and loaded, and the bill is per million."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

ROOT = Path(__file__).resolve().parents[2]


def test_one_trial_of_an_endpoint_ends_with_a_rate_and_its_price(tmp_path):
    settings = [
        "budget.max_num_trials=1",
        "arguments.search_s=4",
        "arguments.probe_s=3",
        "payload=binary",
        "max_batch_size=8",
        "batch_delay_ms=0.0",
    ]
    command = [sys.executable, "hpo_main.py", "--benchmark", "endpoint", "--results_dir", str(tmp_path / "results")]
    command += ["--cache_dir", str(tmp_path / "cache"), "--set", *settings]
    environment = {**os.environ, "OUTRIDER_LEASES": str(tmp_path / "leases")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=380, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model cnn: exported for onnx, and compared with torch" in done.stdout + done.stderr
    (found,) = (tmp_path / "results").rglob("trials.csv")
    with found.open(newline="", encoding="utf-8") as stream:
        (row,) = csv.DictReader(stream)
    assert row["status"] == "completed"
    # On a machine that does much else no rate may pass; then there is no price either.
    rate = float(row["last_max_rate_per_s"])
    assert (rate > 0) == (row["usd_per_million"] != "")
    if rate:
        per_second = float(row["cost_usd"]) / float(row["duration_s"])
        assert float(row["usd_per_million"]) == pytest.approx(per_second * 1e6 / rate, rel=1e-6)
