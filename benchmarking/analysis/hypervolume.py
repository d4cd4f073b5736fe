"""Hypervolume: how much of the space below a reference point a set of results dominates, exactly, for two and three objectives. Pure.

Zitzler and Thiele, Multiobjective evolutionary algorithms: a comparative case study and the strength Pareto approach, 1999.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence

from benchmarking.analysis.pareto import signed_values
from benchmarking.analysis.step_curves import StepCurve
from definitions.schema import Mode

MARGIN = 0.1
"""How far beyond the worst values the reference point lies, as a share of the range, so that the front's ends count too."""


def reference_point(points: Iterable[Mapping[str, float | None]], objectives: Mapping[str, Mode]) -> dict[str, float] | None:
    """Return the worst value of each objective among some points, moved out by a tenth of its range; None without any whole point.

    Args:
        points: values by objective; those with an unknown one do not count.
        objectives: name -> mode.
    """
    known = [signed for point in points if (signed := signed_values(point, objectives)) is not None]
    if not known:
        return None
    found = {}
    for (name, mode), column in zip(objectives.items(), zip(*known, strict=True), strict=True):
        low, high = min(column), max(column)
        worst = high + MARGIN * ((high - low) or abs(high) or 1.0)
        found[name] = worst if mode == "min" else -worst
    return found


def ideal_point(points: Iterable[Mapping[str, float | None]], objectives: Mapping[str, Mode]) -> dict[str, float]:
    """Return the best value of each objective among some points of which one at least is whole; arguments as for `reference_point`."""
    known = [signed for point in points if (signed := signed_values(point, objectives)) is not None]
    best = zip(objectives.items(), zip(*known, strict=True), strict=True)
    return {name: min(column) if mode == "min" else -min(column) for (name, mode), column in best}


def hypervolume(points: Sequence[Mapping[str, float | None]], reference: Mapping[str, float], objectives: Mapping[str, Mode]) -> float:
    """Return the volume that some points dominate together, bounded by a reference point; in the product of the objectives' units.

    Args:
        points: (n,) values by objective; those with an unknown one, or beyond the reference in any, add nothing.
        reference: value of each objective that is no better than any of interest.
        objectives: name -> mode, one to three.

    Raises:
        ValueError: there are more than three objectives.
    """
    bound = signed_values(reference, objectives)
    if bound is None or len(objectives) > 3:
        raise ValueError(f"a hypervolume of {len(objectives)} objectives with the reference {dict(reference)}")
    inside = [
        tuple(signed)
        for point in points
        if (signed := signed_values(point, objectives)) is not None and all(a < b for a, b in zip(signed, bound, strict=True))
    ]
    return _volume(sorted(set(inside)), bound)


def hypervolume_so_far(
    results: Iterable[tuple[float, Mapping[str, float | None]]], reference: Mapping[str, float], objectives: Mapping[str, Mode], end: float
) -> StepCurve:
    """Return the hypervolume of all results up to each place, from the first whole one on.

    Args:
        results: (where it was known, values by objective), in any order.
        reference: as in `hypervolume`.
        objectives: name -> mode.
        end: how far the experiment went.
    """
    bound = signed_values(reference, objectives)
    if bound is None:
        raise ValueError(f"the reference {dict(reference)} is not whole")
    at: list[float] = []
    values: list[float] = []
    front: list[tuple[float, ...]] = []
    for x, point in sorted(results, key=lambda result: result[0]):
        signed = signed_values(point, objectives)
        if signed is None or not math.isfinite(x):
            continue
        beyond = any(a >= b for a, b in zip(signed, bound, strict=True))
        if not beyond and not any(all(a <= b for a, b in zip(other, signed, strict=True)) for other in front):
            front = [other for other in front if not all(a <= b for a, b in zip(signed, other, strict=True))] + [tuple(signed)]
        elif at:
            continue
        value = _volume(sorted(front), bound)
        if at and at[-1] == x:
            values[-1] = value
        else:
            at.append(x)
            values.append(value)
    return StepCurve(tuple(at), tuple(values), max(end, at[-1] if at else end))


def _volume(points: Sequence[tuple[float, ...]], bound: Sequence[float]) -> float:
    """Return the volume below a bound of points that are all within it, sorted by their first value."""
    if not points:
        return 0.0
    if len(bound) == 1:
        return bound[0] - points[0][0]
    if len(bound) == 2:
        return _area([(point[0], point[1]) for point in points], bound)
    # From slice to slice along the third objective: between two values of it the area of the points seen so far is dominated.
    total, seen = [], list[tuple[float, float]]()
    ordered = sorted(points, key=lambda point: point[2])
    for place, point in enumerate(ordered):
        bisect.insort(seen, (point[0], point[1]))
        upper = ordered[place + 1][2] if place + 1 < len(ordered) else bound[2]
        if upper > point[2]:
            total.append(_area(seen, bound) * (upper - point[2]))
    return math.fsum(total)


def _area(points: Sequence[tuple[float, float]], bound: Sequence[float]) -> float:
    """Return the area below a bound of points sorted by their first value: a staircase, each step down adds a rectangle."""
    total, floor = [], bound[1]
    for x, y in points:
        if y < floor:
            total.append((bound[0] - x) * (floor - y))
            floor = y
    return math.fsum(total)
