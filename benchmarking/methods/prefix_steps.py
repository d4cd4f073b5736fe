"""The order of spending where jobs say how far they are: prefixes of the full job first, small jobs for what these leave open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarking.controller.method import Evaluation, Suggestion
from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.ladder.after_prefix import any_has_rest, is_open, small_rungs
from definitions.configuration import configuration_id


class PrefixSteps:
    """Prefixes of all configurations, then small jobs of the first, then of those of which these leave something open.

    A configuration whose prefix told nothing of what is left (it does not know its total, say) gets the whole ladder instead.

    Args:
        configurations: returns all that are taken; asked once, at the first step.
        full: level of the full job.
        rungs: (level, repeat) of the whole ladder; empty where the script has no small jobs.
        most_s: most seconds that a prefix runs.
    """

    def __init__(
        self, configurations: Callable[[], Sequence[Mapping[str, Any]]], full: float, rungs: Sequence[tuple[float, int]], most_s: float
    ) -> None:
        self._configurations, self._full, self._rungs, self._most_s = configurations, full, rungs, most_s
        self._small = small_rungs(sorted({level for level, _ in rungs}))
        self._groups: dict[str, list[Canary]] = {}
        self._begun: dict[str, set[tuple[float, int] | None]] = {}
        self._pending: dict[str, int] = {}
        self._failed: set[str] = set()

    def next(self) -> Suggestion | None:
        """Return the next step; None where there is none now."""
        chosen = {configuration_id(one): one for one in self._configurations()}
        for name, configuration in chosen.items():
            if name not in self._failed and None not in self._begun.get(name, set()):
                return Suggestion(configuration, self._full, prefix_s=self._most_s)
        for name, configuration in chosen.items():
            step = self._step(name)
            if step is not None:
                return Suggestion(configuration, *step)
        return None

    @property
    def is_waiting(self) -> bool:
        """Whether a step may follow from runs that are under way."""
        return any(self._pending.values())

    def plan(self) -> list[Suggestion]:
        """Return all steps that there may be."""
        chosen = list(self._configurations())
        prefixes = [Suggestion(one, self._full, prefix_s=self._most_s) for one in chosen]
        return prefixes + [Suggestion(one, *rung) for rung in dict.fromkeys([*self._small, *self._rungs]) for one in chosen]

    def begin(self, evaluation: Evaluation) -> None:
        """Hear that a run is under way."""
        name = configuration_id(evaluation.configuration)
        step = None if evaluation.prefix_s is not None else (evaluation.level or self._full, evaluation.repeat)
        self._begun.setdefault(name, set()).add(step)
        self._pending[name] = self._pending.get(name, 0) + 1

    def take(self, evaluation: Evaluation, canary: Canary | None) -> None:
        """Take in what a run measured; None where it failed, so that nothing more is spent on its configuration."""
        name = configuration_id(evaluation.configuration)
        self._pending[name] -= 1
        if canary is None:
            self._failed.add(name)
        else:
            self._groups.setdefault(name, []).append(canary)

    def _step(self, name: str) -> tuple[float, int] | None:
        """Return the small job that a configuration needs next; None where it needs none, or one of its runs is under way."""
        group, begun = self._groups.get(name, []), self._begun.get(name, set())
        if name in self._failed or self._pending.get(name) or not group:
            return None
        if not any_has_rest(group):
            return next((rung for rung in self._rungs if rung not in begun), None)
        left = next((rung for rung in self._small if rung not in begun), None)
        others = [canary for other, runs in self._groups.items() if other != name for canary in runs]
        if left is None or not is_open(group, others):
            return None
        # While the first configuration finds out what comes after the loop, the others wait for that.
        waits = not any(canary.progress is not None and canary.progress.ended_through for canary in [*group, *others])
        return None if waits and any(self._pending.values()) else left
