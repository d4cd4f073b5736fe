"""RS: random search without repetition."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

from benchmarking.controller.method import MOST_PLANNED, Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import STARTING_POINTS, Arguments
from benchmarking.methods.draws import draws
from benchmarking.methods.points import first_points, need_space
from definitions.configuration import configuration_id


class RandomSearch(Method):
    """Draws configurations independently and never twice; ends when a finite space is exhausted.

    Where all values are equally likely the draw is a random permutation of the space, otherwise rejection sampling.
    """

    arguments: ClassVar[Arguments] = STARTING_POINTS
    independent = True
    hears_levels = False

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where the definition lists trials instead of a space, or a point is none of it."""
        space = need_space("RS", context)
        self._size = space.size
        points = first_points("RS", context, space)
        known = {configuration_id(point) for point in points}
        rest = draws(space, context.seed)
        self._rest = itertools.chain(points, (drawn for drawn in rest if configuration_id(drawn) not in known) if known else rest)

    def suggest(self) -> Suggestion | None:
        """Return a configuration that was not suggested before, or None when the space is exhausted."""
        configuration = next(self._rest, None)
        return None if configuration is None else Suggestion(configuration)

    def plan(self) -> Sequence[Suggestion] | None:
        """Return all configurations of a finite space; None where it has more than are listed, or is none."""
        return None if self._size is None or self._size > MOST_PLANNED else super().plan()
