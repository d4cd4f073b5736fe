"""Dollars of a million requests, as an objective of a trial."""

from __future__ import annotations

import pytest

from benchmarking.controller.rows import TrialState, usd_per_million
from definitions.parts import is_money, is_timed
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec


def trial(*rates, cost_usd=2.0, billable_s=100.0, usage=None):
    made = TrialState(0, 0, TrialSpec({}))
    for rung, rate in enumerate(rates, 1):
        made.take({"rung": rung, "max_rate_per_s": rate}, [("max_rate_per_s", "max")])
    made.cost_usd, made.billable_s, made.usage = cost_usd, billable_s, usage or {}
    return made.value_of("usd_per_million")


def test_it_is_the_price_of_a_second_over_the_requests_in_it():
    # 0.02 dollars a second at 40 requests a second.
    assert trial(40.0) == pytest.approx(500.0)
    # ml.g4dn.2xlarge in eu-north-1 of 0.94 dollars an hour at 142 requests a second.
    assert usd_per_million(0.94, 3600.0, 142.0) == pytest.approx(1.839, abs=1e-3)


def test_the_last_rung_counts_as_it_is_the_largest_rate_that_is_known_to_pass():
    assert trial(20.0, 32.0, 40.0) == pytest.approx(500.0)


def test_nothing_is_made_up_where_a_number_is_not_known():
    assert trial() is None
    assert trial(40.0, cost_usd=None) is None
    assert trial(40.0, billable_s=0.0) is None
    assert trial(0.0) is None  # no rate passed, so that no number of dollars buys a million
    assert trial(float("nan")) is None


def test_what_was_measured_earlier_has_its_dollars_of_then():
    assert trial(40.0, cost_usd=0.0, billable_s=0.0, usage={"reused": {"from": "t", "cost_usd": 1.0, "billable_s": 100.0}}) == 250.0


def test_a_load_has_to_report_its_rate_and_runs_alone():
    found = BenchmarkDefinition(name="a", script="a.py", space={"x": 1}, objectives={"usd_per_million": "min"})
    assert not found.is_silent
    assert found.is_exclusive
    assert is_money("usd_per_million")
    assert is_timed("usd_per_million")
