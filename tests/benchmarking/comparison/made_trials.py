"""Runs made up of completed trials, for tests of configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.analysis.stand_ins import NO_STAND_INS
from benchmarking.comparison.runs import Axis, ComparedRun, MeasuredTrial


def swept(
    points: Sequence[tuple[Mapping[str, Any], Sequence[float]]],
    *,
    number: int = 0,
    interleaved: bool = True,
    objective: str = "loss",
    **more: Any,
) -> ComparedRun:
    """Return a run of configurations, each with the values of its repeats."""
    trials = [MeasuredTrial(point, repeat, {objective: value}) for point, values in points for repeat, value in enumerate(values)]
    given: dict[str, Any] = {"tag": "t", "method": "GRID", "objectives": {objective: "min"}} | more
    return ComparedRun(
        given["tag"], "b", given["method"], number, "local", given["objectives"], (), {Axis.TRIALS: float(len(trials))}, "done", {},
        tuple(trials), interleaved, stood_in=given.get("stood_in", NO_STAND_INS),
    )  # fmt: skip
