"""Forecasts of an objective, and when curves cross."""

import pytest

from benchmarking.forecasting.metric.curve import MetricCurve
from benchmarking.forecasting.metric.forecast import metric_forecasts
from benchmarking.forecasting.model.result import Status

LEVELS = (0.01, 0.03, 0.1, 0.3)


def curve(a, b, c=0.5):
    return MetricCurve(LEVELS, tuple(a + b * x**-c for x in LEVELS))


def test_the_best_at_the_full_level_is_named_with_its_value():
    found, verdict = metric_forecasts({"x=2": curve(0.3, 0.02), "x=1": curve(0.1, 0.02)}, "loss", "min", 1.0)
    assert [one.configuration for one in found] == ["x=1", "x=2"]
    assert found[0].median == pytest.approx(0.12, abs=0.01)
    assert (verdict.best, verdict.is_decided) == ("x=1", True)
    assert verdict.text.startswith("Best (")


def test_curves_that_cross_decide_nothing():
    small, large = curve(0.3, 0.001), curve(0.1, 0.13)
    assert small.last < large.last
    found, verdict = metric_forecasts({"small": small, "large": large}, "loss", "min", 1.0)
    assert found[0].configuration == "large"
    assert not verdict.is_decided
    assert verdict.text.startswith("Not decided: curves cross. small is best so far")


def test_more_may_be_better():
    found, verdict = metric_forecasts({"x=1": curve(0.9, -0.02), "x=2": curve(0.7, -0.02)}, "accuracy", "max", 1.0)
    assert (found[0].configuration, verdict.best, verdict.is_decided) == ("x=1", "x=1", True)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (MetricCurve((0.1, 0.1), (0.5, 0.6)), "measured at one level only"),
        (MetricCurve((0.01, 0.1), (0.5, 0.6)), "gets worse with more"),
    ],
)
def test_what_tells_nothing_is_not_decided(one, why):
    (made,), _ = metric_forecasts({"x": one}, "loss", "min", 1.0)
    assert made.status is Status.NOT_DECIDED
    assert why in made.why


def test_what_was_measured_at_the_full_level_is_known():
    (made,), verdict = metric_forecasts({"x": MetricCurve((0.1, 1.0), (0.5, 0.25))}, "loss", "min", 1.0)
    assert (made.median, made.status, verdict.is_decided) == (0.25, Status.OK, True)
