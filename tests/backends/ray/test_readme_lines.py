"""The README's three lines from the demo on this machine to the same on a Ray cluster."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.launch.conftest import ROOT, rows

pytestmark = [pytest.mark.slow, pytest.mark.needs_ray, pytest.mark.timeout(300)]


def test_the_three_lines_from_the_demo_here_to_the_same_on_a_cluster(cluster, tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^<!-- ray -->\n```\n(.*?)^```$", text, re.M | re.S)
    here, start, there = block.splitlines()
    # The cluster is there already, and noted as `ray start` notes it.
    assert start == "$ ray start --head --port=6379"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "OUTRIDER_"))}
    environment |= {"RAY_ADDRESS": cluster.address, "OUTRIDER_CACHE": str(tmp_path / "cache"), "OUTRIDER_LEASES": str(tmp_path / "leases")}
    for line in (here, there):
        words = line.removeprefix("$ outrider ").split()
        # One trial of few images is as good as ten for what is asked here.
        command = [sys.executable, str(ROOT / "hpo_main.py"), *words, "--max_num_trials", "1", "--scale", "0.02"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    found = {
        tag: rows(tmp_path / "results" / tag / "demo" / f"RS-{backend}-0" / "trials.csv")[0]
        for tag, backend in (("here", "local"), ("there", "ray"))
    }
    for one in found.values():
        assert one["status"] == "completed"
        # Five cents an hour and core, wherever it runs, for at least as long as it trained.
        cores = 2 if one["instance_type"].endswith(".2cpu") else 1
        assert float(one["cost_usd"]) > 0.99 * float(one["duration_s"]) * cores * 0.05 / 3600
    alike = ("ingestion", "dataset", "loader_workers", "batch_size")
    assert [found["here"][key] for key in alike] == [found["there"][key] for key in alike]
