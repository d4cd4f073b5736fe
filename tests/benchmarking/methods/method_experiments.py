"""Simulated experiments for tests of methods: learning curves over a small space, and runs that are killed and resumed."""

from __future__ import annotations

import math
import shutil

from backends.simulated.backend import SimulatedBackend
from backends.simulated.table import Run
from benchmarking.controller.method import MethodContext
from benchmarking.controller.method_adapter import MethodAdapter
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.tuner import Tuner
from benchmarking.methods.registry import build_method
from definitions.schema import Budget
from tests.benchmarking.experiments import FakeJobs, Killed, MemoryJournal, definition

SPACE = {"lr": {"loguniform": [1e-4, 1.0]}, "width": {"randint": [1, 64]}, "act": {"choice": ["relu", "tanh", "gelu"]}}
FULL = 9


def loss_of(configuration, epoch):
    penalty = {"relu": 0.0, "gelu": 0.1, "tanh": 0.3}[configuration["act"]]
    final = (math.log10(configuration["lr"]) + 2) ** 2 / 4 + (configuration["width"] - 40) ** 2 / 1600 + penalty
    return final + 2.0 / epoch


class Curves:
    """Runs of `full` epochs, one a second; also reports `error` (to be minimised) and `speed` (to be maximised)."""

    def __init__(self, full=FULL, values=None):
        self.full, self.values = full, values or {}

    def run(self, configuration, level, repeat):
        reports = []
        for epoch in range(1, self.full + 1):
            loss = loss_of(configuration, epoch)
            metrics = {"epoch": epoch, "loss": loss, "score": -loss, "speed": 100.0 / configuration["width"]}
            reports.append((float(epoch), metrics | self.values.get((configuration["width"], epoch), {})))
        return Run(reports, self.full + 0.25 + configuration["width"] % 4 / 8)


def benchmark(**changes):
    given = {
        "space": SPACE,
        "fidelity": {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": FULL},
        "budget": Budget(max_num_trials=12),
    }
    return definition(**(given | changes))


def experiment(
    definition,
    journal,
    method="ASHA",
    *,
    seed=0,
    arguments=None,
    n_workers=3,
    backend=None,
    table=None,
    wrap=None,
    refuse=lambda trial: None,
    observers=(),
    **options,
):
    """Return a loop over learning curves; `wrap` gets the method that was built, and returns the one that decides."""
    built = build_method(method, definition, seed, arguments or {}, region="us-east-1")
    adapter = MethodAdapter(wrap(built) if wrap else built, refuse)
    fidelity = definition.fidelity
    setup = StateSetup(
        objectives=definition.objectives,
        repeats=definition.repeats,
        order=definition.order,
        seed=seed,
        level_name=fidelity.reported_as if fidelity and built.hears_levels else None,
        full_level=fidelity.full if fidelity else None,
    )
    return Tuner(
        state=ExperimentState(setup),
        adapter=adapter,
        backend=backend or SimulatedBackend(table or Curves(fidelity.full if fidelity else FULL), seed=seed, **options),
        journal=journal,
        jobs=FakeJobs(),
        budget=definition.budget,
        n_workers=n_workers,
        observers=observers,
    )


def moments(kinds, every):
    """Return how many records there are when a process is killed: before the first of each pair of kinds that follow each other, and each
    `every`-th."""
    pairs = {pair: place for place, pair in reversed([*enumerate(zip([None, *kinds], kinds, strict=False))])}
    return sorted({*pairs.values(), *range(0, len(kinds), every)})


def kill_and_resume(run, tmp_path, every=1):
    """Run whole; then, for some records, run until there, start anew from the journal, and compare the journals.

    Args:
        run: makes the loop from a journal and a folder for checkpoints.
        every: of how many records one is tried, beside the first of each kind after each other kind.
    """
    whole = MemoryJournal()
    ended = run(whole, tmp_path / "whole").run()
    for kill_at in moments([kind for _, _, kind, _ in whole.rows], every):
        folder = tmp_path / str(kill_at)
        killed = MemoryJournal(limit=kill_at)
        try:
            run(killed, folder).run()
        except Killed:
            pass
        else:
            raise AssertionError("was to be killed")
        again = MemoryJournal(killed.rows)
        assert run(again, folder).run() == ended
        # Compared row by row: a diff of two long lists takes minutes.
        differing = next((pair for pair in zip(again.rows, whole.rows, strict=False) if pair[0] != pair[1]), None)
        assert differing is None, f"killed before record {kill_at + 1}: {differing}"
        assert len(again.rows) == len(whole.rows)
        shutil.rmtree(folder, ignore_errors=True)
    return whole


def context(**changes):
    made = benchmark(**{k: v for k, v in changes.items() if k not in ("arguments", "seed")})
    return MethodContext(
        made.search_space, (), made.objectives, made.fidelity, changes.get("seed", 0), changes.get("arguments", {}), region="us-east-1"
    )
