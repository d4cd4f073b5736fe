"""The methods that forecasts are compared with, each from totals alone, as their sources describe them."""

from __future__ import annotations

import math

import numpy as np


def ols(x, y):
    """Straight line through the runs: prediction at 1 with its Student intervals (80 %, 90 %)."""
    design = np.c_[np.ones_like(x), x]
    beta, *_ = np.linalg.lstsq(design, y, rcond=None)
    freedom = len(x) - 2
    at = np.array([1.0, 1.0])
    median = float(at @ beta)
    if freedom < 1 or len(np.unique(x)) < 2:
        return median, None
    residual = y - design @ beta
    sd = math.sqrt(float(residual @ residual) / freedom * (1 + float(at @ np.linalg.inv(design.T @ design) @ at)))
    from scipy.special import stdtrit

    half = [float(stdtrit(freedom, q)) * sd for q in (0.9, 0.95)]
    return median, (median - half[0], median + half[0], median - half[1], median + half[1])


def canary_training(x, y, seed=0):
    """1.1 times the measurements, 1,000 bootstraps of which those with falling level means are thrown away, mean of their lines at 1."""
    rng = np.random.default_rng(seed)
    scaled, predictions = y * 1.1, []
    for _ in range(1000):
        chosen = rng.integers(0, len(x), min(len(x), 10))
        xs, ys = x[chosen], scaled[chosen]
        levels = np.unique(xs)
        means = [ys[xs == level].mean() for level in levels]
        if len(levels) < 2 or np.any(np.diff(means) < 0):
            continue
        centre = xs.mean()
        slope = float((xs - centre) @ ys) / float((xs - centre) @ (xs - centre))
        predictions.append(ys.mean() + slope * (1 - centre))
    return (float(np.mean(predictions)) if predictions else math.nan), None


def nnls(x, y):
    """Ernest's terms at a fixed number of machines: non-negative constant and slope, weighted by the relative error."""
    from scipy.optimize import nnls as solve

    design = np.c_[np.ones_like(x), x]
    beta, _ = solve(design / y[:, None], np.ones_like(y))
    return float(beta.sum()), None


OTHERS = {"OLS": ols, "canary_training": canary_training, "Ernest NNLS": nnls}
