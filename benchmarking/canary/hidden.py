"""What a canary cannot show: a part hidden under a larger one that overtakes it by the full job. Used for time and for memory; pure."""

from __future__ import annotations

from typing import Any, TypeAlias

Array: TypeAlias = Any


def overtaken(draws: Array, seen: float, top: float, rng: Any, *, chance: float, squares: float, decades: float) -> Array:
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

    size = len(draws)
    part = seen * 10 ** rng.uniform(-decades, 0, size)
    power = np.where(rng.random(size) < squares, 2.0, 1.0)
    return np.where(rng.random(size) < chance, np.maximum(draws, part * top**-power), draws)
