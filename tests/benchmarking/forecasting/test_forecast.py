"""Forecasts: medians and intervals where the evidence carries them, and the right refusal where it does not."""

import dataclasses
import math
import time

import pytest

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.calibration import Calibration, score
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.result import METRICS, Status
from tests.benchmarking.forecasting.canary_tables import canaries, metric, table

GIB = 1024**3


def test_phases_are_extrapolated_each_by_its_own_law():
    found = forecast(table(canaries(instance_type="ml.m5.large", cpu_util=80.0)), Question(Billing("us-east-1")))
    total = metric(found, "total_s")
    assert total.status is Status.OK
    assert total.median == pytest.approx(1020, rel=0.08)
    assert total.lo90 < total.lo80 < total.median < total.hi80 < total.hi90
    assert metric(found, "train_s").median == pytest.approx(1000, rel=0.08)
    assert metric(found, "cost_usd").median == pytest.approx(total.median / 3600 * 0.115, rel=0.01)
    assert metric(found, "cpu_util").median == pytest.approx(80, abs=3)
    assert {one.metric for one in found} <= set(METRICS)


def test_timed_phases_beat_totals_and_the_forecast_says_what_is_missing():
    timed = metric(forecast(table(canaries(startup_s=60.0)), Question(Billing("us-east-1"))), "total_s")
    bare = metric(forecast(table(canaries(startup_s=60.0, timed=False)), Question(Billing("us-east-1"))), "total_s")
    assert math.log(bare.hi80 / bare.lo80) > 1.25 * math.log(timed.hi80 / timed.lo80)
    assert "no phase timers" in bare.why
    assert "no phase timers" not in timed.why


def test_start_up_is_constant_and_loading_goes_with_bytes():
    runs = [
        dataclasses.replace(one, load_s=200 * one.fraction, bytes=1e9 * one.fraction, total_s=one.total_s + 200 * one.fraction)
        for one in canaries(startup_s=100.0, noise=0.01)
    ]
    assert metric(forecast(table(runs), Question(Billing("us-east-1"))), "total_s").median == pytest.approx(1300, rel=0.05)


def test_rows_count_and_not_the_nominal_fraction():
    # The shards are uneven: what was called 3 % had 5 % of the rows.
    real = {0.01: 0.01, 0.03: 0.05, 0.1: 0.1}
    runs = [
        dataclasses.replace(one, rows=1e6 * real[one.fraction], train_s=1000 * real[one.fraction], total_s=20 + 1000 * real[one.fraction])
        for one in canaries(noise=0.0)
    ]
    named = [dataclasses.replace(one, rows=None) for one in runs]
    by_rows, by_name = (
        metric(forecast(table(runs), Question(Billing("us-east-1"))), "train_s"),
        metric(forecast(table(named), Question(Billing("us-east-1"))), "train_s"),
    )
    assert abs(math.log(by_rows.hi80 / by_rows.lo80)) < abs(math.log(by_name.hi80 / by_name.lo80))


def test_a_known_family_needs_no_high_rung():
    ladder = {0.01: 2, 0.03: 2}
    unknown = metric(forecast(table(canaries(ladder=ladder, exponent=2.0, full_s=40_000.0)), Question(Billing("us-east-1"))), "train_s")
    known = metric(
        forecast(table(canaries(ladder=ladder, exponent=2.0, full_s=40_000.0, family="kernel")), Question(Billing("us-east-1"))), "train_s"
    )
    assert known.lo90 < 40_000 < known.hi90
    assert math.log(known.hi80 / known.lo80) <= math.log(unknown.hi80 / unknown.lo80)


def test_steps_that_go_with_the_data_make_the_growth_known():
    runs = [dataclasses.replace(one, steps=round(1e5 * one.fraction)) for one in canaries(ladder={0.01: 2, 0.03: 2}, noise=0.05)]
    bare = [dataclasses.replace(one, steps=None) for one in runs]
    with_steps, without = (
        metric(forecast(table(runs), Question(Billing("us-east-1"))), "train_s"),
        metric(forecast(table(bare), Question(Billing("us-east-1"))), "train_s"),
    )
    assert math.log(with_steps.hi80 / with_steps.lo80) < math.log(without.hi80 / without.lo80)
    assert with_steps.median == pytest.approx(1000, rel=0.15)


