"""The next configuration: the user's points first, then random draws or a searcher's proposals; never one twice."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarking.controller.method import MethodContext, allow
from benchmarking.methods.draws import draws
from benchmarking.methods.points import first_points
from benchmarking.methods.searchers.base import Observation, SearcherSpec
from benchmarking.methods.searchers.encoding import allowed
from benchmarking.methods.searchers.process import ChildProcess, InProcess, SearcherHost
from benchmarking.methods.searchers.registry import check_installed
from definitions.configuration import configuration_id
from definitions.space import SearchSpace

_TRIES = 1000
"""Random draws that may be known or refused before the rest of a finite space is listed instead."""

_LISTABLE = 100_000
"""Largest finite space whose rest is listed."""


class Proposals:
    """Proposes configurations of one experiment and remembers what became of them.

    Args:
        method: the method's name, for messages.
        context: what the method is made from; its arguments are the searcher's.
        space: the search space.
        searcher: kind of the searcher; None for random draws without repetition.
        initial: observed evaluations before the searcher is asked; random ones until then.
        full: full fidelity level, for searchers that look at levels.
    """

    def __init__(
        self,
        method: str,
        context: MethodContext,
        space: SearchSpace,
        *,
        searcher: str | None = None,
        initial: int = 0,
        full: float | None = None,
    ) -> None:
        self.refuse: Callable[[Mapping[str, Any]], str | None] = allow
        self._space = space
        self._seed = context.seed
        self._rules = context.rules
        self._initial = initial
        self._points = first_points(method, context, space)
        self._known = {configuration_id(point) for point in self._points}
        self._number = 0
        self._pending: dict[int, Mapping[str, Any]] = {}
        self._observed: set[int] = set()
        self._exhausted = False
        self._host: SearcherHost | None = None
        self._draws: Iterator[Mapping[str, Any]] = iter(())
        self._next_draw: Mapping[str, Any] | None = None
        if searcher is None:
            self._draws = draws(space, context.seed)
            self._draw()
        else:
            check_installed(method, searcher)
            self._host = InProcess(SearcherSpec(searcher, space, context.seed, context.arguments, context.rules, full))

    @property
    def replays_without_asking(self) -> bool:
        """Whether proposals are a function of their number and the observations, so that recorded ones need not be made again."""
        return self._host is not None

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to propose."""
        if self._number < len(self._points):
            return False
        return self._next_draw is None if self._host is None else self._exhausted

    @property
    def is_computing(self) -> bool:
        """Whether another process is at work on a proposal."""
        return self._host is not None and self._host.busy

    def start_worker(self, wake: Callable[[], None]) -> None:
        """Let the searcher work in a process of its own, and call `wake` when it has an answer."""
        if isinstance(self._host, InProcess):
            self._host = ChildProcess(self._host.spec, wake)

    def close(self) -> None:
        """End the searcher's process."""
        if self._host is not None:
            self._host.close()

    def ready(self) -> bool:
        """Return whether `next` has an answer at once; where a searcher must be asked, it now is."""
        return self._host is None or not self._asks_searcher or self._host.ready(self._number, self._in_flight())

    def next(self) -> Mapping[str, Any] | None:
        """Return the next configuration, or None when a finite space is exhausted or nothing that may run is found."""
        number = self._number
        self._number += 1
        if number < len(self._points):
            return self._points[number]
        if self._host is None:
            drawn = self._next_draw
            self._draw()
            return drawn
        if len(self._observed) >= self._initial:
            for configuration in self._host.answer(number, self._in_flight()):
                if self._is_new(configuration) and self.refuse(configuration) is None:
                    # Another process sends the keys in another order.
                    return {key: configuration[key] for key in self._space.domains if key in configuration}
        found = self._random(number)
        self._exhausted = found is None
        return found

    def skip(self, count: int) -> None:
        """Pass over proposals that a journal has."""
        self._number += count

    def added(self, evaluation: int, configuration: Mapping[str, Any]) -> None:
        """Hear that a configuration is evaluated."""
        self._pending[evaluation] = configuration
        self._known.add(configuration_id(configuration))

    def observed(self, evaluation: int, configuration: Mapping[str, Any], value: float, level: float | None = None) -> None:
        """Hear of a value; less is better."""
        self._observed.add(evaluation)
        if self._host is not None:
            self._host.observe(Observation(evaluation, configuration, value, level))

    def over(self, evaluation: int) -> None:
        """Hear that an evaluation does not run any more."""
        self._pending.pop(evaluation, None)

    @property
    def _asks_searcher(self) -> bool:
        return self._number >= len(self._points) and len(self._observed) >= self._initial

    def _in_flight(self) -> list[Mapping[str, Any]]:
        return list(self._pending.values())

    def _is_new(self, configuration: Mapping[str, Any]) -> bool:
        return configuration_id(configuration) not in self._known

    def _may_run(self, configuration: Mapping[str, Any]) -> bool:
        """Return whether a configuration is new, and neither a rule nor anybody else speaks against it."""
        return self._is_new(configuration) and allowed(configuration, self._rules) and self.refuse(configuration) is None

    def _draw(self) -> None:
        """Look one random draw ahead, passing over the user's points."""
        self._next_draw = next((drawn for drawn in self._draws if not self._points or self._is_new(drawn)), None)

    def _random(self, number: int) -> Mapping[str, Any] | None:
        source = random.Random(f"fallback-{self._seed}-{number}")
        for _ in range(_TRIES):
            configuration = self._space.sample(source)
            if self._may_run(configuration):
                return configuration
        if self._space.size is None or self._space.size > _LISTABLE:
            return None
        rest = [point for point in self._space.grid(0) if self._may_run(point)]
        return source.choice(rest) if rest else None
