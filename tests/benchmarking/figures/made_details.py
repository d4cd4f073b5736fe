"""Experiments made up for tests of figures: jobs, reports and trials without any journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.archive.stored import load
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import EvaluationState, StateSetup, TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.figures.details import DetailedExperiment, JobDetail, read_detailed
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec
from tests.benchmarking.archive.stored_folders import copied
from tests.benchmarking.comparison.made_runs import run


def definition(space: Mapping[str, Any] | None = None, **more: Any) -> BenchmarkDefinition:
    """A definition with the objectives of `made_runs.run`."""
    given = {
        "name": "b",
        "script": "train.py",
        "space": space or {"x": {"uniform": [0.0, 1.0]}},
        "objectives": {"loss": "min", "acc": "max"},
    }
    return BenchmarkDefinition.model_validate({**given, **more})


def trial(
    number: int, configuration: Mapping[str, Any], values: Mapping[str, Any], *, evaluation: int | None = None, **more: Any
) -> TrialState:
    """A trial, completed unless `status` says otherwise."""
    own = number if evaluation is None else evaluation
    return TrialState(number, own, TrialSpec(configuration), **{"status": TrialStatus.COMPLETED, "last": dict(values), **more})


def experiment(
    trials: Sequence[TrialState] = (), *, method: str = "RS", number: int = 0, losses: Sequence[float] = (), **more: Any
) -> DetailedExperiment:
    """An experiment of some trials, with whatever else is given."""
    state = ExperimentState(StateSetup({"loss": "min", "acc": "max"}))
    for one in trials:
        state.trials[one.trial] = one
        state.evaluations.setdefault(one.evaluation, EvaluationState(one.spec, None)).trials.append(one.trial)
    given = {"definition": definition(), "region": "us-east-1", "state": state}
    return DetailedExperiment(run(method, number, losses), **{**given, **more})


def job(number: int, submitted: float, started: float | None, ended: float | None, **more: Any) -> JobDetail:
    """A job `j<number>` of the trial of its number."""
    given = {"status": "completed", "cost_usd": 0.25, "instance_type": "m"}
    return JobDetail(f"j{number}", number, 1, submitted, started, ended, **{**given, **more})


def stored(tmp_path: Any, name: str) -> DetailedExperiment:
    """A stored experiment of the first version."""
    return read_detailed(load(copied(tmp_path, name)))
