"""GRID: every combination of the search space, continuous dimensions cut into points."""

from __future__ import annotations

from benchmarking.methods.base import Method, MethodContext, Suggestion
from definitions.errors import UserError


class Grid(Method):
    """Suggests every combination, the last key of the space varying fastest.

    Args:
        context: `arguments` may hold `points`: values per continuous dimension, from its lower to its upper bound (default 5).
    """

    independent = True
    hears_levels = False
    finite = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where the definition lists trials instead of a space."""
        if context.space is None:
            raise UserError("method GRID needs a definition with a `space`", "this one lists `trials`", "use LISTED, or give a space")
        points = context.arguments.get("points", 5)
        if not isinstance(points, int) or isinstance(points, bool) or points < 1:
            raise UserError(f"method argument points={points!r}", "GRID needs a whole number of points above 0")
        self._rest = context.space.grid(points)

    def suggest(self) -> Suggestion | None:
        """Return the next combination."""
        configuration = next(self._rest, None)
        return None if configuration is None else Suggestion(configuration)
