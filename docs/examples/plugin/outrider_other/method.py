"""A method of its own: every other combination of the search space, for a first look at half the price."""

from __future__ import annotations

import itertools
from typing import ClassVar

from benchmarking.controller.method import Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import Argument, whole
from definitions.errors import UserError


class EveryOther(Method):
    """Suggests every second combination, or every `stride`-th.

    Args:
        context: what Outrider tells a method; its `arguments` are those that are declared here, checked.
    """

    arguments: ClassVar[dict[str, Argument]] = {"stride": whole(2, 1, "how many combinations a step skips, itself included")}
    independent = True
    finite = True
    hears_levels = False

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where there is no search space."""
        if context.space is None:
            raise UserError("method EVERY_OTHER needs a `space`", "the definition lists its trials", "use LISTED")
        self._rest = itertools.islice(context.space.grid(5), 0, None, context.arguments.get("stride", 2))

    def suggest(self) -> Suggestion | None:
        """Return the next combination; None at the end."""
        configuration = next(self._rest, None)
        return None if configuration is None else Suggestion(configuration)
