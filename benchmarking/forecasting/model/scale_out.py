"""How time changes with the number of instances, where more than one number was measured: Ernest's terms. Pure.

Venkataraman et al., "Ernest: Efficient performance prediction for large-scale advanced analytics", NSDI 2016, section 3: serial time,
work divided by m, tree aggregation log m, all-to-one communication m, with non-negative coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

_STRUCTURE = 0.18
"""Standard deviation that the form of the law adds on the log scale, for each doubling beyond what was measured."""


def terms(machines: FloatArray | Sequence[float]) -> FloatArray:
    """Return Ernest's terms (n, 4) at fixed data for numbers of instances m (n,): 1, 1/m, log m, m."""
    import numpy as np

    m = np.asarray(machines, dtype=float)
    return np.column_stack((np.ones_like(m), 1 / m, np.log(m), m))


def coefficients(machines: FloatArray, seconds: FloatArray) -> FloatArray:
    """Return the non-negative coefficients (4,) that fit best by relative error (Lawson and Hanson, 1974)."""
    import numpy as np
    from scipy.optimize import nnls

    seconds = np.asarray(seconds, dtype=float)
    found, _ = nnls(terms(machines) / seconds[:, None], np.ones(len(seconds)))
    coefficients_found: FloatArray = found
    return coefficients_found


def scale_out_draws(machines: FloatArray, seconds: FloatArray, target: float, size: int, rng: Generator) -> FloatArray:
    """Return draws (size,) of the time on `target` machines.

    The residual scatter of the fit and a structural term for the distance beyond the measured numbers go in; coefficients are drawn by
    the parametric bootstrap (Efron, Annals of Statistics 7, 1979).

    Args:
        machines: (n,) measured numbers of instances, of at least two values.
        seconds: (n,) times.
        target: number of instances that is forecast.
        size: number of draws.
        rng: generator.
    """
    import numpy as np

    machines, seconds = np.asarray(machines, dtype=float), np.asarray(seconds, dtype=float)
    # Best fit, and its residual scatter with two degrees of freedom of prior at 3 %; of four terms that cannot be negative at most three
    # are counted, and no more than numbers of instances that were measured.
    fitted = coefficients(machines, seconds)
    centre = terms(machines) @ fitted
    freedom = max(1, len(seconds) - min(3, len(np.unique(machines))))
    residual = np.log(seconds / centre)
    sd = math.sqrt(float((residual**2).sum() + 2 * 0.03**2) / (freedom + 2))
    # Parametric bootstrap: made-up measurements around the fit are fitted again, each predicts the target.
    rounds = 60
    row = terms([target])[0]
    fits = [float(row @ coefficients(machines, centre * np.exp(rng.normal(0, sd, len(seconds))))) for _ in range(rounds)]
    # Doublings from the nearest number that was measured.
    beyond = max(math.log2(target / float(machines.max())), math.log2(float(machines.min()) / target), 0.0)
    spread = math.hypot(sd, _STRUCTURE * beyond)
    # Coefficients that cannot be negative pull the bootstrap's centre up; its spread is what is wanted.
    scatter = np.array(fits) / float(np.median(fits)) * float(row @ fitted)
    return scatter[rng.integers(0, rounds, size)] * np.exp(rng.standard_t(freedom + 2, size) * spread)
