"""Whether intervals hold here: scores of the forecasts of jobs that were finished, and the stretch that makes them hold. Pure.

Split conformal prediction on normalised log ratios (Lei et al., JASA 113, 2018), each job scored by forecasts that did not see it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarking.forecasting.model.result import Forecast

ENOUGH = 20
"""Finished jobs from which on intervals are stretched by their scores."""

_LIMITS = (0.8, 4.0)


@dataclass(frozen=True)
class Calibration:
    """Scores of finished jobs.

    Args:
        scores: by metric, each |log(actual / median)| over the half width of the 90 % interval on the log scale: 1 is its very end.
    """

    scores: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def stretch(self, metric: str) -> tuple[float, str]:
        """Return the factor for the metric's intervals, and in words whether it was calibrated; no words without any score."""
        scores = sorted(self.scores.get(metric, ()))
        if not scores:
            return 1.0, ""
        inside = sum(score <= 1 for score in scores)
        if len(scores) < ENOUGH:
            return 1.0, f"not calibrated: {len(scores)} of {ENOUGH} finished jobs, {inside} inside the 90 % interval"
        # The conformal quantile: the ceil((n + 1) 0.9)-th smallest of n scores covers a new job with probability 0.9 or more.
        rank = min(len(scores), math.ceil((len(scores) + 1) * 0.9))
        factor = min(_LIMITS[1], max(_LIMITS[0], scores[rank - 1]))
        return factor, f"calibrated on {len(scores)} finished jobs (stretched by {factor:.2f})"


def score(forecast: Forecast, actual: float) -> float | None:
    """Return the score of one forecast (see `Calibration`) against what the job really took; None where there is nothing to compare.

    Args:
        forecast: of one metric.
        actual: what was measured of the full job, in the metric's unit.
    """
    if forecast.median is None or forecast.lo90 is None or forecast.hi90 is None or actual <= 0 or forecast.median <= 0:
        return None
    ratio = math.log(actual / forecast.median)
    side = math.log(forecast.hi90 / forecast.median) if ratio > 0 else math.log(forecast.median / max(forecast.lo90, 1e-300))
    return abs(ratio) / max(side, 1e-9)
