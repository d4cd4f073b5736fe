"""Small simulated experiments for tests of the loop: a made-up table, a job maker, a journal in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from backends.events import Rejected
from backends.failures import Cause
from backends.job_spec import JobSpec, Limits
from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.controller.budget import cost_usd
from benchmarking.controller.interfaces import checkpoint_key
from benchmarking.controller.journal import ControllerSession, Journal, Record
from benchmarking.controller.method_adapter import MethodAdapter
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.tuner import Tuner
from benchmarking.methods.registry import build_method
from definitions import strict_json
from definitions.schema import BenchmarkDefinition, Progressive
from definitions.trial import TrialSpec


class MemoryJournal(Journal):
    """A journal that lives in a list; `limit` makes the process 'die' before that many records were appended."""

    def __init__(self, rows: list[tuple[int, float, str, str]] | None = None, limit: int | None = None) -> None:
        self.rows = list(rows or [])
        self.limit = limit
        self.commits = 0
        self._sessions: list[ControllerSession] = []

    def append(self, at: float, kind: str, body: Mapping[str, Any]) -> Record:
        if self.limit is not None and len(self.rows) >= self.limit:
            raise Killed
        self.rows.append((len(self.rows) + 1, at, kind, strict_json.dumps(body)))
        return Record(len(self.rows), at, kind, body)

    def commit(self) -> None:
        self.commits += 1

    def records(self, after: int = 0) -> Iterator[Record]:
        for sequence, at, kind, body in self.rows[after:]:
            yield Record(sequence, at, kind, strict_json.loads(body))

    def begin_session(self, session: ControllerSession) -> None:
        self._sessions.append(session)

    def sessions(self) -> list[ControllerSession]:
        return list(self._sessions)

    def close(self) -> None: ...


class Killed(BaseException):
    """The controller dies here."""


class FakeTable:
    """Made-up runs: `n` reports one second apart; loss falls with x; `fails` says which configurations fail, and why."""

    def __init__(self, reports: int = 3, fails: Mapping[int, Cause] | None = None, metric: str = "loss") -> None:
        self.reports, self.fails, self.metric = reports, dict(fails or {}), metric

    def run(self, configuration: Mapping[str, Any], level: float | None, repeat: int) -> Run | None:
        x = configuration["x"]
        reports = [
            (float(k), {"epoch": k, self.metric: 1.0 / k + x * 0.01 + repeat * 0.001, "alien": "text"}) for k in range(1, self.reports + 1)
        ]
        return Run(reports, self.reports + 0.25 + 0.125 * (x % 3), self.fails.get(x))


class FakeJobs:
    """Job specifications without scripts; every instance costs `usd_per_hour`."""

    def __init__(self, usd_per_hour: float | None = 3.6, max_run_s: float = 100.0, prefix: str = "job") -> None:
        self.usd_per_hour, self.worst_s, self.prefix = usd_per_hour, max_run_s, prefix

    def worst_case_s(self, spec: TrialSpec) -> float:
        return self.worst_s

    def name(self, trial: int, attempt: int) -> str:
        return f"{self.prefix}-t{trial}-a{attempt}"

    def build(self, trial: int, attempt: int, spec: TrialSpec, restore_from: str | None) -> JobSpec:
        return JobSpec(
            name=self.name(trial, attempt),
            trial=trial,
            attempt=attempt,
            script="fake.py",
            configuration=spec.configuration,
            level=spec.level,
            repeat=spec.repeat,
            checkpoint=checkpoint_key(trial),
            restore_from=restore_from,
            limits=Limits(max_run_s=self.worst_s),
        )

    def price(self, configuration: Mapping[str, Any]) -> tuple[float | None, int]:
        return self.usd_per_hour, 1

    def worst_usd(self, spec: TrialSpec) -> float | None:
        return cost_usd(self.worst_s, *self.price(spec.configuration))


def definition(**changes: Any) -> BenchmarkDefinition:
    given: dict[str, Any] = {"name": "fake", "script": "fake.py", "space": {"x": {"randint": [0, 99]}}, "objectives": {"loss": "min"}}
    given |= changes
    return BenchmarkDefinition(**given)


def tuner(
    benchmark: BenchmarkDefinition,
    journal: Journal,
    *,
    method: str = "RS",
    seed: int = 0,
    table: FakeTable | None = None,
    n_workers: int = 2,
    jobs: FakeJobs | None = None,
    observers: tuple[Any, ...] = (),
    refuse: Any = lambda trial: None,
    backend: Any = None,
    checkpoints: Path | None = None,
    make_method: Any = None,
    **backend_options: Any,
) -> Tuner:
    built = make_method() if make_method is not None else build_method(method, benchmark, seed, {}, region="us-east-1")
    adapter = MethodAdapter(built, refuse)
    progressive = isinstance(benchmark.fidelity, Progressive)
    setup = StateSetup(
        objectives=benchmark.objectives,
        repeats=benchmark.repeats,
        order=benchmark.order,
        seed=seed,
        level_name=benchmark.fidelity.reported_as if progressive and built.hears_levels else None,
        full_level=benchmark.fidelity.full if progressive else None,
    )
    if backend is None:
        backend = SimulatedBackend(table or FakeTable(), seed=seed, checkpoints=checkpoints, **backend_options)
    return Tuner(
        state=ExperimentState(setup),
        adapter=adapter,
        backend=backend,
        journal=journal,
        jobs=jobs or FakeJobs(),
        budget=benchmark.budget,
        n_workers=n_workers,
        observers=observers,
    )


def statuses(run):
    return Counter(str(trial.status) for trial in run.state.trials.values())


class Rejecting(SimulatedBackend):
    """Rejects the first submissions with given causes, to be tried again after ten seconds."""

    def __init__(self, causes, scope, **options):
        super().__init__(FakeTable(), **options)
        self.causes, self.scope, self.submitted, self.rejected = list(causes), scope, [], []

    def submit(self, job):
        self.submitted.append((self.now(), job.name))
        if self.causes:
            self.rejected.append(Rejected(job.name, self.now(), self.causes.pop(0), "rate exceeded", self.scope, self.now() + 10.0))
        else:
            super().submit(job)

    def wait(self, timeout_s):
        if self.rejected:
            return [self.rejected.pop(0)]
        return super().wait(timeout_s)
