"""Which target each request is for: drawn by seed, uniformly or by Zipf's law."""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Iterator


def drawn(count: int, exponent: float, seed: int) -> Iterator[int]:
    """Yield numbers of targets, without end; the same for the same seed.

    Args:
        count: how many targets there are, at least 1.
        exponent: s of Zipf's law: target i is drawn in proportion to 1 / (i + 1)^s; 0: uniformly.
        seed: of the draws.

    Raises:
        SystemExit: the exponent is below 0.
    """
    if not exponent >= 0:
        raise SystemExit(f"popularity {exponent}: it is the exponent of Zipf's law, 0 (all alike) or above")
    if count == 1:
        return itertools.repeat(0)
    rng = random.Random(f"targets {seed}")
    if exponent == 0:
        return (int(rng.random() * count) for _ in itertools.repeat(None))
    totals = list(itertools.accumulate((number + 1) ** -exponent for number in range(count)))
    return (min(bisect.bisect(totals, rng.random() * totals[-1]), count - 1) for _ in itertools.repeat(None))
