"""What a forecast says of its grounds."""

import dataclasses

import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.grounds import measured_runs, remarks, why_nothing, width_text
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.fit import fit_all
from tests.benchmarking.forecasting.canary_tables import canaries

QUESTION = Question(Billing("us-east-1"))


def fitted(runs):
    return fit_all({"job": runs}, 1.0)["job"]


def test_runs_are_counted_by_fraction():
    item = fitted([*canaries(), Canary("job", 0.1, 9, status="failed")])
    assert measured_runs(item, "total_s") == "5 runs at 0.01 x2, 0.03 x2, 0.1, 1 not completed and not used"
    assert measured_runs(fitted(canaries(ladder={0.03: 1, 0.01: 3})), "train_s") == "4 runs at 0.01 x3, 0.03"


@pytest.mark.parametrize("metric", ["rss_bytes", "gpu_bytes", "cpu_util", "gpu_util", "cpu_s"])
def test_of_what_is_sampled_the_runs_that_have_it_count(metric):
    runs = canaries()
    runs[0] = dataclasses.replace(runs[0], **{metric: 1.0})
    assert measured_runs(fitted(runs), metric) == "1 runs at 0.01"


def test_how_time_grows_is_said_and_where_timers_were_missing():
    (growth,) = remarks(fitted(canaries()), "total_s")
    assert growth == "grows as n^1.00 (+-0.02)"
    bare = remarks(fitted(canaries(timed=False)), "cost_usd")
    assert bare[1:] == ["from totals: no phase timers, which would narrow it"]
    assert remarks(fitted(canaries()), "cpu_s") == []
    assert remarks(fitted(canaries()), "rss_bytes") == []


def test_a_fit_phase_of_milliseconds_may_change():
    short = remarks(fitted(canaries(full_s=0.5)), "train_s")
    assert short[1:] == ["its fit phase is so short at the largest canary that this may change beyond it"]
    assert len(remarks(fitted(canaries(full_s=5.0)), "train_s")) == 1  # 0.5 s, a drift of 0.08


def test_utilisation_without_a_timer_of_start_up_is_a_mean():
    assert remarks(fitted(canaries(timed=False, cpu_util=80.0)), "cpu_util") == ["mean of the largest runs; start-up was not timed"]
    assert remarks(fitted(canaries(cpu_util=80.0)), "cpu_util") == []


def test_why_there_is_no_forecast():
    dead = fitted([Canary("job", 0.1, status="failed"), Canary("job", 0.1, 1, status="out_of_memory")])
    assert why_nothing(dead, "total_s", QUESTION) == "no completed run (failed, out_of_memory)"
    unknown = fitted(canaries(instance_type="ml.zz9.xlarge"))
    assert why_nothing(unknown, "cost_usd", QUESTION) == "the price of ml.zz9.xlarge in us-east-1 is unknown; give --price TYPE=USD"
    spot = Question(Billing("us-east-1", spot=True))
    assert why_nothing(fitted(canaries()), "cost_usd", spot).startswith("the spot price of the instance type in us-east-1")
    assert why_nothing(unknown, "gpu_bytes", QUESTION) == "gpu_bytes was not measured in all that is needed"


def test_widths_are_points_of_a_scale_or_a_factor():
    assert width_text(60.0, 85.0, 100.0) == "the 80 % interval is 25 points wide"
    assert width_text(0.6, 0.85, 1.0) == "the 80 % interval is 25 points wide"
    assert width_text(50.0, 120.0, None) == "the 80 % interval spans a factor of 2.40"
    assert width_text(0.0, 120.0, None) == "the 80 % interval reaches zero"
