"""GRID: every combination of the search space, continuous dimensions cut into points."""

from __future__ import annotations

from typing import ClassVar

from benchmarking.controller.method import Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import Arguments, whole
from benchmarking.methods.points import need_space


class Grid(Method):
    """Suggests every combination, the last key of the space varying fastest.

    Args:
        context: `arguments` may hold `points`: values per continuous dimension, from its lower to its upper bound (default 5).
    """

    arguments: ClassVar[Arguments] = {"points": whole(5, 1, "values per continuous dimension")}
    independent = True
    hears_levels = False
    finite = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where the definition lists trials instead of a space."""
        self._rest = need_space("GRID", context).grid(context.arguments.get("points", 5))

    def suggest(self) -> Suggestion | None:
        """Return the next combination."""
        configuration = next(self._rest, None)
        return None if configuration is None else Suggestion(configuration)
