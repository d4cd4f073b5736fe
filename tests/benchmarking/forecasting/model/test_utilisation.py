"""Mean utilisation of the full job: start-up and steady state by their shares of the time."""

import numpy as np
import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.utilisation import utilisation_draws


def runs(scale=1.0, timed=True):
    """Runs of 20 s of start-up at 10 % and fitting at 90 %."""
    found = []
    for number, fraction in enumerate((0.01, 0.03, 0.1)):
        train_s = 1000 * fraction
        share = train_s / (20 + train_s)
        found.append(Canary("job", fraction, number, startup_s=20.0 if timed else None, total_s=20 + train_s,
                            cpu_util=scale * (0.1 * (1 - share) + 0.9 * share)))  # fmt: skip
    return found


def draws(canaries, steady_share=1.0):
    return utilisation_draws(canaries, "cpu_util", steady_share, 4000, np.random.default_rng(0))


def test_percent_and_shares_give_the_same_but_for_the_unit():
    assert draws(runs(100.0)) / 100 == pytest.approx(draws(runs()))


def test_the_share_of_start_up_counts():
    # The prior holds the two levels together, 10 and 90 %: neither is taken as far out as it is.
    assert 0.83 < np.median(draws(runs())) < 0.9
    assert 0.1 < np.median(draws(runs(), 0.0)) < 0.3
    assert np.median(draws(runs(), 0.5)) == pytest.approx((np.median(draws(runs())) + np.median(draws(runs(), 0.0))) / 2, abs=0.02)


def test_the_spread_is_the_noise_of_a_run_and_what_is_not_known_of_the_levels():
    # The line misses the runs by a few points, as the prior pulls at it: more than 2 % of the scale, the least a run's noise counts as.
    low, high = np.quantile(draws(runs()), (0.16, 0.84))
    assert 0.02 < (high - low) / 2 < 0.06


def test_without_a_timer_the_mean_of_the_largest_runs_counts():
    assert np.median(draws(runs(timed=False))) == pytest.approx((0.1 * 20 + 0.9 * 100) / 120, abs=0.01)
    assert utilisation_draws(runs(), "gpu_util", 1.0, 10, np.random.default_rng(0)) is None
