"""The best share of a growing set of vectors."""

from __future__ import annotations

import random

import pytest

from benchmarking.methods.pareto_share import ParetoShare


def vectors(seed, count, width):
    source = random.Random(seed)
    return [[round(source.random(), 1 if seed % 2 else 6) for _ in range(width)] for _ in range(count)]


@pytest.mark.parametrize("seed", range(4))
def test_pareto_share_ranks_by_front(seed):
    kept, values = ParetoShare(1 / 3), []
    for key, value in enumerate(vectors(seed, 120, 2 + seed // 2)):
        good = kept.add(key, value)
        values.append(value)
        fronts = fronts_of(values)
        assert kept.fronts == fronts
        better = sum(front < fronts[-1] for front in fronts)
        worse = better + fronts.count(fronts[-1]) - 1
        if worse / len(values) <= 1 / 3:
            assert good
        if better / len(values) > 1 / 3:
            assert not good
        best = [k for k in range(len(values)) if kept.holds(k)]
        assert len(best) == max(k for k in range(len(values) + 1) if k / len(values) <= 1 / 3)
        if best:
            assert max(fronts[k] for k in best) <= min(fronts[k] for k in range(len(values)) if k not in best)


def fronts_of(values):
    fronts = [-1] * len(values)
    left, front = set(range(len(values))), 0
    while left:
        free = {k for k in left if not any(dominates(values[j], values[k]) for j in left)}
        for k in free:
            fronts[k] = front
        left, front = left - free, front + 1
    return fronts


def dominates(one, other):
    return all(a <= b for a, b in zip(one, other, strict=True)) and one != other
