"""RS: random search without repetition."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from benchmarking.controller.method import MOST_PLANNED, Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import POINTS, Arguments
from benchmarking.methods.points import first_points, need_space
from definitions.configuration import configuration_id
from definitions.space import SearchSpace

_MOST_MISSES = 200
"""Draws in a row that were all suggested before, after which the rest of a finite space is listed instead of drawn."""


class RandomSearch(Method):
    """Draws configurations independently and never twice; ends when a finite space is exhausted.

    Where all values are equally likely the draw is a random permutation of the space, otherwise rejection sampling.
    """

    arguments: ClassVar[Arguments] = {"points_to_evaluate": POINTS}
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


def draws(space: SearchSpace, seed: int) -> Iterator[Mapping[str, Any]]:
    """Return random configurations of a space, none twice, until a finite one is exhausted; the same for every method of a seed."""
    source = random.Random(f"RS-{seed}")
    flat = not space.conditions and all(domain.is_even for domain in space.domains.values())
    return permutation(space, source) if flat else _rejection(space, source)


def permutation(space: SearchSpace, source: random.Random) -> Iterator[Mapping[str, Any]]:
    """Yield all combinations of a finite space in random order: Fisher and Yates' shuffle, drawn lazily with a sparse array.

    Args:
        space: without conditions, all its values equally likely.
        source: of the randomness.
    """
    axes = [(key, domain.grid(0)) for key, domain in space.domains.items()]
    size = space.size or 0
    bits = size.bit_length() + 64
    moved: dict[int, int] = {}
    for last in range(size - 1, -1, -1):
        # A float has 53 bits: for larger spaces it would leave the low digits of the index, that is the first keys, at zero.
        pick = source.getrandbits(bits) * (last + 1) >> bits
        index = moved.get(pick, pick)
        moved[pick] = moved.pop(last, last)
        configuration = {}
        for key, values in axes:
            index, position = divmod(index, len(values))
            configuration[key] = values[position]
        yield configuration


def _rejection(space: SearchSpace, source: random.Random) -> Iterator[Mapping[str, Any]]:
    seen: set[str] = set()
    misses = 0
    while misses < _MOST_MISSES:
        configuration = space.sample(source)
        identity = configuration_id(configuration)
        if identity in seen:
            misses += 1
            continue
        misses = 0
        seen.add(identity)
        yield configuration
    if space.size is not None:
        rest = [point for point in space.grid(0) if configuration_id(point) not in seen]
        source.shuffle(rest)
        yield from rest