def test_memory_that_does_not_fit_is_said_of_the_whole_configuration():
    big = canaries("big", rss=lambda f: 1 * GIB + 20 * GIB * f, instance_type="ml.m5.large")
    small = canaries("small", rss=lambda f: 1 * GIB + 2 * GIB * f, instance_type="ml.m5.large")
    found = forecast(table(big, small), Question(Billing("us-east-1")))
    assert metric(found, "rss_bytes", "big").status is Status.DOES_NOT_FIT
    assert metric(found, "total_s", "big").status is Status.DOES_NOT_FIT
    assert metric(found, "rss_bytes", "small").status is Status.WIDE
    assert metric(found, "rss_bytes", "small").median == pytest.approx(3 * GIB, rel=0.05)


def test_running_out_of_memory_is_a_fact():
    runs = canaries(instance_type="ml.m5.large")
    dead = Canary("job", 0.1, 0, status="out_of_memory", instance_type="ml.m5.large")
    found = forecast(table(runs[:-1], [dead]), Question(Billing("us-east-1")))
    assert metric(found, "total_s").status is Status.DOES_NOT_FIT
    assert "ran out of memory at fraction 0.1" in metric(found, "total_s").why


def test_gpu_memory_does_not_grow_with_the_data():
    found = forecast(table(canaries(gpu_bytes=9.0 * GIB, instance_type="ml.g4dn.xlarge")), Question(Billing("us-east-1")))
    memory = metric(found, "gpu_bytes")
    assert memory.status is Status.OK
    assert memory.median == pytest.approx(9 * GIB, rel=0.02)
    assert memory.hi90 < 10 * GIB


def test_utilisation_stays_within_its_scale():
    found = metric(forecast(table(canaries(gpu_util=99.0)), Question(Billing("us-east-1"))), "gpu_util")
    assert found.hi90 <= 100
    share = metric(forecast(table(canaries(gpu_util=0.9)), Question(Billing("us-east-1"))), "gpu_util")
    assert share.median == pytest.approx(0.9, abs=0.05)
    assert share.hi90 <= 1


def test_start_up_that_was_not_timed_is_said_of_processor_utilisation():
    timed, bare = (
        metric(forecast(table(canaries(cpu_util=80.0, timed=timed)), Question(Billing("us-east-1"))), "cpu_util").why
        for timed in (True, False)
    )
    assert "start-up was not timed" not in timed
    assert "start-up was not timed" in bare
    assert "start-up" not in metric(forecast(table(canaries(gpu_util=80.0, timed=False)), Question(Billing("us-east-1"))), "gpu_util").why


def test_utilisation_of_the_full_job_has_less_of_start_up_in_it():
    runs = [dataclasses.replace(one, cpu_util=(10 * one.startup_s + 90 * one.train_s) / one.total_s) for one in canaries(noise=0.01)]
    assert metric(forecast(table(runs), Question(Billing("us-east-1"))), "cpu_util").median == pytest.approx(88, abs=4)


def test_an_unknown_price_is_unknown_and_never_zero():
    found = forecast(table(canaries(instance_type="ml.zz9.xlarge")), Question(Billing("us-east-1")))
    cost = metric(found, "cost_usd")
    assert (cost.median, cost.status) == (None, Status.NOT_DECIDED)
    assert "ml.zz9.xlarge" in cost.why
    priced = forecast(table(canaries(instance_type="ml.zz9.xlarge")), Question(billing=Billing("us-east-1", prices={"ml.zz9.xlarge": 3.6})))
    assert metric(priced, "cost_usd").median == pytest.approx(1.02, rel=0.06)


def test_billing_rounds_up_counts_instances_and_bills_start_up():
    billing = Billing("us-east-1", prices={"t": 3.6}, unit_s=60.0, startup_s=120.0)
    runs = canaries(noise=0.0, instance_type="t", instance_count=4)
    cost = metric(forecast(table(runs), Question(billing=billing)), "cost_usd").median
    total = metric(forecast(table(runs), Question(Billing("us-east-1"))), "total_s").median
    assert cost == pytest.approx(math.ceil((total + 120) / 60) * 60 / 1000 * 4, rel=0.06)


def test_billed_time_has_a_row_where_bills_differ_from_the_time():
    # The bills of the canaries were 90 s longer than their runs: instance start and image.
    runs = [dataclasses.replace(one, about={"billable_s": one.total_s + 90.0}) for one in canaries(instance_type="ml.m5.large")]
    found = forecast(table(runs), Question(Billing("us-east-1")))
    billed, total = metric(found, "billable_s"), metric(found, "total_s")
    assert billed.median == pytest.approx(total.median + 90, rel=0.01)
    assert billed.status is total.status
    assert metric(found, "cost_usd").median == pytest.approx(billed.median / 3600 * 0.115, rel=0.01)
    assert not [
        one for one in forecast(table(canaries(instance_type="ml.m5.large")), Question(Billing("us-east-1"))) if one.metric == "billable_s"
    ]
    told = forecast(table(canaries(instance_type="ml.m5.large")), Question(billing=Billing("us-east-1", startup_s=60.0)))
    assert metric(told, "billable_s").median == pytest.approx(total.median + 60, rel=0.01)


