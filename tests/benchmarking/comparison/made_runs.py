"""Runs made up for tests of comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarking.comparison.measured_methods import measure_methods
from benchmarking.comparison.methods import BenchmarkComparison, compare_benchmarks
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis, ComparedRun, Measurement


def run(
    method: str,
    number: int,
    losses: Sequence[float],
    *,
    benchmark: str = "b",
    seconds: float = 10.0,
    full: Sequence[bool] = (),
    facts: Mapping[str, str] | None = None,
    priced: bool = True,
) -> ComparedRun:
    """Return a run whose results come `seconds` apart, a cent each."""
    found = tuple(
        Measurement(
            index,
            {"x": value},
            {"loss": value, "acc": 1 - value},
            seconds * (index + 1),
            float(index + 1),
            0.01 * (index + 1) if priced else None,
            full[index] if full else True,
        )
        for index, value in enumerate(losses)
    )
    ends = {Axis.WALLCLOCK: seconds * len(losses), Axis.TRIALS: float(len(losses)), Axis.COST: 0.01 * len(losses)}
    if not priced:
        del ends[Axis.COST]
    return ComparedRun("t", benchmark, method, number, "local", {"loss": "min", "acc": "max"}, found, ends, "done", facts or {})


def several(method: str, finals: Sequence[float], benchmark: str = "b") -> list[ComparedRun]:
    """Return a run for each seed that came from 9 to its final value in two trials."""
    return [run(method, number, [9.0, final], benchmark=benchmark) for number, final in enumerate(finals)]


def compared(runs: Sequence[ComparedRun], question: ComparisonQuestion) -> BenchmarkComparison:
    """Return how the methods of one benchmark compare where nothing else is asked."""
    return compare_benchmarks([measure_methods(runs, question)])[0]
