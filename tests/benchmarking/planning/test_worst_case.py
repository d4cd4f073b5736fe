"""The worst case of an experiment, from the bounds of single jobs that the loop keeps to."""

import pytest

from benchmarking.planning.job_builder import JobBuilder
from benchmarking.planning.worst_case import Plan, least_usd, worst_case
from definitions.schema import Budget
from definitions.trial import TrialSpec
from tests.benchmarking.experiments import definition

TYPES = {"instance_type": {"choice": ["ml.m5.xlarge", "ml.c5.xlarge"]}, "instance_count": {"choice": [1, 2]}}
M5, C5 = 0.23, 0.204


def plan(planned=None, workers=2, upper_s=lambda trial: None, backend="sagemaker", **changes):
    made = definition(**{"space": TYPES, "budget": Budget(max_run=1080.0), **changes})
    return Plan(made, backend, JobBuilder(made, backend, "p", region="us-east-1"), planned, workers, upper_s)


def jobs(*types):
    return [TrialSpec({"instance_type": name, "instance_count": 1}) for name in types]


def test_a_job_may_take_its_run_its_grace_and_its_transfers():
    found = worst_case(plan(jobs("ml.m5.xlarge", "ml.m5.xlarge", "ml.c5.xlarge")))
    assert found.longest_s == 2 * (1080 + 120 + 600)
    assert found.usd == found.limit_usd == pytest.approx((2 * M5 + C5) / 2)
    assert (found.forecast, found.jobs) == (0, 3)


def test_it_counts_what_a_job_falls_back_to_as_the_loop_does():
    block = {"image": "i", "fallback_instance_types": ["ml.p3.2xlarge"]}
    asked = plan(jobs("ml.m5.xlarge"), sagemaker=block)
    dearest = asked.jobs.worst_usd(*jobs("ml.m5.xlarge"))
    assert dearest == pytest.approx(asked.jobs.price({"instance_type": "ml.p3.2xlarge"})[0] / 2)
    assert worst_case(asked).usd == dearest
    assert least_usd(asked) == (dearest, 1800.0)


def test_a_forecast_bounds_what_its_job_may_take_and_the_limit_is_said_beside_it():
    upper = {"ml.m5.xlarge": 360.0, "ml.c5.xlarge": 99999.0}
    found = worst_case(plan(jobs("ml.m5.xlarge", "ml.c5.xlarge"), upper_s=lambda trial: upper[trial.configuration["instance_type"]]))
    assert found.usd == pytest.approx(M5 / 10 + C5 / 2)
    assert found.limit_usd == pytest.approx((M5 + C5) / 2)
    assert (found.longest_s, found.forecast) == (1800.0, 2)


def test_where_only_some_of_the_planned_may_run_they_are_the_dearest_and_longest():
    found = worst_case(plan(jobs("ml.c5.xlarge", "ml.m5.xlarge", "ml.c5.xlarge"), budget=Budget(max_run=1080.0, max_num_trials=1)))
    assert (found.usd, found.longest_s, found.jobs) == (pytest.approx(M5 / 2), 1800.0, 1)


def test_jobs_that_are_not_known_are_as_dear_as_any_may_be():
    found = worst_case(plan(budget=Budget(max_run=1080.0, max_num_trials=3)))
    assert found.usd == pytest.approx(3 * 2 * M5 / 2)
    assert found.longest_s == 2 * 1800
    assert least_usd(plan()) == (pytest.approx(C5 / 2), 1800.0)


def test_limits_of_time_and_money_cap_it():
    endless = worst_case(plan())
    assert (endless.longest_s, endless.usd, endless.jobs) == (None, None, None)
    timed = worst_case(plan(budget=Budget(max_run=1080.0, max_wallclock_time=1800.0)))
    assert (timed.longest_s, timed.usd) == (1800.0, pytest.approx(2 * (1800 + 1800) / 3600 * 2 * M5))
    assert worst_case(plan(budget=Budget(max_run=1080.0, max_wallclock_time=1800.0, max_cost=0.5))).usd == 0.5


def test_an_unknown_price_is_unknown():
    unknown = plan(jobs("ml.m5.xlarge", "ml.zz9.large"), space={"instance_type": {"choice": ["ml.m5.xlarge", "ml.zz9.large"]}})
    assert not unknown.priced
    found = worst_case(unknown)
    assert (found.usd, found.limit_usd, found.longest_s) == (None, None, 1800.0)


def test_jobs_without_a_limit_of_time_have_no_worst_case_but_that_of_the_experiment():
    local = {"backend": "local", "space": {"instance_type": {"choice": ["local.1cpu"]}}}
    each = plan(jobs("local.1cpu", "local.1cpu"), budget=Budget(), **local)
    assert (worst_case(each).longest_s, worst_case(each).usd, worst_case(each).jobs) == (None, None, 2)
    any_of = worst_case(plan(budget=Budget(max_num_trials=3), **local))
    assert (any_of.longest_s, any_of.usd, any_of.jobs) == (None, None, 3)
    timed = worst_case(plan(budget=Budget(max_wallclock_time=3595.0), **local))
    assert (timed.longest_s, timed.usd) == (3595.0, pytest.approx(2 * 0.05))


def test_a_forecast_tells_the_worst_case_of_a_job_whose_time_has_no_limit():
    local = {"backend": "local", "space": {"instance_type": {"choice": ["local.1cpu"]}}, "budget": Budget()}
    found = worst_case(plan(jobs("local.1cpu"), upper_s=lambda trial: 1800.0, **local))
    assert (found.longest_s, found.usd, found.limit_usd) == (1800.0, pytest.approx(0.025), None)
