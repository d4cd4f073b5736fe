"""Whole experiments on an emulator with faults, and what holds after each: nothing orphaned, right bill."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from backends.backend_context import BackendContext
from backends.emulator import Emulator, Settings
from backends.emulator.core.credentials import Credentials
from backends.emulator.core.settings import SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.backend import PollIntervals, SageMakerBackend
from backends.sagemaker.jobs.resolve_options import options_of
from benchmarking.archive.keeper import FolderKeeper, Keeper
from benchmarking.controller.journal import Record
from benchmarking.experiment import ExperimentResult, run_experiment
from benchmarking.methods.registry import experiment_spec
from benchmarking.surroundings import Surroundings
from definitions.instances import price_of
from definitions.resolve import Resolved
from definitions.schema import BenchmarkDefinition
from tests.backends.fast_clock import FastClock

M5, M5X = "ml.m5.large", "ml.m5.xlarge"
SPEED = 4.0
INTERVALS = PollIntervals(shortest_s=1.0, longest_s=2.0, settle_s=4.0)

SCRIPT = """
import os, signal, sys, time
given = dict(word.split('=', 1) for word in sys.argv[1:])
kind, steps, pause = given.get("--kind", "steps"), int(given.get("--steps", 1)), float(given.get("--pause", 0))
x = float(given.get("--x", 0))
if kind == "import":
    import a_module_that_nobody_has
if kind in ("killed", "slain"):
    print("allocating", flush=True)
    if kind == "slain":
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
from outrider_report import checkpoint_dir, report
if kind == "fails":
    print("reading data.csv", flush=True)
    sys.exit("no such file: data.csv")
if kind == "silent":
    print("nothing to do", flush=True)
    sys.exit(0)
path, first = checkpoint_dir() / "step", 1
if kind == "resumes" and path.exists():
    first = int(path.read_text()) + 1
for step in range(first, steps + 1):
    if kind == "resumes":
        (path.parent / "new").write_text(str(step))
        os.replace(path.parent / "new", path)
    report(step=step, loss=x + 1 / step, first=first)
    # The worse it is the slower, so that it meets others' results.
    time.sleep(pause * (1 + x) if kind == "resumes" else pause)
"""


def quotas(**training: int) -> dict[str, int]:
    """Return limits by quota; `m5=3` is three instances of ml.m5.large."""
    names = {"m5": M5, "m5x": M5X}
    special = {TRAINING_QUOTA.format(names[name]): limit for name, limit in training.items()}
    return {**special, WARM_POOL_QUOTA.format("*"): 0, SPOT_QUOTA.format("*"): 200, TRAINING_QUOTA.format("*"): 200}


@dataclass
class Run:
    """One experiment that has ended."""

    result: ExperimentResult
    backend: SageMakerBackend
    records: list[Record]
    calls: Counter[str] = field(default_factory=Counter)

    @property
    def statuses(self) -> list[str]:
        """Of the trials, by number."""
        return [str(trial.status) for _, trial in sorted(self.result.state.trials.items())]

    @property
    def causes(self) -> list[str | None]:
        """Of the trials, by number."""
        return [None if trial.cause is None else str(trial.cause) for _, trial in sorted(self.result.state.trials.items())]

    @property
    def notes(self) -> list[str]:
        """What a person was told."""
        return [record.body["text"] for record in self.records if record.kind == "noted" and record.body["text"]]

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the bodies of the records of one kind."""
        return [record.body for record in self.records if record.kind == kind]


