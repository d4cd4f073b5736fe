"""What a method begins with: `points_to_evaluate`, the configurations that a user wants to see first, and `shared_start`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from benchmarking.controller.method import MethodContext
from benchmarking.methods.draws import draws
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.space import SearchSpace

_MOST_DRAWN = 10_000
"""Draws for a shared start, however few of them no rule forbids."""


def first_points(method: str, context: MethodContext, space: SearchSpace) -> list[Mapping[str, Any]]:
    """Return what a method begins with, each configuration once: the user's points, then the shared start.

    A key that a point lacks gets the middle of its domain. The shared start are the first random draws of the seed that no rule forbids:
    random search begins with them anyway, and so all methods of a seed have them in common.

    Raises:
        UserError: a point that is not in the space or that `valid` rules out.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for number, given in enumerate(context.arguments.get("points_to_evaluate") or ()):
        point = _whole_point(f"method {method}: points_to_evaluate[{number}]", given, context, space)
        found.setdefault(configuration_id(point), point)
    drawn = itertools.islice(draws(space, context.seed), _MOST_DRAWN)
    new = (one for one in drawn if configuration_id(one) not in found and all(rule.holds(one) for rule in context.rules))
    return [*found.values(), *itertools.islice(new, context.arguments.get("shared_start", 0))]


def _whole_point(about: str, given: Mapping[str, Any], context: MethodContext, space: SearchSpace) -> Mapping[str, Any]:
    point = space.active({key: given.get(key, domain.at(0.5)) for key, domain in space.domains.items()})
    try:
        space.check({**point, **given})
    except UserError as error:
        raise UserError(f"{about}: {error.asked}", error.fact, error.advice) from None
    for rule in context.rules:
        if not rule.holds(point):
            raise UserError(f"{about} cannot run", f"ruled out by valid: {rule.text}")
    return point


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
