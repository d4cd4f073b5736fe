"""Single values from anywhere: whether one is a number, which Python value it stands for, and the mean of some. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeGuard


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a finite number that a float can hold; a boolean is none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def plain(value: Any) -> Any:
    """Return a numpy scalar as the Python one it stands for, and anything else as it is."""
    return value.item() if hasattr(value, "item") else value


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean; None of no values."""
    return math.fsum(values) / len(values) if values else None
