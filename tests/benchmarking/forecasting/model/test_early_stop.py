"""How many steps a job does that may stop early: a law of counts, between what it has done and what it may do."""

import numpy as np
import pytest

from benchmarking.forecasting.data.canary import CanaryTable
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.early_stop import count_draws, found_counts, share_of_rest
from benchmarking.forecasting.model.result import Status
from tests.benchmarking.forecasting.canary_tables import metric
from tests.benchmarking.forecasting.prefix_runs import prefix, small


def quantiles(counts):
    return np.quantile(count_draws(counts, 20_000, np.random.default_rng(0)), (0.05, 0.5, 0.95))


def test_counts_that_do_not_go_with_the_data_stay_and_are_less_sure_the_farther_it_is():
    low, middle, high = quantiles([(0.01, 120), (0.01, 130), (0.03, 125)])
    assert middle == pytest.approx(125, rel=0.04)
    # Scatter of 0.11 (the usual 0.15, and 0.03 seen), of the slope likewise, 4.2 away on the log scale: 0.48, with four degrees of freedom.
    assert high / middle == pytest.approx(2.8, rel=0.08)
    assert middle / low == pytest.approx(2.8, rel=0.08)
    near = quantiles([(0.3, 120), (0.3, 130), (0.6, 125)])
    assert near[2] / near[1] < 1.6


def test_counts_that_go_with_the_data_go_on_but_less_than_they_did():
    *_, middle, high = quantiles([(0.01, 100), (0.01, 100), (0.1, 200), (0.1, 200)])
    # n^0.30 as measured would be 400; the prior takes some of it back.
    assert 300 < middle < 400
    assert high > 500


def test_counts_that_differ_by_chance_widen_the_law():
    alike, apart = quantiles([(0.1, 100), (0.1, 102)]), quantiles([(0.1, 50), (0.1, 200)])
    assert apart[2] / apart[1] > 2 * alike[2] / alike[1]
    assert count_draws([], 10, np.random.default_rng(0)) is None


def test_a_job_does_what_is_between_done_and_at_most():
    rng = np.random.default_rng(0)
    share = share_of_rest(100.0, 500.0, [(0.5, 300), (0.5, 300), (0.25, 300)], 4000, rng)
    assert np.median(share) == pytest.approx(0.5, abs=0.02)
    assert (share.min(), share.max()) == (0.0, 1.0)
    assert share_of_rest(100.0, 500.0, [], 5, rng).tolist() == [1.0] * 5
    assert share_of_rest(500.0, 500.0, [(0.5, 300)], 2, rng).tolist() == [1.0, 1.0]


def said(*runs):
    return metric(forecast(CanaryTable(runs), Question(Billing("us-east-1"))), "total_s", "c")


def test_the_full_job_is_forecast_by_its_own_steps_and_the_counts_of_small_jobs():
    # 1000 steps of 0.1 s at most; small jobs stopped after 400.
    begun = prefix([0.1] * 60, None, at_most=1000.0)
    runs = [small(f, [0.002] * count, stopped=True, repeat=k) for f, count, k in ((0.1, 400, 0), (0.1, 410, 1), (0.3, 390, 0))]
    assert found_counts(runs) == [(0.1, 400.0), (0.1, 410.0), (0.3, 390.0)]
    found = said(begun, *runs)
    assert found.median == pytest.approx(42.0, rel=0.07)
    assert found.lo90 < 42.0 < found.hi90 < 102.0
    assert "as small jobs did after 390 to 410 steps" in found.why
    assert found.status is not Status.NOT_DECIDED


def test_without_a_small_job_that_stopped_nothing_is_decided_and_the_figure_is_that_of_all_steps():
    found = said(prefix([0.1] * 60, None, at_most=1000.0), small(0.01, [0.1] * 10))
    assert found.status is Status.NOT_DECIDED
    assert "it may stop early: total_s is of all the 1000 steps that it may do" in found.why
    assert found.median == pytest.approx(102.0, rel=0.03)
