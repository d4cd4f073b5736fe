"""RS: random search without repetition."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarking.methods.base import Method, MethodContext, Suggestion
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.space import Choice, Constant, FiniteRange, SearchSpace

_PATIENCE = 200
"""Draws in a row that were all suggested before, after which the rest of a finite space is listed instead of drawn."""


class RandomSearch(Method):
    """Draws configurations independently and never twice; ends when a finite space is exhausted.

    Where all values are equally likely the draw is a random permutation of the space, otherwise rejection sampling.
    """

    independent = True
    hears_levels = False

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where the definition lists trials instead of a space."""
        if context.space is None:
            raise UserError("method RS needs a definition with a `space`", "this one lists `trials`", "use LISTED, or give a space")
        source = random.Random(f"RS-{context.seed}")
        flat = all(isinstance(domain, (Choice, Constant, FiniteRange)) for domain in context.space.domains.values())
        self._draws = _permutation(context.space, source) if flat else _rejection(context.space, source)

    def suggest(self) -> Suggestion | None:
        """Return a configuration that was not suggested before, or None when the space is exhausted."""
        configuration = next(self._draws, None)
        return None if configuration is None else Suggestion(configuration)


def _permutation(space: SearchSpace, source: random.Random) -> Iterator[Mapping[str, Any]]:
    """Yield all combinations in random order: Fisher and Yates' shuffle, drawn lazily with a sparse array."""
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
    while misses < _PATIENCE:
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
