"""One exponent for the configurations of one code: partial pooling, as far as the evidence says that they have one in common. Pure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from benchmarking.forecasting.model.growth_prior import grid
from benchmarking.forecasting.model.power_law import Growth

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

COUPLING = 0.03
"""Standard deviation of the exponents of one code's configurations around their common one."""


@lru_cache(maxsize=4)
def _coupling(sd: float) -> FloatArray:
    """Return the probability (121, 121) of a member's exponent (row) given the common one (column)."""
    import numpy as np

    points, _ = grid()
    kernel = np.exp(-0.5 * ((points[:, None] - points[None, :]) / sd) ** 2)
    probability: FloatArray = kernel / kernel.sum(0, keepdims=True)
    return probability


def _common(members: Sequence[Growth], kernel: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return the common exponent's log posterior (121,), each member's log evidence (k, 121), and the probability that there is one."""
    import numpy as np

    own = members[0].log_exponent
    likes = np.stack([member.exponent_log_like for member in members])
    tops = likes.max(1, keepdims=True)
    # A member's evidence for a common exponent is that for its own, averaged over the scatter around the common one.
    blurred = np.log(np.exp(likes - tops) @ kernel + 1e-300)
    # Log posterior of the common exponent, and the evidence that there is one against each member having its own: even odds beforehand.
    together = own + blurred.sum(0)
    apart = np.log((np.exp(likes - tops) * np.exp(own)).sum(1) + 1e-300)
    evidence = together.max() + math.log(float(np.exp(together - together.max()).sum()))
    is_shared = 1 / (1 + math.exp(min(60.0, max(-60.0, float(apart.sum()) - evidence))))
    return together, blurred, is_shared


def share_exponents(members: Sequence[Growth], coupling: float = COUPLING) -> list[Growth]:
    """Return the growths of one code's configurations, each with the exponent's prior updated by the others.

    The exponents scatter normally around a common one, integrated out on the grid. Whether they have one at all is weighed by evidence,
    so that configurations which disagree keep their own.

    Args:
        members: of configurations that share code and prior.
        coupling: standard deviation of the exponents around the common one.
    """
    import numpy as np

    if len(members) < 2:
        return list(members)
    own = members[0].log_exponent
    kernel = _coupling(coupling)
    together, blurred, is_shared = _common(members, kernel)
    # What all others say of the common exponent, and through the scatter of this member's own.
    others = together - blurred
    common = np.exp(others - others.max(1, keepdims=True))
    learnt = common @ kernel.T
    # Where there is a common exponent the prior is what the others taught, else its own.
    mixed = np.log(is_shared * learnt / learnt.sum(1, keepdims=True) + (1 - is_shared) * np.exp(own) + 1e-12)
    return [dataclasses.replace(member, log_exponent=log_exponent) for member, log_exponent in zip(members, mixed, strict=True)]
