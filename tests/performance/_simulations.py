"""Simulated experiments on a made-up table for the scripts that compare methods; Syne Tune's schedulers run in our loop as a `Method`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from _tables import SPACE, Curves

from backends.simulated.backend import SimulatedBackend
from benchmarking.controller.method import Decision, Evaluation, Method, Suggestion
from benchmarking.controller.method_adapter import MethodAdapter
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.controller.state import ExperimentState
from benchmarking.controller.tuner import Tuner
from benchmarking.methods.registry import build_method
from benchmarking.planning.job_builder import JobBuilder
from definitions.schema import BenchmarkDefinition, Budget


def definition(full: int, objectives: Mapping[str, str], **budget: Any) -> BenchmarkDefinition:
    """Return the definition of an experiment on the table."""
    fidelity = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": full}
    return BenchmarkDefinition(
        name="table", script="table.py", space=SPACE, objectives=dict(objectives), fidelity=fidelity, budget=Budget(**budget)
    )


def simulate(method: Method, made: BenchmarkDefinition, table: Curves, seed: int, journal: Path, n_workers: int = 4) -> Tuner:
    """Run an experiment with its journal in a file and return the finished loop."""
    adapter = MethodAdapter(method, lambda configuration: None)
    heard = "epoch" if method.hears_levels else None
    setup = StateSetup(objectives=made.objectives, seed=seed, level_name=heard, full_level=table.full)
    file = SqliteJournal(journal)
    tuner = Tuner(
        state=ExperimentState(setup),
        adapter=adapter,
        backend=SimulatedBackend(table, seed=seed),
        journal=file,
        jobs=JobBuilder(made, "simulated", "table", seed=seed, region="us-east-1"),
        budget=made.budget,
        n_workers=n_workers,
    )
    tuner.run()
    file.close()
    return tuner


def ours(name: str, made: BenchmarkDefinition, seed: int, **arguments: Any) -> Method:
    """Return one of our methods."""
    return build_method(name, made, seed, arguments, region="us-east-1")


class Theirs(Method):
    """One of Syne Tune's schedulers, as it is, in our loop; its generators are seeded once.

    Args:
        name: `ASHA`, `MOASHA`, `MSR`, `CQR` or `RS`.
        made: the definition.
        seed: the experiment's seed.
    """

    def __init__(self, name: str, made: BenchmarkDefinition, seed: int) -> None:
        import random

        import numpy as np
        from syne_tune.config_space import ordinal
        from syne_tune.optimizer import baselines

        random.seed(seed)
        np.random.seed(seed)
        self.hears_levels = name not in ("CQR", "RS")
        space = {key: ordinal(spec["ordinal"], kind="equal") for key, spec in made.space.items()}
        levels = {"time_attr": "epoch", "max_t": made.fidelity.full if made.fidelity else 1, "random_seed": seed}
        plain = baselines.RandomSearch(space, metrics=["loss"], random_seed=seed)
        if name == "MOASHA":
            from syne_tune.optimizer.schedulers.multiobjective.moasha import MOASHA

            self.scheduler = MOASHA(space, metrics=list(made.objectives), **levels)
        elif name == "MSR":
            from syne_tune.optimizer.schedulers.median_stopping_rule import MedianStoppingRule

            self.scheduler = MedianStoppingRule(plain, time_attr="epoch", metric="loss", random_seed=seed)
        elif name == "RS":
            self.scheduler = plain
        elif name == "CQR":
            self.scheduler = baselines.CQR(space, metric="loss", random_seed=seed)
        else:
            self.scheduler = baselines.ASHA(space, metric="loss", **levels)

    def suggest(self) -> Suggestion | None:
        found = self.scheduler.suggest()
        return None if found is None else Suggestion(dict(found.config))

    def on_trial_add(self, evaluation: Evaluation) -> None:
        self.scheduler.on_trial_add(self._trial(evaluation))

    def on_trial_result(self, evaluation: Evaluation, result: Mapping[str, Any]) -> Decision:
        return Decision(self.scheduler.on_trial_result(self._trial(evaluation), dict(result)))

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, Any]) -> None:
        # After a STOP at the last level it has forgotten the trial.
        if evaluation.id in getattr(self.scheduler, "trial_info", {evaluation.id: None}):
            self.scheduler.on_trial_complete(self._trial(evaluation), dict(result))

    def on_trial_remove(self, evaluation: Evaluation) -> None:
        self.scheduler.on_trial_remove(self._trial(evaluation))

    def _trial(self, evaluation: Evaluation) -> Any:
        from syne_tune.backend.trial_status import Trial

        return Trial(evaluation.id, dict(evaluation.configuration), None)
