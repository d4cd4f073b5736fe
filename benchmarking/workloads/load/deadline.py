"""When a load ends of itself, so that what it measured is reported before its job is ended."""

from __future__ import annotations

import math

from .options import LoadOptions

_LEAST_SPARE_S, _SPARE_SHARE, _MOST_SPARE_S = 2.0, 0.05, 15.0


def load_ends_s(job_ends_s: float, now: float) -> float:
    """Return when a load is over: what follows it takes time too, the script's end, and on this machine its server's.

    Args:
        job_ends_s: monotonic seconds at which the job is ended; inf for never.
        now: of the same clock.
    """
    if math.isinf(job_ends_s):
        return job_ends_s
    return job_ends_s - min(max(_LEAST_SPARE_S, _SPARE_SHARE * (job_ends_s - now)), _MOST_SPARE_S)


def last_answers_s(options: LoadOptions) -> float:
    """Return how many seconds are kept for the last answers of a load that ends before its job does."""
    return min(options.timeout_s, max(1.0, 5 * options.slo_s))
