"""Small experiments in folders, as a controller leaves them, and a tracker that lives in a dictionary."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from backends.simulated.table import Run
from backends.tracked import Change, KnownRun, Point, RunStatus, TrackedExperiment, Tracker, TrackerError
from benchmarking.archive.identity import SCHEMA_VERSION, ExperimentSpec
from benchmarking.controller.journal import Journal
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.tracking.translation import Translation
from definitions import strict_json
from definitions.resolve import resolve_python
from definitions.schema import BenchmarkDefinition
from definitions.show import render
from tests.benchmarking.experiments import FakeJobs, FakeTable, MemoryJournal, tuner

IDENTITY = "nonce"

SCRIPT = """\
import argparse, time
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--epochs", type=int)
given = parser.parse_args()
from outrider_report import report
for epoch in range(1, given.epochs + 1):
    time.sleep(0.3)
    report(epoch=epoch, loss=given.x / epoch)
"""

DEFINITION = """\
name: toy
script: toy.py
space: {x: {uniform: [0, 1]}}
objectives: {loss: min}
fidelity: {kind: progressive, argument: epochs, reported_as: epoch, full: 4}
budget: {max_num_trials: 3}
"""


class Reports(FakeTable):
    """Three reports a run, each with a name that MLflow does not take, a text and what is no number."""

    def run(self, configuration: Mapping[str, Any], level: float | None, repeat: int) -> Run | None:
        found = super().run(configuration, level, repeat)
        assert found is not None
        extra = {"a b%": 0.5, "phase": "warm", "fine": True, "nan": float("nan")}
        return Run([(at, {**metrics, **extra}) for at, metrics in found.reports], *vars_of(found))


def vars_of(run: Run) -> tuple[Any, ...]:
    """The rest of what a run is made of, after its reports."""
    import dataclasses

    return tuple(getattr(run, one.name) for one in dataclasses.fields(run))[1:]


def benchmark(folder: Path, **changes: Any) -> BenchmarkDefinition:
    (folder / "fake.py").write_text("", encoding="utf-8")
    given: dict[str, Any] = {
        "name": "fake",
        "script": "fake.py",
        "source_dir": str(folder),
        "space": {"x": {"randint": [0, 99]}},
        "objectives": {"loss": "min"},
        "fidelity": {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 3},
        "budget": {"max_num_trials": 3},
    }
    return BenchmarkDefinition.model_validate(given | changes)


def spec_of(folder: Path, *, tag: str = "t", number: int = 0, **changes: Any) -> ExperimentSpec:
    resolved = resolve_python(benchmark(folder, **changes), "local")
    return ExperimentSpec(resolved, "RS", number, tag, folder / "results", number=number, hears_levels=False, repeats=1)


def run_into(journal: Journal, spec: ExperimentSpec, table: FakeTable | None = None, **options: Any) -> None:
    """Run an experiment on a virtual clock, or go on with it."""
    loop = tuner(spec.definition, journal, table=table or Reports(), seed=spec.seed, **options)
    loop.run()


def prepared(spec: ExperimentSpec) -> Path:
    """Return the folder of an experiment that has not begun."""
    spec.folder.mkdir(parents=True, exist_ok=True)
    (spec.folder / "definition.yaml").write_text(render(spec.resolved), encoding="utf-8")
    known = {
        "schema_version": SCHEMA_VERSION,
        "hash": spec.hash,
        "benchmark": spec.definition.name,
        "method": spec.method,
        "method_arguments": {},
        "backend": spec.backend,
        "seed": spec.seed,
        "number": spec.number,
        "hears_levels": False,
        "repeats": 1,
        "nonce": IDENTITY,
        "region": "us-east-1",
    }
    (spec.folder / "experiment.json").write_text(strict_json.dumps(known), encoding="utf-8")
    (spec.folder / "environment.json").write_text('{"git": {"commit": "abc123", "dirty": false}}', encoding="utf-8")
    return spec.folder


def finished(folder: Path, *, table: FakeTable | None = None, own_names: bool = False, **changes: Any) -> Path:
    """Return the folder of an experiment that has ended; with `own_names` its jobs are called as those of a controller are."""
    spec = spec_of(folder, **changes)
    prepared(spec)
    options = {"jobs": FakeJobs(prefix=spec.job_prefix(IDENTITY))} if own_names else {}
    with contextlib.closing(SqliteJournal(spec.folder / "journal.sqlite")) as journal:
        run_into(journal, spec, table, **options)
    return spec.folder


def translated(spec: ExperimentSpec, journal: MemoryJournal | Journal, *, live: bool = False) -> TrackedExperiment:
    translation = Translation(spec, "prefix", "abc123")
    for record in journal.records():
        translation.take(record)
    return translation.experiment(live=live)


@dataclass
class Kept:
    """A run as the tracker in memory keeps it."""

    parameters: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    status: RunStatus = RunStatus.RUNNING
    ended_at: float | None = None
    sequence: int = -1


class MemoryTracker(Tracker):
    """Keeps runs in a dictionary; fails at the calls whose numbers it is given, before or after it has done what was asked."""

    def __init__(self, fails: Mapping[int, str] | None = None) -> None:
        self.runs: dict[str, Kept] = {}
        self.calls = 0
        self.fails = dict(fails or {})
        self.refuses = ""

    def find(self, experiment: TrackedExperiment) -> dict[str, KnownRun]:
        self._call()
        return {
            job: KnownRun(job, kept.sequence, kept.status, kept.ended_at is not None, dict(kept.tags)) for job, kept in self.runs.items()
        }

    def write(self, change: Change, known: Mapping[str, KnownRun]) -> KnownRun:
        if change.run.name == self.refuses:
            raise TrackerError("not that one", will_pass=False)
        self._call()
        run = change.run
        assert (change.known is None) == (run.job not in self.runs), "a run is made once"
        kept = self.runs.setdefault(run.job, Kept(dict(run.parameters)))
        kept.tags |= change.tags
        kept.points += change.points
        kept.status, kept.ended_at, kept.sequence = run.status, run.ended_at, run.sequence
        if self.fails.pop(-self.calls, ""):
            raise TrackerError("the answer was lost")
        return KnownRun(run.job, run.sequence, run.status, run.ended_at is not None, dict(kept.tags))

    def holds(self, tag: str) -> Mapping[str, int]:
        return {tag: len(self.runs)} if self.runs else {}

    def delete(self, tag: str) -> int:
        count, self.runs = len(self.runs), {}
        return count

    def _call(self) -> None:
        self.calls += 1
        if self.calls in self.fails:
            raise TrackerError(self.fails.pop(self.calls))
