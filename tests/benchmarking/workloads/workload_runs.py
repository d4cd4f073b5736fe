"""Runs workloads for tests: within this process, where torch is there already, or as a job would, as a program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarking.planning.job_builder import JobBuilder
from definitions.registry import Registry
from definitions.resolve import resolve
from definitions.trial import TrialSpec

ROOT = Path(__file__).resolve().parents[3]
WORKLOADS = ROOT / "benchmarking" / "workloads"


def reports(output):
    """The metrics of each report in the output, with the reporter's own keys."""
    return [json.loads(line.partition(": ")[2]) for line in output.splitlines() if line.startswith("[tune-metric]:")]


def summaries(output):
    """The summaries in the output, by rank."""
    found = [json.loads(line.partition(": ")[2]) for line in output.splitlines() if line.startswith("[outrider-summary]:")]
    return {one["outrider_rank"]: one for one in found}


def program(script, *arguments, timeout=120, **environment):
    """Run a script as the local back-end would; return what it printed."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OUTRIDER_", "SM_", "RANK", "WORLD_SIZE"))}
    return subprocess.run(
        [sys.executable, str(WORKLOADS / script), *map(str, arguments)],
        env={**clean, "PYTHONPATH": str(ROOT / "backends" / "reporter"), "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def cut(found):
    """Reports without the keys that differ from run to run."""
    own = ("st_", "outrider_")
    return [{key: value for key, value in one.items() if not key.startswith(own) and not key.endswith("_per_s")} for one in found]


def job_of(benchmark, backend):
    """The job of a built-in benchmark on a back-end, for a configuration from the middle of its space."""
    resolved = resolve(Registry().find(benchmark), backend).definition
    configuration = {key: domain.at(0.5) for key, domain in resolved.search_space.domains.items()}
    return JobBuilder(resolved, backend, "p", region="us-east-1").build(0, 1, TrialSpec(configuration), None)