class CloudLab:
    """An emulator, a source folder, and experiments on them.

    Args:
        folder: temporary folder.
        monkeypatch: puts the emulator's environment in force.
        settings, faults, seed: of the emulator.
        script: the source of `run.py`.
        port: of the emulator; 0 for a free one.
        clock: of emulator and back-end; where None, one of SPEED. Budgets and delays are in its seconds, the script's pauses in real ones.
    """

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        *,
        settings: Settings | None = None,
        faults: Any = None,
        clock: FastClock | None = None,
        seed: int = 0,
        script: str = SCRIPT,
        port: int = 0,
    ) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        self.clock = clock or FastClock(SPEED)
        self._settings, self._faults, self._seed, self._port = settings, faults, seed, port
        self._credentials = Credentials.drawn()  # kept over a second start, as a controller goes on with those that it has
        self.source = folder / "source"
        self.source.mkdir(exist_ok=True)
        (self.source / "run.py").write_text(script)
        self.start()

    def start(self, faults: Any = None) -> None:
        """Start the emulator, a second time on the same port and folder."""
        emulator = Emulator(
            self.folder / "cloud", self._port, self._seed, faults or self._faults, self.clock, self._settings, self._credentials
        )
        self.emulator = emulator.__enter__()
        self._port = int(self.emulator.endpoint_url.rsplit(":", 1)[1])
        self.emulator.create_bucket("bench")
        for name, value in self.emulator.environment.items():
            self.monkeypatch.setenv(name, value)
        self.sagemaker = self.emulator.client("sagemaker")

    def stop(self) -> None:
        """End the emulator and all its jobs."""
        self.emulator.__exit__(None, None, None)

    def __enter__(self) -> CloudLab:
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def definition(
        self, trials: Sequence[Mapping[str, Any]] = (), block: Mapping[str, Any] | None = None, **changes: Any
    ) -> BenchmarkDefinition:
        """Return a definition, as resolved for back-end sagemaker."""
        given: dict[str, Any] = {
            "name": "lab",
            "script": "run.py",
            "source_dir": str(self.source),
            "arguments": {"instance_type": M5},
            "objectives": {"loss": "min"},
            "n_workers": 4,
            "budget": {"max_failures": 3, "max_run": 480},
            "sagemaker": {"image": "image:1", "bucket": "bench", **(block or {})},
        }
        if trials:
            given["trials"] = [dict(trial) for trial in trials]
        return BenchmarkDefinition.model_validate(given | changes)

    def run(
        self,
        definition: BenchmarkDefinition,
        *,
        method: str = "LISTED",
        tag: str = "tag",
        intervals: PollIntervals = INTERVALS,
        clients: Any = None,
        watch: Any = None,
        check: bool = True,
        arguments: Mapping[str, Any] | None = None,
        keeper: Keeper | None = None,
        **options: Any,
    ) -> Run:
        """Run an experiment to its end, and check that nothing is left and that the bill is the emulator's own.

        Args:
            definition: see `definition`.
            method, tag: of the experiment.
            pace: of the back-end.
            clients: of AWS; made where None.
            watch: called with each record, the state and the back-end.
            check: whether jobs and bill are checked.
            arguments: of the method.
            keeper: where the experiment's state is kept beside its folder.
            options: further ones of the back-end.
        """
        spec = experiment_spec(Resolved(definition, {}, "sagemaker"), method, 1, tag, self.folder / "results", arguments or {})
        records: list[Record] = []
        made: list[SageMakerBackend] = []
        environ = self.emulator.environment
        clients = clients or Clients("us-east-1", environ)

        def make(name: str, context: BackendContext) -> SageMakerBackend:
            settled = options_of(context.definition, "sagemaker", f"{context.tag}/{context.prefix}", clients, environ)
            given = {"clock": self.clock.now, "real_s": self.clock.real_s, "rng": random.Random(1), "intervals": intervals} | options
            made.append(SageMakerBackend(context.definition, settled, clients, context.prefix, **given))
            return made[0]

        def observe(record: Record, state: Any) -> None:
            records.append(record)
            if watch is not None:
                watch(record, state, made[0])

        surroundings = Surroundings(
            environ, self.folder / "cache", observers=(observe,), make_backend=make, keeper=keeper or FolderKeeper()
        )
        result = run_experiment(spec, surroundings)
        run = Run(result, made[0], records, Counter(clients.counts))
        if check:
            assert self.running() == []
            assert result.state.money.spent_usd == pytest.approx(self.bill_usd(), abs=1e-9)
            assert sum(trial.cost_usd for trial in result.state.trials.values()) == pytest.approx(self.bill_usd(), abs=1e-9)
        return run

    def jobs(self) -> list[dict[str, Any]]:
        """Return the descriptions of all jobs that the emulator has, in order of their creation."""
        return [self.sagemaker.describe_training_job(TrainingJobName=one["TrainingJobName"]) for one in self.listed()]

    def listed(self) -> list[dict[str, Any]]:
        """Return the summaries of all jobs, likewise."""
        pages = self.sagemaker.get_paginator("list_training_jobs").paginate(SortBy="CreationTime", SortOrder="Ascending")
        return [one for page in pages for one in page["TrainingJobSummaries"]]

    def running(self) -> list[str]:
        """Return the names of jobs that are not over."""
        return [one["TrainingJobName"] for one in self.listed() if one["TrainingJobStatus"] in ("InProgress", "Stopping")]

    def bill_usd(self) -> float:
        """Return what the emulator would charge for all jobs."""
        total = 0.0
        for job in self.jobs():
            resources = job["ResourceConfig"]
            price = price_of(resources["InstanceType"], "us-east-1")
            assert price is not None
            total += job.get("BillableTimeInSeconds", 0) * resources["InstanceCount"] * price.usd_per_hour / 3600
        return total


def per_trial(calls: Mapping[str, int], trials: int) -> dict[str, float]:
    """Return calls of SageMaker and Logs for each trial, by operation."""
    return {name: round(count / trials, 2) for name, count in sorted(calls.items()) if "Bucket" not in name and "Object" not in name}
