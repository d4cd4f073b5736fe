"""Which configurations no other one beats in every objective. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from definitions.schema import Mode


def pareto_front(points: Sequence[Mapping[str, float | None]], objectives: Mapping[str, Mode]) -> list[int]:
    """Return the indices of the points that are not dominated.

    Args:
        points: (n,) values by objective; a point with an unknown value (None) is on no front and dominates nothing.
        objectives: name -> `min` or `max`.
    """
    known: list[tuple[list[float], int]] = []
    for index, point in enumerate(points):
        values = [point.get(name) for name in objectives]
        signed = [value if mode == "min" else -value for value, mode in zip(values, objectives.values(), strict=True) if value is not None]
        if len(signed) == len(objectives):
            known.append((signed, index))
    front: list[tuple[list[float], int]] = []
    # Sorted, a point can be dominated only by one before it, and then also by one of the front.
    for signed, index in sorted(known):
        if not any(other != signed and all(a <= b for a, b in zip(other, signed, strict=True)) for other, _ in front):
            front.append((signed, index))
    return sorted(index for _, index in front)
