"""The finite set of configurations that canaries run on: all of a finite space, else a seeded sample."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from benchmarking.controller.method import MethodContext
from definitions.configuration import configuration_id

MOST = 1000
"""Largest finite space of which every configuration is taken."""

_TRIES = 200


def candidates(context: MethodContext, count: int | None, refuse: Callable[[Mapping[str, Any]], str | None]) -> list[dict[str, Any]]:
    """Return the valid configurations, each once.

    Args:
        context: of the method.
        count: how many are sampled; None for all of a finite space of at most `MOST`, and 8 of any other.
        refuse: says why a configuration cannot run.
    """
    if context.configurations:
        listed = _distinct([dict(configuration) for configuration in context.configurations], refuse)
        return listed if count is None else listed[:count]
    space = context.space
    if space is None:
        return []
    if space.size is not None and space.size <= MOST:
        everything = _distinct(list(space.grid(0)), refuse)
        if count is None or count >= len(everything):
            return everything
        random.Random(f"candidates-{context.seed}").shuffle(everything)
        return everything[:count]
    wanted = 8 if count is None else count
    source = random.Random(f"candidates-{context.seed}")
    found: list[dict[str, Any]] = []
    for _ in range(_TRIES * wanted):
        if len(found) == wanted:
            break
        found = _distinct([*found, space.sample(source)], refuse)
    return found


def _distinct(configurations: list[dict[str, Any]], refuse: Callable[[Mapping[str, Any]], str | None]) -> list[dict[str, Any]]:
    unique = {configuration_id(configuration): configuration for configuration in configurations}
    return [configuration for configuration in unique.values() if refuse(configuration) is None]
