"""In which order the experiments of a study run. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from benchmarking.studies.record import PlannedExperiment
from definitions.study import StudyOrder


def in_order(experiments: Iterable[PlannedExperiment], order: StudyOrder) -> list[PlannedExperiment]:
    """Return the experiments in the order in which they run.

    With `seeds` all experiments of the first seed come first, and within a seed benchmarks and methods come in an order that it draws:
    a machine that slows down, or is slow to warm up, is then no method's fault. The place of a pair depends on the seed and its own
    names alone, so that it is the same whichever others there are.

    Args:
        experiments: in the order in which they were asked for.
        order: `methods` leaves them as they were asked for.
    """
    if order == "methods":
        return list(experiments)
    return sorted(experiments, key=lambda one: (one.number, _drawn(one)))


def _drawn(one: PlannedExperiment) -> bytes:
    return hashlib.sha256(f"{one.seed}\0{one.benchmark}\0{one.method}".encode()).digest()
