"""A race whose jobs say how far they are: beginnings of the full jobs first, then what is open between the leaders. Pure.

A step at level 1 is a prefix of the full job; each further one of a configuration runs for twice as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import COMPLETED, PREFIX, Canary
from benchmarking.forecasting.ladder.after_prefix import any_has_rest, is_open, small_rungs
from benchmarking.forecasting.ladder.race_status import RaceSettings
from benchmarking.forecasting.ladder.run_costs import expected_usd

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

BEGINNING = 1.0


def prefixes_of(group: Sequence[Canary]) -> int:
    """Return how many prefixes of a configuration have run."""
    return sum(canary.status == PREFIX for canary in group)


def first_step(groups: Mapping[str, Sequence[Canary]], alive: Sequence[str], settings: RaceSettings) -> tuple[str, float, int] | None:
    """Return the run that every configuration needs before any are compared; None where all have it.

    It is a prefix, and where that told nothing of what is left, small jobs at all rungs in its place.
    """
    for name in alive:
        if not prefixes_of(groups[name]):
            return name, BEGINNING, 0
    for name in alive:
        if not any_has_rest(groups[name]):
            for level in settings.ladder:
                if not any(abs(canary.fraction - level) < 1e-9 for canary in groups[name]):
                    return name, level, 0
    return None


def is_comparable(group: Sequence[Canary]) -> bool:
    """Return whether anything tells what the full job of a configuration takes."""
    return any_has_rest(group) or any(canary.status == COMPLETED for canary in group)


def next_step(
    groups: Mapping[str, Sequence[Canary]], names: Sequence[str], logs: Mapping[str, FloatArray], settings: RaceSettings
) -> tuple[str, float, int] | None:
    """Return the run of these configurations that takes most variance of their difference for its price; None where none is left.

    Where a prefix leaves something open that a small job shows, that small job is the configuration's next run, else a longer prefix.
    A run is taken to halve the variance of its configuration.

    Args:
        groups: runs by configuration.
        names: of the configurations that may run.
        logs: by configuration, draws (n,) of the log of the objective.
        settings: of the race.
    """
    found: list[tuple[float, tuple[str, float, int]]] = []
    for name in names:
        step = _own_step(groups, name, settings)
        if step is not None:
            found.append((float(logs[name].var()) / 2 / max(expected_usd(groups[name], step[1], settings), 1e-12), step))
    return max(found)[1] if found else None


def _own_step(groups: Mapping[str, Sequence[Canary]], name: str, settings: RaceSettings) -> tuple[str, float, int] | None:
    group = groups[name]
    ran = {(round(canary.fraction, 9), canary.repeat) for canary in group if canary.status != PREFIX}
    others = [canary for other, runs in groups.items() if other != name for canary in runs]
    if any_has_rest(group) and is_open(group, others):
        for level, repeat in small_rungs(settings.ladder):
            if (round(level, 9), repeat) not in ran:
                return name, level, repeat
    begun = prefixes_of(group)
    return (name, BEGINNING, begun) if any_has_rest(group) and begun < settings.repeats else None
