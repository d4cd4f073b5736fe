"""What a canary cannot show: a part hidden under a larger one that overtakes it by the full job. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator


def with_hidden_term(
    draws: FloatArray, seen: float, top: float, rng: Generator, *, chance: float, squares: float, decades: float
) -> FloatArray:
    """Return draws (n,) of which a share may be overtaken by a hidden part; never less than they were.

    The hidden part is anywhere within some decades below what was seen at the largest canary, evenly on the log scale, and grows with the
    data or with its square: an improper guess, but one that keeps an upper bound from resting on what was never seen.

    Args:
        draws: of the full job without it.
        seen: measurement at the largest canary.
        top: size of the largest canary, as a share of the full job.
        rng: generator.
        chance: probability that there is a hidden part.
        squares: probability that it grows with the square of the data, else with the data.
        decades: below what was seen, within which it lies.
    """
    import numpy as np

    # Log-uniform at the largest canary, then carried to the full job by its power.
    size = len(draws)
    part = seen * 10 ** rng.uniform(-decades, 0, size)
    power = np.where(rng.random(size) < squares, 2.0, 1.0)
    return np.where(rng.random(size) < chance, np.maximum(draws, part * top**-power), draws)


def with_hidden_square(
    draws: FloatArray, x: FloatArray, y: FloatArray, noise_sd: float, rng: Generator, *, chance: float, decades: float
) -> FloatArray:
    """Return draws (n,) of which a share has a part that grows with the square of the data, as far as the measurements allow for one.

    The law is y = a + b x + p (x / top)^2 with b and p not negative. How large p is, is evenly spread on the log scale below y before it is
    measured; its likelihood, with a and b at their best, and whether there is such a part at all are weighed by Bayes' rule.

    Args:
        draws: of the full job without it.
        x: (m,) sizes as shares of the full job, at least two of them.
        y: (m,) what was measured there, the mean of repeats.
        noise_sd: of y, in its unit.
        rng: generator.
        chance: probability beforehand that there is such a part.
        decades: below the largest measurement, within which it lies at the largest size.
    """
    import numpy as np

    # Least squares of a + b x on the measurements and on the square alike; what the line leaves of either is orthogonal to it, so that the
    # likelihood of p, with a and b at their best, is that of p times the bend against what the line leaves.
    top, size = float(x.max()), len(draws)
    square = (x / top) ** 2
    line = np.column_stack((np.ones_like(x), x))
    solve = np.linalg.pinv(line)
    (_, slope), (_, taken) = solve @ y, solve @ square
    bent, left = square - line @ (solve @ square), y - line @ (solve @ y)
    slope_sd = noise_sd * math.sqrt(float((solve[1] ** 2).sum()))
    # p from its log-uniform prior, stratified.
    part = float(y[x.argmax()]) * 10 ** -(decades * (rng.random(size) + np.arange(size)) / size)
    # Against no such part; what it takes from the slope must not leave a falling line.
    log_like = (part * float(bent @ left) - 0.5 * part**2 * float(bent @ bent)) / noise_sd**2
    log_like -= 0.5 * np.minimum((slope - part * taken) / slope_sd, 0.0) ** 2 - 0.5 * min(slope / slope_sd, 0.0) ** 2
    # Bayes factor of such a part: its likelihood averaged over the prior, against p = 0; importance resampling draws p from its posterior.
    best = float(log_like.max())
    weights = np.exp(log_like - best)
    odds = chance / (1 - chance) * float(weights.mean()) * math.exp(min(best, 500.0))
    chosen = rng.choice(part, size, p=weights / weights.sum())
    # The line already carries p to the full job as p / top; the square makes it p / top^2.
    return np.where(rng.random(size) < odds / (1 + odds), draws + chosen * (top**-2 - 1 / top), draws)
