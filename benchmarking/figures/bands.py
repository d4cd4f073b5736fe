"""Step curves of several seeds as one line with a band: the aggregate and the interval that `compare` gives, at every step. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from benchmarking.analysis.intervals import mean_intervals
from benchmarking.analysis.step_curves import StepCurve
from benchmarking.figures.data import Curve

MOST_STEPS = 80
"""Places of a line with a band: each costs a bootstrap, and more than so many are not seen apart."""


def band(
    name: str,
    curves: Sequence[StepCurve],
    aggregate: Callable[[Sequence[float]], float],
    confidence: float,
    *,
    until: float | None = None,
    most: int = MOST_STEPS,
    possible: tuple[float, float] = (-math.inf, math.inf),
) -> Curve | None:
    """Return the line of several seeds; None where there is no place at which all of them are known.

    It begins where the last of them has its first value, and ends where the first of them ends: before and after, an aggregate would be of
    fewer seeds, and step without anything having got better.

    Args:
        name: of the line, and of its colour.
        curves: (n_seeds,) those that never have a value are left out.
        aggregate: of the seeds' values.
        confidence: of the band, which is that of their mean.
        until: where it ends, if all are known there.
        most: places that it has at most.
        possible: between what values can lie, at which the band ends.
    """
    known = [curve for curve in curves if curve.at]
    if not known:
        return None
    begin, end = max(curve.at[0] for curve in known), min(curve.end for curve in known)
    end = end if until is None else min(end, until)
    if begin > end:
        return None
    places = sorted({begin, end, *(at for curve in known for at in curve.at if begin <= at <= end)})
    x = thinned(places, most)
    columns = [[value for curve in known if (value := curve(at)) is not None] for at in x]
    intervals = [None if one is None else one.within(possible) for one in mean_intervals(columns, confidence)]
    ends = [(None, None) if one is None else (one.low, one.high) for one in intervals]
    with_band = len(known) > 1
    return Curve(
        name,
        tuple(x),
        tuple(aggregate(values) for values in columns),
        tuple(low for low, _ in ends) if with_band else (),
        tuple(high for _, high in ends) if with_band else (),
        step=True,
        group=name,
    )


def line(name: str, curve: StepCurve, *, until: float | None = None, group: str = "", most: int = 200) -> Curve | None:
    """Return one step curve as a line up to its end; None where nothing is known of it.

    Args:
        name: of the line.
        curve: what is drawn.
        until: where it ends, if it is known there.
        group: what has its colour too, e.g. its method.
        most: places that it has at most.
    """
    end = curve.end if until is None else min(curve.end, until)
    steps = [(at, value) for at, value in zip(curve.at, curve.values, strict=True) if at <= end]
    if not steps:
        return None
    kept = thinned([at for at, _ in steps], most)
    values = dict(steps)
    x = [*kept, *([end] if end > kept[-1] else [])]
    return Curve(name, tuple(x), tuple([values[at] for at in kept] + [values[kept[-1]]] * (len(x) - len(kept))), step=True, group=group)


def thinned(places: Sequence[float], most: int) -> list[float]:
    """Return at most so many of (n,) ascending places, the first and the last among them, the others evenly by their number."""
    if len(places) <= most:
        return list(places)
    return [places[round(index * (len(places) - 1) / (most - 1))] for index in range(most)]
