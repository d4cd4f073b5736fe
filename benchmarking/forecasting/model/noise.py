"""The noise of measurements, on the log scale: its prior, and what repeats teach of it. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.columns import column_of

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

NOISE_A0, NOISE_SD = 2.5, 0.04
"""Prior of the noise variance: inverse gamma of shape `NOISE_A0` with its mode at `NOISE_SD` squared."""

_MOST_LEARNT = 8
"""Degrees of freedom that other configurations' repeats count as at most: their noise is not quite this one's."""


@dataclass(frozen=True)
class Noise:
    """Prior of the noise variance: inverse gamma of shape `a` and scale `b`."""

    a: float
    b: float


def noise_prior(noise_sd: float = NOISE_SD, others: Sequence[tuple[float, int]] = ()) -> Noise:
    """Return the prior of the noise, learnt from repeats of other configurations where there are any.

    The update is the conjugate one of a normal variance: half the degrees of freedom to the shape, half the sum of squares to the scale.

    Args:
        noise_sd: mode of the standard deviation without them.
        others: (sum of squared deviations of log y within levels, degrees of freedom) of each other configuration.
    """
    squares, freedom = math.fsum(one[0] for one in others), sum(one[1] for one in others)
    # Other configurations teach less than their number: capped degrees of freedom keep their mean square and lower its weight.
    counted = min(freedom, _MOST_LEARNT)
    learnt = squares / freedom * counted / 2 if freedom else 0.0
    # The mode of an inverse gamma is b / (a + 1).
    return Noise(NOISE_A0 + counted / 2, (NOISE_A0 + 1) * noise_sd**2 + learnt)


def within_levels(x: FloatArray, y: FloatArray) -> tuple[float, int]:
    """Return the sum of squared deviations of log y within equal sizes, and its degrees of freedom.

    Args:
        x: (n,) sizes.
        y: (n,) measurements above 0.
    """
    # Only runs of equal size differ by noise alone.
    groups: dict[float, list[float]] = {}
    for size, value in zip(x, y, strict=True):
        groups.setdefault(float(size), []).append(math.log(value))
    # The pooled within-group sum of squares (one-way analysis of variance); each group's mean costs one degree of freedom.
    squares = 0.0
    for group in groups.values():
        mean = math.fsum(group) / len(group)
        squares += math.fsum((value - mean) ** 2 for value in group)
    return squares, len(x) - len(groups)


def repeat_noise(canaries: Mapping[str, Sequence[Canary]], column: str) -> dict[str, tuple[float, int]]:
    """Return by configuration the squared deviations of log values between its repeats, and their degrees of freedom.

    Args:
        canaries: by configuration.
        column: of the measurement.
    """
    import numpy as np

    found = {}
    for name, group in canaries.items():
        values = column_of(group, column)
        # Below 0.1 ms (or what the column counts) the clock's own steps would pass for noise, and log 0 does not exist.
        if values is not None and len(values) > 1 and float(values.min()) > 1e-4:
            found[name] = within_levels(np.array([canary.fraction for canary in group]), values)
    return found
