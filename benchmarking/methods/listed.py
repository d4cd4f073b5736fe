"""LISTED: the trials that the definition lists, one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from benchmarking.controller.method import Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import Argument
from definitions.errors import UserError


class Listed(Method):
    """Suggests the definition's explicit trials in their order."""

    arguments: ClassVar[Mapping[str, Argument]] = {}
    independent = True
    hears_levels = False
    finite = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where the definition has a space instead of trials."""
        if not context.configurations:
            raise UserError("method LISTED needs a definition with `trials`", "this one has a `space`", "use RS or GRID, or list trials")
        self._rest = iter(context.configurations)

    def suggest(self) -> Suggestion | None:
        """Return the next listed configuration."""
        configuration = next(self._rest, None)
        return None if configuration is None else Suggestion(configuration)
