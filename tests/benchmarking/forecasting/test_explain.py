"""What drives the width of a forecast, and what one more run would buy."""

import math

import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.explain import causes_of, explained_lines, explanations, gain_per_cost
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.fit import fit_all
from tests.benchmarking.forecasting.canary_tables import canaries

QUESTION = Question(draws=800, billing=Billing("us-east-1", prices={"t": 3600.0}))
RUNS = {"job": canaries(instance_type="t", startup_s=200.0)}


def test_shares_of_the_variance_add_up():
    shares = causes_of(fit_all(RUNS, 1.0)["job"], "total_s", QUESTION)
    assert set(shares) == {"noise of the runs", "growth of startup", "growth of train"}
    assert math.fsum(shares.values()) == pytest.approx(1.0)
    assert min(shares.values()) > 0
    assert list(shares.values()) == sorted(shares.values(), reverse=True)


def test_one_more_run_is_priced_and_the_best_width_per_dollar_comes_first():
    found = explanations(RUNS, "job", QUESTION)[0].runs
    assert sorted(run.fraction for run in found) == pytest.approx([0.01, 0.1, 1 / 3])
    assert [run.is_repeat for run in sorted(found, key=lambda run: run.fraction)] == [True, True, False]
    largest = max(found, key=lambda run: run.fraction)
    # A third of 1000 s and start-up, at a dollar a second.
    assert largest.usd == pytest.approx(largest.seconds)
    assert largest.seconds == pytest.approx(200 + 1000 / 3, rel=0.05)
    assert largest.after < largest.before
    assert [gain_per_cost(run) for run in found] == sorted((gain_per_cost(run) for run in found), reverse=True)


def lines(groups, *, timed=True):
    return explained_lines(explanations(groups, "job", QUESTION), "job", timed=timed)


def test_words_name_the_timer_that_is_missing():
    text = "\n".join(lines({"job": canaries(timed=False)}, timed=False))
    assert "the width of its time comes from" in text
    assert "a timer around the fit phase" in text
    assert "price unknown" in text


def test_a_timer_that_is_there_is_not_asked_for_and_nothing_measured_is_said():
    assert "a timer around the fit phase" not in "\n".join(lines(RUNS))
    assert lines({"job": [Canary("job", 0.1)]}) == ["job: nothing was measured, so nothing can be said of its width"]


def test_memory_says_what_must_still_grow_and_what_a_larger_run_buys():
    runs = [
        Canary("job", fraction, total_s=100 * fraction, train_s=100 * fraction, rss_bytes=1e8 + 4e9 * fraction) for fraction in (0.01, 0.03)
    ]
    found = {one.metric: one for one in explanations({"job": runs}, "job", QUESTION)}
    # 0.35 sqrt(ln(1 / 0.03)) of 3.88 GB beside 4 % of 4.1 GB.
    grows = 0.35 * math.sqrt(math.log(1 / 0.03)) * 3.88
    assert found["rss_bytes"].causes["memory that must still grow"] == pytest.approx(grows / (grows + 0.04 * 4.1), rel=1e-3)
    assert found["rss_bytes"].next_run.fraction == pytest.approx(0.1)
    assert found["rss_bytes"].next_run.after < 0.9 * found["rss_bytes"].next_run.before


def test_of_one_fraction_it_is_said_that_nobody_knows_how_memory_grows():
    found = explanations({"job": [Canary("job", 0.1, rss_bytes=1.0)]}, "job", QUESTION)
    assert [(one.metric, one.causes, one.runs) for one in found] == [("rss_bytes", {"memory was measured at one fraction only": 1.0}, ())]


def test_what_has_one_cause_alone_has_it_whole_and_what_was_not_measured_none():
    runs = [
        Canary("job", fraction, total_s=100 * fraction, cpu_util=80.0, gpu_bytes=1e9 + 1e9 * fraction) for fraction in (0.01, 0.03, 0.1)
    ]
    item = fit_all({"job": runs}, 1.0)["job"]
    assert causes_of(item, "gpu_bytes", QUESTION) == {"growth of GPU memory": 1.0}
    assert causes_of(item, "cpu_util", QUESTION) == {"scatter of the runs": 1.0}
    bare = fit_all(RUNS, 1.0)["job"]
    assert [causes_of(bare, metric, QUESTION) for metric in ("gpu_bytes", "rss_bytes", "cpu_s")] == [{}, {}, {}]