def test_a_spot_price_is_known_only_where_it_is_given():
    runs = table(canaries(instance_type="ml.m5.large"))
    assert metric(forecast(runs, Question(billing=Billing("us-east-1", spot=True))), "cost_usd").median is None
    assert (
        metric(forecast(runs, Question(billing=Billing("us-east-1", spot=True, prices={"ml.m5.large": 0.04}))), "cost_usd").median
        is not None
    )


# What the evidence cannot carry.


def test_one_fraction_is_not_decided():
    total = metric(forecast(table(canaries(ladder={0.02: 3})), Question(Billing("us-east-1"))), "total_s")
    assert total.status is Status.NOT_DECIDED
    assert "one fraction only" in total.why


def test_a_single_row_is_not_decided_and_has_no_narrow_interval():
    total = metric(forecast(table(canaries(ladder={0.05: 1})), Question(Billing("us-east-1"))), "total_s")
    assert total.status is Status.NOT_DECIDED
    assert total.hi90 / total.lo90 > 1.5


def test_equal_repeats_do_not_make_a_forecast_certain():
    runs = [Canary("job", f, r, startup_s=20.0, train_s=1000 * f, total_s=20 + 1000 * f) for f in (0.01, 0.03, 0.1) for r in range(3)]
    total = metric(forecast(table(runs), Question(Billing("us-east-1"))), "total_s")
    assert total.median == pytest.approx(1020, rel=0.03)
    assert total.hi80 / total.lo80 > 1.02


def test_times_that_fall_are_not_decided():
    runs = [Canary("job", f, 0, total_s=t) for f, t in ((0.01, 300.0), (0.02, 200.0), (0.03, 150.0), (0.1, 60.0))]
    total = metric(forecast(table(runs), Question(Billing("us-east-1"))), "total_s")
    assert total.status is Status.NOT_DECIDED
    assert "falls as the data grows" in total.why


def test_a_fit_phase_that_hardly_worked_is_refused():
    runs = canaries(full_s=0.5, startup_s=5.0, noise=0.02)
    total = metric(forecast(table(runs), Question(Billing("us-east-1"))), "train_s")
    assert total.status is Status.NOT_DECIDED
    assert "too short" in total.why
    named = forecast(table(canaries(full_s=0.5, startup_s=5.0, noise=0.02, family="epochs")), Question(Billing("us-east-1")))
    assert metric(named, "total_s").status is Status.NOT_DECIDED
    assert "too short" in metric(named, "train_s").why


def test_milliseconds_of_fitting_say_less_of_growth_than_seconds_do():
    # 50 ms at the largest canary stay within the caches; 50 s do not.
    short, long = (
        metric(forecast(table(canaries(full_s=s, noise=0.02, family="linear")), Question(Billing("us-east-1"))), "train_s")
        for s in (0.5, 500.0)
    )
    assert math.log(short.hi90 / short.lo90) > 2 * math.log(long.hi90 / long.lo90)
    assert "may change beyond it" in short.why
    assert "may change beyond it" not in long.why


def loaded(factors):
    """Return canaries of a linear job of 100 s on a machine whose load makes the wall time longer by these factors."""
    runs = canaries(full_s=100.0, startup_s=10.0, noise=0.01, family="linear")
    return [
        dataclasses.replace(
            one,
            startup_s=one.startup_s * factor,
            train_s=one.train_s * factor,
            total_s=one.total_s * factor,
            cpu_s=one.total_s,
            about={"startup_cpu_s": one.startup_s, "train_cpu_s": one.train_s},
        )
        for one, factor in zip(runs, factors, strict=True)
    ]


def test_one_run_slowed_by_others_is_not_taken_for_growth():
    # The only run at 10 % was slowed by 1.7: by wall time alone that looks like the growth of the work.
    total = metric(forecast(table(loaded([1.0, 1.05, 1.0, 1.1, 1.7])), Question(Billing("us-east-1"))), "total_s")
    assert total.median == pytest.approx(110 * 1.15, rel=0.12)
    assert total.lo90 < 110 < total.hi90
    assert "load" in total.why
    alone = [dataclasses.replace(one, cpu_s=None, about={}) for one in loaded([1.0, 1.05, 1.0, 1.1, 1.7])]
    assert metric(forecast(table(alone), Question(Billing("us-east-1"))), "total_s").median > total.median


