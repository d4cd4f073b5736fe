"""`points_to_evaluate`: the configurations that a user wants to see first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarking.controller.method import MethodContext
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.space import SearchSpace


def first_points(method: str, context: MethodContext, space: SearchSpace) -> list[Mapping[str, Any]]:
    """Return the points in full, each once; a key that one lacks gets the middle of its domain.

    Raises:
        UserError: a point that is not in the space or that `valid` rules out.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for number, given in enumerate(context.arguments.get("points_to_evaluate") or ()):
        point = space.active({key: given.get(key, domain.at(0.5)) for key, domain in space.domains.items()})
        try:
            space.check({**point, **given})
        except UserError as error:
            raise UserError(f"method {method}: points_to_evaluate[{number}]: {error.asked}", error.fact, error.advice) from None
        for rule in context.rules:
            if not rule.holds(point):
                raise UserError(f"method {method}: points_to_evaluate[{number}] cannot run", f"ruled out by valid: {rule.text}")
        found.setdefault(configuration_id(point), point)
    return list(found.values())


def need_space(method: str, context: MethodContext) -> SearchSpace:
    """Return the search space; raises `UserError` where the definition lists trials instead."""
    if context.space is None:
        raise UserError(f"method {method} needs a definition with a `space`", "this one lists `trials`", "use LISTED, or give a space")
    return context.space


def need_choice(method: str, context: MethodContext) -> SearchSpace:
    """Return a search space with more than one configuration; raises `UserError` where there is none."""
    space = need_space(method, context)
    if space.size == 1:
        raise UserError(f"method {method}: the space holds one configuration", "there is nothing to search", "use RS, or widen the space")
    return space
