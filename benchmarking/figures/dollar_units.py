"""Which dollars an axis counts: those that somebody is billed, or nominal and emulated ones, which nobody is. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from benchmarking.comparison.runs import ComparedRun
from benchmarking.figures.data import PlotAxis

USD = "USD"
_REAL = "real"


def dollar_unit(kinds: Iterable[str]) -> str:
    """Return the unit of dollars: `USD` where all are real, else with their kind, e.g. `nominal USD`.

    Args:
        kinds: of dollars, see `benchmarking.archive.dollars`; empty where one is not known.
    """
    there = sorted({kind for kind in kinds if kind})
    return USD if there in ([], [_REAL]) else f"{' and '.join(there)} {USD}"


def in_dollars_of(axis: PlotAxis, runs: Iterable[ComparedRun]) -> PlotAxis:
    """Return an axis with the dollars that the runs count, where it counts dollars."""
    return replace(axis, unit=dollar_unit(run.facts.get("dollars", "") for run in runs)) if axis.unit == USD else axis
