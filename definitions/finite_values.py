"""Where a value stands among the finitely many of a domain: its index, its neighbours, and the quantiles that yield it."""

from __future__ import annotations

import bisect
import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

_STEPS = 1 << 20
"""Parts into which [0, 1) is cut to find the quantiles of a value."""


def index_of(values: Sequence[Any], value: Any) -> int:
    """Return where a value is among a domain's values; numbers match up to rounding, and true is not 1."""
    for position, known in enumerate(values):
        if isinstance(known, bool) == isinstance(value, bool) and known == value:
            return position
    if isinstance(value, (int, float)):
        for position, known in enumerate(values):
            if isinstance(known, (int, float)) and math.isclose(known, value, rel_tol=1e-9, abs_tol=1e-12):
                return position
    raise ValueError(f"{value!r} is none of {list(values)[:20]!r}")


def stepped(values: Sequence[Any], value: Any, factor: float) -> Any:
    """Return the next of ordered values where `factor` is above 1, the one before where it is below, and the value itself at the ends."""
    step = (factor > 1) - (factor < 1)
    return values[min(max(index_of(values, value) + step, 0), len(values) - 1)]


def middle_quantile(values: Sequence[Any], at: Callable[[float], Any], value: Any) -> float:
    """Return the middle of the quantiles in [0, 1] that yield a value, found by bisection.

    Args:
        values: all values, in the order in which they come as the quantile grows.
        at: returns the value at a quantile.
        value: one of them.
    """
    position = index_of(values, value)
    indices = _Indices(values, at)
    return (bisect.bisect_left(indices, position) + bisect.bisect_left(indices, position + 1)) / 2 / _STEPS


class _Indices(Sequence[int]):
    """The index of the value at `k / _STEPS`, by k, as a sequence to bisect."""

    def __init__(self, values: Sequence[Any], at: Callable[[float], Any]) -> None:
        self._values, self._at = values, at
        # A bisection asks forty times, and of a hundred values a search takes as long as a hundred looks.
        self._positions: dict[tuple[bool, Any], int] = {}
        for position, value in enumerate(values):
            with contextlib.suppress(TypeError):  # a list or a mapping has no hash
                self._positions.setdefault((isinstance(value, bool), value), position)

    def __len__(self) -> int:
        return _STEPS

    def __getitem__(self, k: Any) -> Any:
        value = self._at(k / _STEPS)
        try:
            return self._positions[isinstance(value, bool), value]
        except (KeyError, TypeError):
            return index_of(self._values, value)
