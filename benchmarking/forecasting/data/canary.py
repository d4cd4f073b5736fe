"""Canary runs as data: what was measured of each, and tables of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarking.analysis.measurements import PHASES
from benchmarking.forecasting.prefix.measured import ProgressSummary

COMPLETED, OUT_OF_MEMORY, PREFIX = "completed", "out_of_memory", "prefix"


@dataclass(frozen=True)
class Canary:
    """One measured run of a configuration at a fraction of the full job; None is what was not measured.

    Args:
        configuration: name of the configuration; its canaries have it in common.
        fraction: nominal share of the data, in (0, 1]; `rows`, `bytes`: what was really read.
        repeat: number of the repeated measurement.
        startup_s, list_s, download_s, load_s, train_s, checkpoint_s: seconds by phase; `total_s`: from start to end.
        steps: optimiser steps or rounds; `step_s`: seconds of a steady one.
        cpu_s: processor seconds; `rss_bytes`, `gpu_bytes`: peaks; `cpu_util`, `gpu_util`: means, in percent or as shares.
        status: `completed`, `out_of_memory`, `prefix` (the beginning of the full job), or why the run says nothing (`stopped`, ...).
        family: of the algorithm, see `families`; empty where unknown.
        progress: what it told of how far it was; None where it told nothing.
        about: whatever else is known, for tables of raw measurements.
    """

    configuration: str
    fraction: float
    repeat: int = 0
    rows: float | None = None
    bytes: float | None = None
    startup_s: float | None = None
    list_s: float | None = None
    download_s: float | None = None
    load_s: float | None = None
    train_s: float | None = None
    checkpoint_s: float | None = None
    total_s: float | None = None
    steps: float | None = None
    step_s: float | None = None
    cpu_s: float | None = None
    rss_bytes: float | None = None
    gpu_bytes: float | None = None
    cpu_util: float | None = None
    gpu_util: float | None = None
    status: str = COMPLETED
    instance_type: str = ""
    instance_count: int = 1
    family: str = ""
    progress: ProgressSummary | None = None
    about: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def is_full(self) -> bool:
        """Whether it is a run of the full job to its end, which forecasts are compared with and not made of."""
        return self.fraction >= 1.0 and self.status != PREFIX


NUMBERS = (
    "rows", "bytes", *(f"{name}_s" for name in PHASES), "total_s", "steps", "step_s", "cpu_s", "rss_bytes", "gpu_bytes", "cpu_util",
    "gpu_util",
)  # fmt: skip
"""Columns that hold measurements; any of them may be missing."""

CPU_COLUMNS = tuple(f"{name}_cpu_s" for name in PHASES)
"""Further columns, for processor time by phase; the reporter's sampler measures it."""

COLUMNS = ("configuration", "fraction", "repeat", *NUMBERS, "status", "instance_type", "instance_count", "family")


@dataclass(frozen=True)
class CanaryTable:
    """Canaries, and what was wrong with some rows, by configuration (`""` for the whole table)."""

    canaries: tuple[Canary, ...]
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def canary_from(name: str, fraction: float, repeat: int, values: Mapping[str, float], **known: Any) -> Canary:
    """Return a canary from its measurements.

    Args:
        name: of the configuration.
        fraction: nominal share of the data.
        repeat: which repeat it is.
        values: as `measurements` returns them.
        known: further fields, e.g. `status`, `instance_type`; `about` is added to.
    """
    about = {**{key: values[key] for key in values if key not in NUMBERS}, **known.pop("about", {})}
    numbers: dict[str, Any] = {key: values.get(key) for key in NUMBERS}
    return Canary(name, fraction, repeat, **numbers, about=about, **known)


def checked(canaries: Iterable[Canary], notes: Iterable[tuple[str, str]] = (), *, has_repeats: bool = True) -> CanaryTable:
    """Return the table without rows that are there twice, and with phases that cannot be taken out.

    Args:
        canaries: as they were measured.
        notes: (configuration, what was wrong) so far.
        has_repeats: whether rows say which repeat they are; only then is an equal row known to be the same one.
    """
    found: list[Canary] = []
    seen: set[Canary] = set()
    gathered = list(notes)
    twice: dict[str, int] = {}
    for canary in canaries:
        if has_repeats and canary in seen:
            twice[canary.configuration] = twice.get(canary.configuration, 0) + 1
            continue
        seen.add(canary)
        found.append(canary)
    gathered += [(name, f"{count} duplicated rows were dropped") for name, count in twice.items()]
    result = []
    for canary in found:
        phases = [value for name in PHASES if (value := getattr(canary, f"{name}_s")) is not None]
        if canary.total_s is not None and phases and math.fsum(phases) > canary.total_s * 1.02 + 0.01:
            gathered.append(
                (canary.configuration, f"fraction {canary.fraction:g}: the phases take longer than the total, so they were not used")
            )
            nothing: dict[str, Any] = dict.fromkeys([*(f"{name}_s" for name in PHASES), "steps", "step_s"])
            canary = dataclasses.replace(canary, **nothing)
        result.append(canary)
    by_name: dict[str, list[str]] = {}
    for name, text in gathered:
        by_name.setdefault(name, []).append(text)
    return CanaryTable(tuple(result), {name: tuple(dict.fromkeys(texts)) for name, texts in by_name.items()})


def by_configuration(canaries: Sequence[Canary]) -> dict[str, list[Canary]]:
    """Return the canaries of each configuration, in order of appearance."""
    groups: dict[str, list[Canary]] = {}
    for canary in canaries:
        groups.setdefault(canary.configuration, []).append(canary)
    return groups
