"""Dollars of the first epoch and of each further one, as objectives of a trial."""

from __future__ import annotations

import pytest

from benchmarking.controller.rows import TrialState
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec


def trial(*reports, cost_usd=2.0, billable_s=100.0, usage=None, starts=1):
    made = TrialState(0, 0, TrialSpec({}), starts=starts)
    for metrics in reports:
        made.take(metrics, [])
    made.cost_usd, made.billable_s, made.usage = cost_usd, billable_s, usage or {}
    return made


def costs(made):
    return made.value_of("cost_first_epoch_usd"), made.value_of("cost_per_epoch_usd")


FIRST, SECOND = {"epoch": 1, "epoch_s": 30.0, "list_s": 4.0, "download_s": 6.0}, {"epoch": 2, "epoch_s": 10.0}


def test_they_are_seconds_of_epochs_at_the_price_of_a_second():
    assert costs(trial(FIRST, SECOND, {"loss": 1.0})) == pytest.approx((0.6, 0.2))
    assert costs(trial(FIRST)) == pytest.approx((0.6, 0.4))  # 30 s, of which 10 come once


def test_what_a_platform_downloads_before_the_script_belongs_to_the_first():
    stages = {"stages_s": {"Starting": 60.0, "Downloading": 20.0, "Training": 80.0}}
    assert costs(trial(FIRST, SECOND, usage=stages)) == pytest.approx((1.0, 0.2))
    # A discount is in what was paid: 30 of the 100 seconds are billed.
    assert costs(trial(FIRST, SECOND, usage=stages, cost_usd=0.6, billable_s=30.0)) == pytest.approx((0.3, 0.06))


def test_an_epoch_that_is_run_again_counts_once():
    assert costs(trial(FIRST, {"epoch": 1, "epoch_s": 20.0}, SECOND, starts=2)) == pytest.approx((0.4, 0.2))


def test_without_epochs_or_a_price_there_are_none():
    assert costs(trial({"loss": 1.0})) == (None, None)
    assert costs(trial(FIRST, cost_usd=None)) == (None, None)
    assert costs(trial(FIRST, billable_s=0.0)) == (None, None)


def test_what_was_measured_earlier_has_its_dollars_of_then():
    took = {"from": "t", "cost_usd": 2.0, "cost_first_epoch_usd": 0.7, "cost_per_epoch_usd": 0.3}
    assert costs(trial(FIRST, usage={"reused": took})) == (0.7, 0.3)


def test_a_script_has_to_report_its_epochs_where_they_count():
    given = {"name": "a", "script": "a.py", "space": {"x": 1}}
    assert BenchmarkDefinition(**given, objectives={"cost_usd": "min"}).is_silent
    found = BenchmarkDefinition(**given, objectives={"cost_per_epoch_usd": "min", "cost_usd": "min"})
    assert not found.is_silent
    assert found.is_exclusive
