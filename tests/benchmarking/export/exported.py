"""What tests of the exported files share: a run of the loop, and the rows of a file."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from benchmarking.controller.state import ExperimentState
from benchmarking.export.exporter import ExportContext, ExportedExperiment
from definitions.schema import BenchmarkDefinition, Progressive
from tests.benchmarking.experiments import MemoryJournal, tuner

PROGRESSIVE = Progressive(kind="progressive", argument="epochs", reported_as="epoch", full=3)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(benchmark: BenchmarkDefinition, **options: Any) -> tuple[ExperimentState, Any]:
    journal = options.pop("journal", None) or MemoryJournal()
    loop = tuner(benchmark, journal, **options)
    loop.run()
    return loop.state, journal


def one(benchmark: BenchmarkDefinition, folder: Path, **options: Any) -> ExportedExperiment:
    """Return a run as exporters get it."""
    state, journal = run(benchmark, **options)
    return ExportedExperiment("t", options.get("method", "RS"), 0, 7, "simulated", "us-east-1", folder, benchmark, state, journal)


def context(folder: Path = Path("nowhere")) -> ExportContext:
    return ExportContext("t", folder, {}, print)
