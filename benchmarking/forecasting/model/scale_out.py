"""How time changes with the number of instances, where more than one number was measured: Ernest's terms. Pure.

Venkataraman et al., "Ernest: Efficient performance prediction for large-scale advanced analytics", NSDI 2016, section 3: serial time,
work divided by m, tree aggregation log m, all-to-one communication m, with non-negative coefficients.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

Array: TypeAlias = Any

_STRUCTURE = 0.18
"""Standard deviation that the form of the law adds on the log scale, for each doubling beyond what was measured."""


def terms(machines: Array) -> Array:
    """Return Ernest's terms (n, 4) at fixed data: 1, 1/m, log m, m."""
    import numpy as np

    m = np.asarray(machines, dtype=float)
    return np.column_stack((np.ones_like(m), 1 / m, np.log(m), m))


def coefficients(machines: Array, seconds: Array) -> Array:
    """Return the non-negative coefficients (4,) that fit best by relative error (Lawson and Hanson, 1974)."""
    import numpy as np
    from scipy.optimize import nnls

    seconds = np.asarray(seconds, dtype=float)
    found, _ = nnls(terms(machines) / seconds[:, None], np.ones(len(seconds)))
    return found


def scale_out_draws(machines: Array, seconds: Array, target: float, size: int, rng: Any) -> Array:
    """Return draws (size,) of the time on `target` machines.

    The residual scatter of the fit and a structural term for the distance beyond the measured numbers go in; coefficients are drawn by
    the residual bootstrap (Efron, 1979).

    Args:
        machines: (n,) measured numbers of instances, of at least two values.
        seconds: (n,) times.
        target: number of instances that is forecast.
        size: number of draws.
        rng: generator.
    """
    import numpy as np

    machines, seconds = np.asarray(machines, dtype=float), np.asarray(seconds, dtype=float)
    fitted = coefficients(machines, seconds)
    centre = terms(machines) @ fitted
    freedom = max(1, len(seconds) - min(3, len(np.unique(machines))))
    residual = np.log(seconds / centre)
    sd = math.sqrt(float((residual**2).sum() + 2 * 0.03**2) / (freedom + 2))
    rounds = 60
    row = terms([target])[0]
    fits = [float(row @ coefficients(machines, centre * np.exp(rng.normal(0, sd, len(seconds))))) for _ in range(rounds)]
    beyond = max(math.log2(target / float(machines.max())), math.log2(float(machines.min()) / target), 0.0)
    spread = math.hypot(sd, _STRUCTURE * beyond)
    # Coefficients that cannot be negative pull the bootstrap's centre up; its spread is what is wanted.
    scatter = np.array(fits) / float(np.median(fits)) * float(row @ fitted)
    return scatter[rng.integers(0, rounds, size)] * np.exp(rng.standard_t(freedom + 2, size) * spread)
