"""Configurations of a benchmark as places on the axes of its space, with what was measured of each. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import TrialState
from benchmarking.figures.details import DetailedExperiment
from benchmarking.report.text import shown
from definitions.domains import Domain

MOST_TICKS = 8
"""Values of a list that are written at its axis."""


@dataclass(frozen=True)
class MeasuredPoint:
    """One configuration that an experiment tried.

    Args:
        name: whose it is, for people.
        configuration: it.
        places: axis -> where it stands, 0 to 1; None where it has no such parameter, or a value outside of the domain.
        values: objective -> mean of its repeats; what no repeat has is absent.
        repeats: objectives of each repeat.
        status: what became of it.
        is_full: whether it was completed at the full level.
    """

    name: str
    configuration: Mapping[str, Any]
    places: Mapping[str, float | None]
    values: Mapping[str, float]
    repeats: Sequence[Mapping[str, float | None]]
    status: str
    is_full: bool


def varying_axes(experiments: Sequence[DetailedExperiment]) -> dict[str, Domain]:
    """Return the parameters of a benchmark's space that have more than one value, by name: those of its first experiment."""
    space = experiments[0].definition.search_space
    return {name: domain for name, domain in space.domains.items() if domain.size != 1}


def named_in(experiments: Sequence[DetailedExperiment]) -> list[str]:
    """Return the names of benchmarks, objectives and parameters, each once; a benchmark's space is that of its first experiment."""
    first: dict[str, DetailedExperiment] = {}
    for one in experiments:
        first.setdefault(one.run.benchmark, one)
    # A space is parsed whenever it is asked for.
    names = [name for one in first.values() for name in one.definition.search_space.domains]
    return list(dict.fromkeys([*first, *(name for one in experiments for name in one.run.objectives), *names]))


def measured_points(experiments: Sequence[DetailedExperiment]) -> list[MeasuredPoint]:
    """Return every configuration that the experiments of one benchmark tried, a configuration of each experiment once.

    Args:
        experiments: (n,) of one benchmark.
    """
    axes = _Places(varying_axes(experiments))
    found = []
    for one in experiments:
        groups: dict[int, list[TrialState]] = {}
        for trial in one.trials:
            groups.setdefault(trial.evaluation, []).append(trial)
        title = f"{one.run.method} seed {one.run.number}"
        found += [_point(title, number, trials, axes, list(one.run.objectives)) for number, trials in groups.items()]
    return found


class _Places:
    """Where values stand on the axes of a space, each found once: seeds try the same ones over and over.

    Args:
        axes: by name.
    """

    def __init__(self, axes: Mapping[str, Domain]) -> None:
        self._axes = axes
        self._known: dict[tuple[str, str], float | None] = {}

    def of(self, configuration: Mapping[str, Any]) -> dict[str, float | None]:
        """Return the place of a configuration on each axis, 0 to 1; None where it has no such parameter, or a value outside of it."""
        return {name: self._place(name, configuration[name]) if name in configuration else None for name in self._axes}

    def _place(self, name: str, value: Any) -> float | None:
        # As text, since 1 and true are two values, and lists have no hash.
        key = (name, repr(value))
        if key not in self._known:
            domain = self._axes[name]
            self._known[key] = domain.quantile(value) if domain.contains(value) else None
        return self._known[key]


def _point(title: str, number: int, trials: Sequence[TrialState], axes: _Places, objectives: Sequence[str]) -> MeasuredPoint:
    completed = [trial for trial in trials if trial.status is TrialStatus.COMPLETED and trial.level is None]
    # Of one that was stopped or paused, the value that it reached is shown, but it takes no part in statistics.
    repeats = [{name: _finite(trial.value_of(name)) for name in objectives} for trial in completed or trials]
    values = {}
    for name in objectives:
        known = [value for repeat in repeats if (value := repeat[name]) is not None]
        if known and len(known) == len(repeats):
            values[name] = math.fsum(known) / len(known)
    first = trials[0].configuration
    statuses = [str(trial.status) for trial in trials]
    status = "completed" if completed else statuses[0]
    return MeasuredPoint(f"{title}, configuration {number}", first, axes.of(first), values, repeats, status, bool(completed))


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def ticks(domain: Domain) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return where an axis has ticks, 0 to 1, and what they say: all values of a short list, else five places."""
    listed = domain.is_listed or (domain.size is not None and domain.size <= 8)
    if listed:
        values = domain.grid(8)
        if len(values) > MOST_TICKS:
            values = tuple(values[round(index * (len(values) - 1) / (MOST_TICKS - 1))] for index in range(MOST_TICKS))
        return tuple(domain.quantile(value) for value in values), tuple(_tick(value) for value in values)
    places = (0.0, 0.25, 0.5, 0.75, 1.0)
    if domain.size is None:
        return places, tuple(_tick(value) for value in domain.grid(len(places)))
    return places, tuple(_tick(domain.at(min(place, 1.0 - 1e-12))) for place in places)


def _tick(value: Any) -> str:
    """Return what is written at a tick: a number without the zeros at its end."""
    return f"{value:.4g}" if isinstance(value, float) else shown(value)
