"""What drives the width of a forecast, and what one more run would buy."""

import math

import pytest

from benchmarking.forecasting import Canary, Question
from benchmarking.forecasting.explain import candidate_runs, explain, gain_per_cost, variance_shares
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.fit import fit_all
from tests.benchmarking.forecasting.canary_tables import canaries

QUESTION = Question(draws=800, billing=Billing("us-east-1", prices={"t": 3600.0}))
RUNS = {"job": canaries(instance_type="t", startup_s=200.0)}


def test_shares_of_the_variance_add_up():
    shares = variance_shares(fit_all(RUNS, 1.0)["job"], QUESTION)
    assert set(shares) == {"noise of the runs", "growth of startup", "growth of train"}
    assert math.fsum(shares.values()) == pytest.approx(1.0)
    assert min(shares.values()) > 0
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_one_more_run_is_priced_and_the_best_width_per_dollar_comes_first():
    found = candidate_runs(RUNS, "job", QUESTION)
    assert sorted(run.fraction for run in found) == pytest.approx([0.01, 0.1, 1 / 3])
    assert [run.is_repeat for run in sorted(found, key=lambda run: run.fraction)] == [True, True, False]
    largest = max(found, key=lambda run: run.fraction)
    # A third of 1000 s and start-up, at a dollar a second.
    assert largest.usd == pytest.approx(largest.seconds)
    assert largest.seconds == pytest.approx(200 + 1000 / 3, rel=0.05)
    assert largest.after < largest.before
    assert [gain_per_cost(run) for run in found] == sorted((gain_per_cost(run) for run in found), reverse=True)


def test_words_name_the_timer_that_is_missing():
    text = "\n".join(explain({"job": canaries(timed=False)}, "job", QUESTION))
    assert "the width of its time comes from" in text
    assert "a timer around the fit phase" in text
    assert "price unknown" in text


def test_a_timer_that_is_there_is_not_asked_for_and_nothing_measured_is_said():
    assert "a timer around the fit phase" not in "\n".join(explain(RUNS, "job", QUESTION))
    nothing = {"job": [Canary("job", 0.1, rss_bytes=1.0)]}
    assert candidate_runs(nothing, "job", QUESTION) == []
    assert explain(nothing, "job", QUESTION) == ["job: no time was measured, so nothing can be said of its width"]
