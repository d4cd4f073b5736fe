"""The best share of a growing set of numbers."""

from __future__ import annotations

import math
import random

from benchmarking.methods.best_share import BestShare


def test_best_share_is_that_of_sorting():
    source = random.Random(1)
    for share in (1 / 3, 0.5, 0.25):
        kept, values = BestShare(share), []
        for key in range(300):
            value = source.choice((source.random(), source.randint(0, 4), math.inf))
            good = kept.add(key, value)
            values.append(value)
            smaller = sum(other < value for other in values)
            assert good == (smaller / len(values) <= share)
            count = max(k for k in range(len(values) + 1) if k / len(values) <= share)
            best = sorted(range(len(values)), key=lambda k: (values[k], k))[:count]
            assert [key for key in range(len(values)) if kept.holds(key)] == sorted(best)
            assert kept.best() == (best[0] if best else None)


def test_nan_at_a_rung_is_the_worst_and_harms_nobody_else():
    kept = BestShare(1 / 3)
    assert [kept.add(key, value) for key, value in enumerate([1.0, math.nan, 0.5, math.nan, 0.4, 3.0])] == [
        True, False, True, False, True, False,
    ]  # fmt: skip
