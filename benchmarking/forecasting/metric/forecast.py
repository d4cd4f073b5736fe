"""Forecasts of an objective at the full level, and which configuration is best there: "not decided" where curves cross. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarking.forecasting.metric.curve import MetricCurve, draws
from benchmarking.forecasting.model.result import Forecast, Status
from definitions.schema import Mode

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

_DRAWS = 4000
_OK, _DECIDED = 0.15, 0.4
"""Half of the 80 % interval, as a share of what the objective changes from the first level to the full one."""

CONFIDENCE = 0.9


@dataclass(frozen=True)
class MetricVerdict:
    """Which configuration will be best: its name, how sure that is, and the sentence; `is_decided` where it is sure enough."""

    best: str
    sure: float
    is_decided: bool
    text: str


def metric_draws(curves: Mapping[str, MetricCurve], full: float) -> dict[str, FloatArray]:
    """Return draws (n,) of an objective at the full level, of each configuration that was measured at two levels, or at the full one.

    Args:
        curves: by configuration.
        full: the full level, in the unit of the curves.
    """
    import numpy as np

    drawn: dict[str, FloatArray] = {}
    for name, curve in curves.items():
        if max(curve.x) >= full * (1 - 1e-9):
            drawn[name] = np.full(_DRAWS, curve.last)
        elif len(curve.levels) > 1:
            seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
            drawn[name] = draws(curve, full, _DRAWS, np.random.default_rng(seed))
    return drawn


def metric_forecasts(
    curves: Mapping[str, MetricCurve], metric: str, mode: Mode, full: float, confidence: float = CONFIDENCE
) -> tuple[list[Forecast], MetricVerdict | None]:
    """Return the forecasts of an objective at the full level, best first, and which configuration will be best; None where none is known.

    Args:
        curves: by configuration.
        metric: the objective's name.
        mode: whether less or more of it is better.
        full: the full level, in the unit of the curves.
        confidence: with which the best one is to be known.
    """
    import numpy as np

    found: list[Forecast] = []
    drawn = metric_draws(curves, full)
    for name, curve in curves.items():
        why = _refusal(curve, mode, full)
        top = max(curve.x)
        if top >= full * (1 - 1e-9):
            value = curve.last
            found.append(Forecast(name, metric, value, value, value, value, value, Status.OK, "measured at the full level"))
            continue
        if len(curve.levels) < 2:
            found.append(Forecast(name, metric, None, None, None, None, None, Status.NOT_DECIDED, why))
            continue
        median, lo80, hi80, lo90, hi90 = (float(one) for one in np.quantile(drawn[name], (0.5, 0.1, 0.9, 0.05, 0.95)))
        width = (hi80 - lo80) / 2 / (abs(median - curve.levels[0][1]) or 1.0)
        status = Status.OK if width <= _OK else Status.WIDE if width <= _DECIDED else Status.NOT_DECIDED
        grounds = f"{len(curve.levels)} levels up to {top / full:.0%} of the full one"
        if why:
            status = Status.NOT_DECIDED
        elif status is not Status.OK:
            why = f"the 80 % interval is {2 * width:.0%} of all that it changes"
        found.append(Forecast(name, metric, median, lo80, hi80, lo90, hi90, status, "; ".join(one for one in (why, grounds) if one)))
    sign = 1.0 if mode == "min" else -1.0
    found.sort(key=lambda one: (one.median is None, sign * (one.median or 0.0)))
    return found, _verdict(curves, found, drawn, metric, mode, confidence)


def _refusal(curve: MetricCurve, mode: Mode, full: float) -> str:
    """Return why a curve tells nothing of the full level; empty where it does."""
    if len(curve.levels) < 2:
        return "it was measured at one level only"
    worse = curve.changed > 0 if mode == "min" else curve.changed < 0
    return "it gets worse with more, which the law does not explain" if worse else ""


def _verdict(
    curves: Mapping[str, MetricCurve], found: list[Forecast], drawn: Mapping[str, FloatArray], metric: str, mode: Mode, confidence: float
) -> MetricVerdict | None:
    import numpy as np

    known = [one for one in found if one.median is not None]
    if not known:
        return None
    sign = 1.0 if mode == "min" else -1.0
    first = known[0]
    will_be = f"{first.configuration} will have {metric} = {first.median:.4g} ({first.lo80:.4g} to {first.hi80:.4g})"
    if len(known) == 1:
        return MetricVerdict(first.configuration, 1.0, first.status is not Status.NOT_DECIDED, f"Of what is known, {will_be}.")
    others = np.minimum.reduce([sign * drawn[one.configuration] for one in known[1:]])
    sure = float((sign * drawn[first.configuration] <= others).mean())
    # At the largest level that all have, as far as there is one.
    now = min(known, key=lambda one: sign * curves[one.configuration].last)
    if now.configuration != first.configuration:
        text = f"Not decided: curves cross. {now.configuration} is best so far, and by the law {will_be}, {sure:.0%} sure."
        return MetricVerdict(first.configuration, sure, False, text)
    second = known[1]
    if sure < confidence or first.status is Status.NOT_DECIDED:
        text = f"Not decided ({sure:.0%} sure): {will_be}; next is {second.configuration} with {second.median:.4g}."
        return MetricVerdict(first.configuration, sure, False, text)
    text = f"Best ({sure:.0%} sure): {will_be}; next is {second.configuration} with {second.median:.4g}."
    return MetricVerdict(first.configuration, sure, True, text)
