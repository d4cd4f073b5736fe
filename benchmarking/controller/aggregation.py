"""From reports to what a method hears: levels in order, repeats folded into their mean, only finite results. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.controller.retry_policy import as_number
from definitions.made_at_once import made_at_once


@made_at_once
@dataclass(frozen=True)
class Tell:
    """A call that a method is due.

    Args:
        call: `result`, `progress`, `complete` or `error`.
        evaluation: the method's trial id.
        level: fidelity level that the result belongs to; None where there is none.
        result: objective values (means over repeats), and the level under the name the fidelity reports it by.
        progress: all that a prefix or a canary has said of how far it is; None for other jobs, and where it said nothing.
    """

    call: Literal["result", "progress", "complete", "error"]
    evaluation: int
    level: float | None = None
    result: Mapping[str, float] = field(default_factory=dict)
    progress: ProgressCurve | None = None


@dataclass(slots=True)
class _Open:
    """An evaluation that is not over: values by level (each a list over repeats), and what its repeats came to."""

    levels: dict[float, list[dict[str, float]]] = field(default_factory=dict)
    highest: dict[int, float] = field(default_factory=dict)
    finals: list[dict[str, float] | None] = field(default_factory=list)
    last_level: float | None = None


class ResultAggregator:
    """Turns reports and ends of trials into calls of a method.

    Args:
        objectives: names of all objectives, the primary one first; that one is in every result, the others where all repeats have them.
        repeats: measurements per evaluation.
        level_name: metric that holds the level of a progressive fidelity; None where the method gets no levels.
    """

    def __init__(self, objectives: Sequence[str], repeats: int, level_name: str | None) -> None:
        self._objectives = tuple(objectives)
        self._repeats = repeats
        self._level_name = level_name
        self._open: dict[int, _Open] = {}

    def reported(self, evaluation: int, repeat: int, metrics: Mapping[str, Any]) -> Tell | None:
        """Return the call that a report makes due, if any.

        A level is passed on once all repeats have reported it, never a second time, and only with the primary objective present and finite.
        """
        if self._level_name is None:
            return None
        level = as_number(metrics.get(self._level_name))
        values = self._values(metrics)
        if level is None or values is None or not math.isfinite(level):
            return None
        entry = self._open.setdefault(evaluation, _Open())
        if level <= entry.highest.get(repeat, -math.inf):
            return None
        entry.highest[repeat] = level
        collected = entry.levels.setdefault(level, [])
        collected.append(values)
        if len(collected) < self._repeats or (entry.last_level is not None and level <= entry.last_level):
            return None
        del entry.levels[level]
        entry.last_level = level
        return Tell("result", evaluation, level, {**_mean(collected), self._level_name: level})

    def finished(self, evaluation: int, repeat: int, final: Mapping[str, Any] | None) -> Tell | None:
        """Return the call that the end of a trial makes due: once all repeats of its evaluation have ended.

        Args:
            evaluation: the method's trial id.
            repeat: which measurement ended.
            final: its last value of each objective; None where it failed.
        """
        entry = self._open.setdefault(evaluation, _Open())
        entry.finals.append(None if final is None else self._values(final))
        if len(entry.finals) < self._repeats:
            return None
        del self._open[evaluation]
        measured = [values for values in entry.finals if values is not None]
        if not measured:
            return Tell("error", evaluation)
        result = _mean(measured)
        if self._level_name is not None and entry.last_level is not None:
            result[self._level_name] = entry.last_level
        return Tell("complete", evaluation, entry.last_level, result)

    def removed(self, evaluation: int) -> None:
        """Forget an evaluation that the method has stopped."""
        self._open.pop(evaluation, None)

    def _values(self, metrics: Mapping[str, Any]) -> dict[str, float] | None:
        values: dict[str, float] = {}
        for name in self._objectives:
            value = as_number(metrics.get(name))
            if value is not None and math.isfinite(value):
                values[name] = value
            elif not values:
                return None
        return values


def _mean(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    if len(values) == 1:
        return dict(values[0])
    common = [name for name in values[0] if all(name in value for value in values)]
    return {name: math.fsum(value[name] for value in values) / len(values) for name in common}
