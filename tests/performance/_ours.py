"""Outrider's side of the performance scripts: small definitions, and the loop of an experiment on a made-up table."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import _common

from backends.capabilities import Capabilities
from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.controller.tuner import Tuner
from benchmarking.experiment import ExperimentResult, run_experiment
from benchmarking.experiment_loop import make_tuner
from benchmarking.planning.feasibility import refusal
from benchmarking.planning.job_builder import JobBuilder
from benchmarking.surroundings import Surroundings
from launch.planning import plan
from launch.request import RunRequest

_NOOP_YAML = """\
name: noop
script: {script}
source_dir: {folder}
space: {{x: {{randint: [0, 1000000]}}, rate: {{loguniform: [1.0e-4, 1.0e-1]}}}}
objectives: {{loss: min}}
n_workers: {n_workers}
exclusive: false
preload: {preload}
budget: {{max_num_trials: {trials}}}
{block}
"""


def noop_spec(
    folder: Path, trials: int, n_workers: int, backend: str, preload: str = "[]", *, block: str = "", script: Path = _common.NOOP
) -> ExperimentSpec:
    """Return an experiment of no-op trials, planned as the command line plans it; `block` is added to its definition."""
    path = folder / "noop.yaml"
    values = {"script": script.name, "folder": script.parent, "n_workers": n_workers, "trials": trials, "preload": preload, "block": block}
    path.write_text(_NOOP_YAML.format(**values))
    request = RunRequest(benchmark=(str(path),), method=("RS",), backend=backend, experiment_tag="performance", results_dir=folder)
    return plan(request).specs[0]


def run_local(folder: Path, trials: int, n_workers: int, preload: str = "[]") -> ExperimentResult:
    """Run no-op trials on this machine: loop, SQLite journal, processes, exports. Leases are private to the folder."""
    environ = {**os.environ, "OUTRIDER_LEASES": str(folder / "leases")}
    return run_experiment(noop_spec(folder, trials, n_workers, "local", preload), Surroundings(environ, folder / "cache"))


class MadeUpTable:
    """Runs of any configuration: `reports` reports, one a second, of three metrics."""

    def __init__(self, reports: int) -> None:
        self._reports = reports

    def run(self, configuration: Mapping[str, Any], level: float | None, repeat: int) -> Run:
        x, rate = configuration["x"], configuration["rate"]
        made = [(k + 1.0, {"epoch": k + 1, "loss": rate / (k + 1) + x * 1e-9, "accuracy": 0.5}) for k in range(self._reports)]
        return Run(made, self._reports + 0.25 + x % 8 / 8)


class CommittingBackend(SimulatedBackend):
    """Simulated, but as to the journal: committed at every step as on a real clock."""

    capabilities = Capabilities(virtual_time=False, checkpoints=True, price_label="nominal")


def simulated_tuner(folder: Path, journal: SqliteJournal, trials: int, reports: int, *, commits: bool = False) -> Tuner:
    """Return the loop of an experiment on a made-up table, as `run_experiment` makes it."""
    spec = noop_spec(folder, trials, 4, "simulated")
    definition = spec.definition
    backend = (CommittingBackend if commits else SimulatedBackend)(MadeUpTable(reports), seed=spec.seed)
    jobs = JobBuilder(definition, spec.backend, spec.job_prefix(""), seed=spec.seed, region="us-east-1")
    refuse = refusal(definition, spec.backend, backend.capacity)
    return make_tuner(spec, backend, journal, jobs, 4, refuse, Surroundings({}, folder))


__all__ = ["run_local", "simulated_tuner"]
