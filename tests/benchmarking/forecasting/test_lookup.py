"""Forecasts at work: what fits not is refused, full jobs get limits, and canaries are left alone."""

import dataclasses

import pytest

from benchmarking.forecasting.lookup import ForecastLookup, forecast_text, latest_forecasts, lookup_from
from benchmarking.forecasting.model.result import Forecast, Status
from benchmarking.planning.feasibility import refusal
from benchmarking.planning.job_builder import JobBuilder
from definitions.configuration import configuration_id
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec
from tests.benchmarking.forecasting.canary_tables import canaries

GIB = 1024**3
BIG, SMALL = ({"instance_type": "ml.m5.large", "x": x} for x in (1, 2))


def forecasts():
    groups = [
        canaries("big", rss=lambda f: GIB + 40 * GIB * f, instance_type="ml.m5.large", about={"configuration_id": configuration_id(BIG)}),
        canaries("small", rss=lambda f: GIB + GIB * f, instance_type="ml.m5.large", about={"configuration_id": configuration_id(SMALL)}),
    ]
    return lookup_from([one for group in groups for one in group], "results/t/b/CANARY-local-0", region="us-east-1")


def asked(**changes):
    given = {"name": "b", "script": "s.py", "space": {"x": {"choice": [1, 2]}}, "objectives": {"loss": "min"}}
    return BenchmarkDefinition(**given, fidelity={"kind": "per_job", "argument": "fraction"}, **changes)


def test_what_does_not_fit_is_refused_before_a_method_spends_on_it_but_its_canaries_are_not():
    refuse = refusal(asked(), "local", lambda instance_type: 1, forecasts().problem)
    assert "does not fit" in refuse(TrialSpec(BIG))
    assert "GiB" in refuse(TrialSpec(BIG))
    assert refuse(TrialSpec(SMALL)) is None
    assert refuse(TrialSpec(BIG, 0.01)) is None


def test_the_forecasts_bound_limits_a_full_job_unless_the_definition_says_otherwise():
    found = forecasts()
    bound = found.longest_s(TrialSpec(SMALL))
    total = found.of(SMALL, "total_s")
    assert bound == max(3 * total.median, total.hi90) + 120
    job = JobBuilder(asked(), "local", "p", longest_s=found.longest_s, region="us-east-1")
    assert job.build(0, 1, TrialSpec(SMALL), None).limits.max_run_s == bound
    assert job.worst_case_s(TrialSpec(SMALL)) == bound + 5.0
    assert job.worst_case_s(TrialSpec(SMALL, 0.01)) is None
    own = JobBuilder(asked(budget={"max_run": 99.0}), "local", "p", longest_s=found.longest_s, region="us-east-1")
    assert own.worst_case_s(TrialSpec(SMALL)) == 104.0


def test_a_job_of_a_second_is_not_ended_as_its_machine_is_busy():
    # The shortest job of all: no factor of its forecast leaves it the time in which Python starts on a machine with a load of 30.
    least = Forecast("toy", "total_s", 0.4, 0.3, 0.5, 0.3, 0.6, Status.WIDE, "")
    found = ForecastLookup((least,), {configuration_id(SMALL): "toy"})
    assert found.upper_s(TrialSpec(SMALL)) == 0.6
    assert found.longest_s(TrialSpec(SMALL)) == pytest.approx(121.2)
    # Of one of an hour the factor is what counts.
    hour = ForecastLookup((dataclasses.replace(least, median=3600.0, hi90=4000.0),), found.names)
    assert hour.longest_s(TrialSpec(SMALL)) == pytest.approx(10920.0)


def test_a_forecast_that_is_not_decided_limits_nothing():
    runs = [dataclasses.replace(one, about={"configuration_id": configuration_id(SMALL)}) for one in canaries("small", {0.01: 1})]
    assert lookup_from(runs, "", region="us-east-1").longest_s(TrialSpec(SMALL)) is None


def test_the_table_has_price_time_and_bill_with_intervals():
    text = forecast_text(forecasts())
    assert "small" in text
    assert "$0.12" in text
    assert " to " in text
    assert "does not fit" in text
    assert forecast_text(ForecastLookup()) == ""


def test_no_results_are_no_forecasts(tmp_path):
    assert latest_forecasts(asked(), tmp_path / "nowhere", "local", region="us-east-1") == ForecastLookup()
    assert latest_forecasts(asked(), tmp_path, "local", region="us-east-1") == ForecastLookup()
