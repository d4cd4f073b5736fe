"""The run that a fit expects: added to those that were measured, it tells what one more run is worth."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from benchmarking.forecasting.data.canary import NUMBERS, Canary
from benchmarking.forecasting.model.fit import Fitted

_EXPECTED = 10_000
"""Number of a repeat that no measured run has."""


def expected_run(item: Fitted, fraction: float, seed: int = 0) -> Canary:
    """Return the canary that the fit expects at a fraction, each phase at its median.

    Args:
        item: a fitted configuration with at least one completed run.
        fraction: nominal share of the data.
        seed: of the draws whose medians count.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    first = item.used[0]
    # What a run reads is in proportion to its fraction, so the sizes need no fit.
    scale = fraction / first.fraction
    sizes: dict[str, Any] = {name: getattr(first, name) * scale for name in ("rows", "bytes") if getattr(first, name)}
    values: dict[str, Any] = {}
    if item.time is not None:
        # Medians and not means: the draws are skewed, and a mean would be pulled up by tails that no usual run looks like.
        medians = {
            name: float(np.median(part.sample(fraction / item.at, 1000, rng))) if part.growth is not None else part.constant
            for name, part in item.time.parts.items()
        }
        values = {f"{name}_s": value for name, value in medians.items() if name not in ("rest", "total")}
        # The phases' medians are added, so that the expected run agrees with itself: its phases make up its total.
        values["total_s"] = math.fsum(medians.values())
    # Steps go with the data where the fit found so (`steady`); else each run makes the same number of them.
    steps = first.steps and (first.steps * scale if item.time is not None and item.time.steady else first.steps)
    if item.rss is not None and item.rss.slope is not None:
        levels, means = item.rss.levels
        values["rss_bytes"] = float(means[-1]) + item.rss.slope * (fraction / item.at - float(levels[-1]))
    # What the fit does not tell (utilisation) is absent rather than copied, as a copy would count as evidence.
    unmeasured = dict.fromkeys(name for name in NUMBERS if name not in ("rows", "bytes"))
    return dataclasses.replace(first, **{**unmeasured, **sizes, **values, "steps": steps}, fraction=fraction, repeat=_EXPECTED, about={})
