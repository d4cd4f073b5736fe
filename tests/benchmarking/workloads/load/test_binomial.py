import math

import pytest

from benchmarking.workloads.load.binomial import beta_cdf, beta_quantile, lower_bound, shows_above, shows_below, upper_bound


def tail(n, over, share):
    """P(at most `over` of n)."""
    return sum(math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(over + 1))


@pytest.mark.parametrize(("n", "over", "share"), [(299, 0, 0.01), (60, 3, 0.1), (1000, 12, 0.01), (20, 19, 0.5)])
def test_it_is_the_binomial_distribution(n, over, share):
    assert beta_cdf(1 - share, n - over, over + 1) == pytest.approx(tail(n, over, share), rel=1e-9)


def test_values_that_are_known():
    assert beta_cdf(0.5, 3.5, 3.5) == pytest.approx(0.5)
    assert beta_cdf(0.3, 1, 1) == pytest.approx(0.3)
    assert (beta_cdf(0, 2, 3), beta_cdf(1, 2, 3)) == (0, 1)
    assert beta_quantile(0.25, 1, 1) == pytest.approx(0.25)


def test_bounds_of_clopper_and_pearson():
    assert upper_bound(299, 0, 0.05) == pytest.approx(1 - 0.05 ** (1 / 299))
    assert lower_bound(100, 0, 0.05) == 0.0
    assert lower_bound(100, 100, 0.05) == pytest.approx(0.05 ** (1 / 100))
    assert tail(200, 7, upper_bound(200, 7, 0.05)) == pytest.approx(0.05, rel=1e-6)
    assert 1 - tail(200, 6, lower_bound(200, 7, 0.05)) == pytest.approx(0.05, rel=1e-6)
    assert upper_bound(3, 3, 0.05) == 1.0


@pytest.mark.parametrize(("over", "needed"), [(0, 299), (1, 473), (2, 628)])
def test_how_many_requests_certify_the_99th_percentile(over, needed):
    assert shows_below(needed, over, 0.01, 0.05)
    assert not shows_below(needed - 1, over, 0.01, 0.05)


def test_a_share_that_is_too_high_is_shown():
    assert shows_above(100, 5, 0.01, 0.05)
    assert not shows_above(100, 3, 0.01, 0.05)
    assert not shows_above(100, 0, 0.01, 0.05)
    assert not shows_below(5, 5, 0.5, 0.05)
