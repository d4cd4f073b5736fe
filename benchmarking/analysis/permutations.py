"""Exact tests of no difference: by sign flips for pairs, by relabelling for two samples. Pure.

They assume no distribution: under the hypothesis a pair's difference has either sign alike (Fisher, The Design of Experiments, 1935), and a
value could have been either sample's (Pitman 1937). Few measurements therefore have a smallest p value that no data can go below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

_ALL_FLIPS_TO = 12
_ALL_LABELS_TO = 20_000
_DRAWN = 50_000
_ROUNDING = 1e-12


def sign_flip_p(differences: Sequence[float]) -> float:
    """Return the two-sided p value of "the differences lie around zero", over all 2^n signs up to n = 12, else over 50,000 drawn ones.

    Args:
        differences: (n,) of the pairs, finite; zeros say nothing and are left out.
    """
    import numpy as np

    data = np.asarray([value for value in differences if value != 0.0])
    n = len(data)
    if n == 0:
        return 1.0
    observed = abs(float(data.sum())) - _ROUNDING * float(np.abs(data).sum())
    if n <= _ALL_FLIPS_TO:
        # Half of the patterns are the others' mirror images, so the last sign stays.
        patterns = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
        return float(np.mean(np.abs((1 - 2 * patterns) @ data) >= observed))
    # Eight signs are drawn as one byte, and the sum of eight differences under each byte is looked up: a pass over bits takes far longer.
    eights = np.append(data, np.zeros(-n % 8)).reshape(-1, 8)
    sums = eights @ (1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)).T
    drawn = np.random.default_rng(0).integers(0, 256, size=(len(eights), _DRAWN), dtype=np.uint8)
    totals = np.zeros(_DRAWN)
    for of_eight, signs in zip(sums, drawn, strict=True):
        totals += of_eight[signs]
    # The observed pattern counts as one of those drawn, so that p is never 0 (Phipson and Smyth 2010).
    return (1 + int(np.sum(np.abs(totals) >= observed))) / (_DRAWN + 1)


def least_sign_flip_p(n: int) -> float:
    """Return the smallest p value that n pairs can have: 0.0625 for five."""
    return 1.0 if n < 1 else 2.0 ** (1 - n)


def relabelling_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p value of "both samples have one mean", over all labellings up to 20,000, else over 50,000 drawn ones.

    Args:
        first: (n,) measurements, finite.
        second: (m,) likewise; the two do not belong together in pairs.
    """
    import numpy as np

    n, pooled = len(first), np.asarray([*first, *second], dtype=np.float64)
    if not n or n == len(pooled):
        return 1.0
    # With the sum of all fixed, the difference of means is a function of the first sample's sum alone.
    expected = float(pooled.sum()) * n / len(pooled)
    observed = abs(float(pooled[:n].sum()) - expected) - _ROUNDING * float(np.abs(pooled).sum())
    if math.comb(len(pooled), n) <= _ALL_LABELS_TO:
        chosen = np.asarray([*combinations(range(len(pooled)), n)])
        return float(np.mean(np.abs(pooled[chosen].sum(axis=1) - expected) >= observed))
    order = np.random.default_rng(0).permuted(np.tile(np.arange(len(pooled)), (_DRAWN, 1)), axis=1)[:, :n]
    return (1 + int(np.sum(np.abs(pooled[order].sum(axis=1) - expected) >= observed))) / (_DRAWN + 1)


def least_relabelling_p(n: int, m: int) -> float:
    """Return the smallest p value that samples of n and m can have; with equal sizes an extreme has a mirror image that counts too."""
    return 1.0 if min(n, m) < 1 else (2 if n == m else 1) / math.comb(n + m, n)


def holm(p_values: Sequence[float], family: int | None = None) -> list[float]:
    """Return p values adjusted for being several, in their order (Holm 1979): below a level each, the family errs at most so often.

    Args:
        p_values: (n,) of the hypotheses that are looked at.
        family: how many there are in all, where others could have been looked at instead; None for n.
    """
    size = len(p_values) if family is None else max(family, len(p_values))
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(order):
        # The k-th smallest is compared with level / (m - k + 1), and never judged more mildly than a smaller one.
        largest = max(largest, min(1.0, (size - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted
