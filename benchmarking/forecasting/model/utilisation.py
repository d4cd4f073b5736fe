"""Mean CPU or GPU utilisation of the full job: a mix of start-up and steady state by their shares of the time, never a line. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

_PRIOR_SD = 0.15
"""How far start-up's utilisation is expected from the steady one, as a share of the scale."""


def utilisation_draws(
    canaries: Sequence[Canary], column: str, steady_share: FloatArray | float, size: int, rng: Generator
) -> FloatArray | None:
    """Return draws (size,) of the full job's mean utilisation, clipped to its scale; None where it was not measured.

    A run's mean is u0 (1 - w) + u1 w, with w the share of its time outside start-up. u0 and u1 are fitted by ridge regression, whose prior
    says that both are alike (Hoerl and Kennard, Technometrics 12, 1970). Where start-up was not timed, w is 1 and the mean of the runs
    at the largest size counts.

    Args:
        canaries: completed runs of one configuration.
        column: `cpu_util` or `gpu_util`; percent, or shares where no value passes 1.
        steady_share: share of the full job's time outside start-up, (size,) or one number.
        size: number of draws.
        rng: generator.
    """
    import numpy as np

    used = [canary for canary in canaries if getattr(canary, column) is not None]
    if not used:
        return None
    values = np.array([getattr(canary, column) for canary in used], dtype=float)
    scale = scale_of(values)
    timed = all(canary.startup_s is not None and canary.total_s for canary in used)
    if timed:
        share = np.array([1 - min(1.0, (canary.startup_s or 0.0) / (canary.total_s or 1.0)) for canary in used])
    else:
        top = max(canary.fraction for canary in used)
        values = values[[canary.fraction == top for canary in used]]
        share, steady_share = np.ones(len(values)), 1.0
    # In terms of the steady level and the difference of start-up from it; only the difference is held to 0.
    design = np.column_stack((np.ones(len(values)), 1 - share))
    noise_sd = max(0.01 * scale, float(values.std(ddof=1)) if len(values) > 2 and not timed else 0.02 * scale)
    precision = design.T @ design / noise_sd**2 + np.diag((1e-9, 1 / (_PRIOR_SD * scale) ** 2))
    # Normal posterior of both levels: precision of the data plus that of the prior.
    covariance = np.linalg.inv(precision)
    centre = covariance @ (design.T @ values) / noise_sd**2
    # Its scale is learnt from the residuals, with two runs' worth of prior; that makes the draws Student's t.
    residual = values - design @ centre
    freedom = 2 + len(values)
    inflation = math.sqrt((2 * noise_sd**2 + float((residual**2).sum())) / freedom) / noise_sd
    loose = np.linalg.cholesky(covariance) @ rng.standard_normal((2, size))
    t = np.sqrt(freedom / rng.chisquare(freedom, size)) * max(1.0, inflation)
    # Mean of the full job, then its own noise.
    level = centre[0] + loose[0] * t + (centre[1] + loose[1] * t) * (1 - steady_share)
    found: FloatArray = np.clip(level + rng.standard_normal(size) * noise_sd * t, 0.0, scale)
    return found


def scale_of(values: Iterable[float]) -> float:
    """Return 100 where utilisation is in percent, 1 where it is a share (no value passes 1)."""
    return 1.0 if float(max(values)) <= 1.0 else 100.0
