"""Which configuration the forecasts speak for."""

import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.fit import fit_all
from benchmarking.forecasting.model.result import Forecast, Status
from benchmarking.forecasting.recommendation import raced_metric, ranked, recommendation, sureness, usable
from tests.benchmarking.forecasting.canary_tables import canaries


def made(name, median, low, high, status=Status.OK, metric="cost_usd", why="measured"):
    return Forecast(name, metric, median, low, high, low, high, status, why)


CLEAR = [
    made("b", 0.02, 0.018, 0.022),
    made("a", 0.01, 0.009, 0.011),
    made("a", 53.0, 48.0, 60.0, metric="total_s"),
    made("c", 0.03, 0.02, 0.05),
]


def test_what_is_ahead_of_all_is_recommended_with_what_it_takes():
    assert ranked(CLEAR, "cost_usd") == ["a", "b", "c"]
    assert recommendation(CLEAR, "cost_usd", 0.98) == (
        "Use a (98% sure that nothing is better by more than 5%): the full job takes 53 s (48 s to 60 s) and $0.010 ($0.0090 to $0.011); "
        "next best is b, 2 times dearer."
    )


def test_what_is_not_sure_enough_is_not_decided():
    text = recommendation(CLEAR, "cost_usd", 0.7)
    assert text.startswith("Not decided: a looks best (70% sure that nothing is better by more than 5%): the full job takes 53 s")


def test_what_leads_clearly_is_used_though_what_it_takes_is_not_decided():
    found = [made("a", 0.01, 0.001, 0.1, Status.NOT_DECIDED, why="too wide"), made("b", 0.9, 0.8, 1.0)]
    text = recommendation(found, "cost_usd", 1.0)
    assert text.startswith("Use a (100% sure that nothing is better by more than 5%): what its full job takes is not decided (too wide)")
    assert recommendation(found[:1], "cost_usd", 1.0) == "Not decided: of a, what its full job takes is not decided (too wide)."
    assert recommendation(found[1:], "cost_usd", 1.0) == "Use b: the full job takes $0.90 ($0.80 to $1.00)."


def test_what_does_not_fit_is_never_recommended_and_comes_last():
    found = [made("a", 0.01, 0.009, 0.011), made("a", 9e9, 8e9, 1e10, Status.DOES_NOT_FIT, "rss_bytes"), made("b", 0.02, 0.018, 0.022)]
    assert (ranked(found, "cost_usd"), usable(found, "cost_usd")) == (["b", "a"], ["b"])
    assert recommendation(found[:2], "cost_usd", 0.0) == "No recommendation: no configuration fits."
    untold = [made(name, None, None, None, Status.NOT_DECIDED, why="its beginning told nothing") for name in "ab"]
    assert recommendation(untold, "cost_usd", 0.0) == "No recommendation: nothing was forecast; its beginning told nothing."
    assert recommendation([], "cost_usd", 0.0) == "No recommendation: nothing was forecast."


def test_how_sure_it_is():
    groups = {name: canaries(name, full_s=full_s) for name, full_s in (("a", 1000.0), ("b", 1010.0), ("c", 4000.0))}
    fitted, question = fit_all(groups, 1.0), Question(Billing("us-east-1"))
    assert sureness(fitted, question, "total_s", ["a", "c"]) > 0.99
    assert sureness(fitted, question, "total_s", ["c", "a"]) < 0.01
    assert 0.4 < sureness(fitted, question, "total_s", ["a", "b"]) < 0.9
    assert sureness(fitted, question, "total_s", ["a"]) == 1.0


def test_of_what_mostly_starts_up_nothing_is_sure():
    runs = [Canary("a", f, n, total_s=60 + 10 * f) for n, f in enumerate((0.01, 0.03, 0.1))]
    others = [Canary("b", f, n, total_s=600 + 1000 * f) for n, f in enumerate((0.01, 0.03, 0.1))]
    fitted = fit_all({"a": runs, "b": others}, 1.0)
    assert sureness(fitted, Question(Billing("us-east-1")), "total_s", ["a", "b"]) == 0.0


@pytest.mark.parametrize(
    ("objectives", "metrics", "metric"),
    [
        ({"loss": "min"}, ("cost_usd", "total_s"), "cost_usd"),
        ({"duration_s": "min", "cost_usd": "min"}, ("cost_usd", "total_s"), "total_s"),
        ({"cost_usd": "min"}, ("total_s",), "total_s"),
        ({"cost_usd": "max", "loss": "min"}, ("cpu_s",), "cpu_s"),
        ({"peak_rss_bytes": "min"}, ("rss_bytes", "total_s"), "rss_bytes"),
        ({"loss": "min"}, (), "total_s"),
    ],
)
def test_what_they_are_ordered_by(objectives, metrics, metric):
    assert raced_metric(objectives, [made("a", 1.0, 0.9, 1.1, metric=name) for name in metrics]) == metric
