from collections import Counter
from itertools import islice

import pytest

from benchmarking.workloads.load.popularity import drawn


def shares(count, exponent, seed=1, n=40_000):
    counts = Counter(islice(drawn(count, exponent, seed), n))
    return [counts[number] / n for number in range(count)]


def test_uniform():
    assert shares(4, 0.0) == pytest.approx([0.25] * 4, abs=0.01)


def test_zipf_falls_by_the_power_of_the_rank():
    assert shares(3, 1.0) == pytest.approx([6 / 11, 3 / 11, 2 / 11], abs=0.01)
    assert shares(2, 2.0) == pytest.approx([0.8, 0.2], abs=0.01)


def test_the_seed_decides_and_one_target_needs_none():
    assert list(islice(drawn(9, 1.0, 5), 50)) == list(islice(drawn(9, 1.0, 5), 50))
    assert list(islice(drawn(1, 3.0, 5), 4)) == [0, 0, 0, 0]


@pytest.mark.parametrize("exponent", [-0.1, float("nan")])
def test_an_exponent_below_0_is_refused(exponent):
    with pytest.raises(SystemExit, match="exponent of Zipf"):
        drawn(3, exponent, 0)
