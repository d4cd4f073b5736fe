"""Random configurations of a space, none twice: what random search suggests, and what all methods of a seed may begin with."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from definitions.configuration import configuration_id
from definitions.space import SearchSpace

_MOST_MISSES = 200
"""Draws in a row that were all suggested before, after which the rest of a finite space is listed instead of drawn."""


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