def test_a_quiet_machine_needs_no_load():
    total = metric(forecast(table(loaded([1.0, 1.01, 1.0, 1.01, 1.02])), Question(Billing("us-east-1"))), "total_s")
    assert "load" not in total.why
    assert total.median == pytest.approx(110, rel=0.06)


def test_several_threads_are_not_taken_for_load():
    runs = [
        dataclasses.replace(one, cpu_s=4 * one.cpu_s, about={name: 4 * value for name, value in one.about.items()})
        for one in loaded([1.0, 1.3, 1.0, 1.2, 1.4])
    ]
    assert "load" not in metric(forecast(table(runs), Question(Billing("us-east-1"))), "total_s").why


def test_a_phase_that_does_not_grow_yet_is_refused():
    runs = [Canary("job", f, r, startup_s=20.0, train_s=30 + 10 * f, total_s=50 + 10 * f) for f in (0.01, 0.03, 0.1) for r in range(2)]
    found = metric(forecast(table(runs), Question(Billing("us-east-1"))), "train_s")
    assert found.status is Status.NOT_DECIDED
    assert "hardly grows" in found.why


def test_a_full_job_very_far_away_is_refused():
    total = metric(forecast(table(canaries(ladder={0.001: 3, 0.002: 2}, full_s=1e5)), Question(Billing("us-east-1"))), "total_s")
    assert total.status is Status.NOT_DECIDED
    assert "500 times" in total.why


@pytest.mark.parametrize("status", ["stopped", "failed", "interrupted"])
def test_runs_that_were_not_completed_do_not_enter_the_fit(status):
    runs = canaries()
    wrong = Canary("job", 0.1, 5, startup_s=0.5, train_s=0.5, total_s=1.0, status=status)
    clean, with_wrong = (metric(forecast(table(group), Question(Billing("us-east-1"))), "total_s") for group in (runs, [*runs, wrong]))
    assert with_wrong.median == clean.median
    assert "1 not completed and not used" in with_wrong.why


def test_a_run_without_one_phase_does_not_cost_the_phases_of_all():
    runs = canaries(ladder={0.01: 2, 0.03: 2, 0.1: 2})
    whole = metric(forecast(table(runs), Question(Billing("us-east-1"))), "total_s")
    lacking = metric(forecast(table([dataclasses.replace(runs[0], train_s=None), *runs[1:]]), Question(Billing("us-east-1"))), "total_s")
    assert "no phase timers" not in lacking.why
    assert lacking.median == pytest.approx(whole.median, rel=0.1)


def test_nothing_completed_is_not_decided():
    (only,) = forecast(CanaryTable((Canary("job", 0.1, total_s=None, status="failed"),)), Question(Billing("us-east-1")))
    assert (only.metric, only.median, only.status) == ("total_s", None, Status.NOT_DECIDED)
    assert "no completed run (failed)" in only.why


def test_full_runs_among_the_canaries_are_believed():
    runs = canaries(ladder={0.1: 1, 1.0: 2}, noise=0.01)
    total = metric(forecast(table(runs), Question(Billing("us-east-1"))), "total_s")
    assert total.status is Status.OK
    assert total.median == pytest.approx(1020, rel=0.03)


def test_forecasts_are_repeatable():
    runs = table(canaries())
    assert forecast(runs, Question(Billing("us-east-1"))) == forecast(runs, Question(Billing("us-east-1")))


def test_a_thousand_configurations_are_forecast_together():
    groups = [canaries(f"c{k}", seed=k, full_s=100.0 + k) for k in range(1000)]
    began = time.process_time()
    found = forecast(table(*groups), Question(Billing("us-east-1"), draws=500))
    assert len({one.configuration for one in found}) == 1000
    assert metric(found, "train_s", "c900").median == pytest.approx(1000, rel=0.1)
    assert time.process_time() - began < 60


# Calibration.


def test_calibration_says_whether_it_is_and_widens_what_was_too_narrow():
    runs = table(canaries())
    total = metric(forecast(runs, Question(Billing("us-east-1"))), "total_s")
    assert score(total, total.hi90) == pytest.approx(1.0)
    assert score(total, total.median) == pytest.approx(0.0)
    few = metric(forecast(runs, Question(Billing("us-east-1"), calibration=Calibration({"total_s": [0.5] * 5}))), "total_s")
    assert few.hi90 == total.hi90
    assert "not calibrated: 5 of 20" in few.why
    many = metric(forecast(runs, Question(Billing("us-east-1"), calibration=Calibration({"total_s": [0.5] * 15 + [2.0] * 10}))), "total_s")
    assert many.hi90 / many.median == pytest.approx((total.hi90 / total.median) ** 2, rel=1e-6)
    assert "calibrated on 25 finished jobs" in many.why
