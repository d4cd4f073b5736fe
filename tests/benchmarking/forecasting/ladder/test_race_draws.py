"""The full jobs that a race compares."""

import dataclasses

import numpy as np
import pytest

from benchmarking.forecasting.data.canary import Canary, CanaryTable
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.ladder.race_draws import fits, half_width, laws_of, objective_draws
from benchmarking.forecasting.ladder.race_status import COST, TIME, RaceSettings
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.result import quantiles
from benchmarking.forecasting.recommendation import raced_metric, ranked
from tests.benchmarking.forecasting.canary_tables import canaries, metric
from tests.benchmarking.forecasting.prefix_runs import prefix, small

GIB = 1024**3
RACED = RaceSettings(objectives=(TIME,), billing=Billing("us-east-1"), prefixes=True)


def test_cost_is_time_and_billed_start_up_at_the_price_of_all_instances():
    settings = RaceSettings(billing=Billing("us-east-1", prices={"t": 3600.0}, startup_s=100.0), draws=500)
    found = objective_draws({"a": canaries("a", instance_type="t", instance_count=2)}, settings, 0)["a"]
    assert len(found[TIME]) == 500
    # Whole seconds are billed.
    assert found[COST] == pytest.approx(np.ceil(found[TIME] + 100) * 2)
    assert np.median(found[TIME]) == pytest.approx(1020, rel=0.05)


def test_the_same_seed_gives_the_same_draws():
    settings, groups = RaceSettings(billing=Billing("us-east-1"), draws=50), {"a": canaries("a")}
    first, again, other = (objective_draws(groups, settings, seed)["a"][TIME].tolist() for seed in (3, 3, 4))
    assert first == again != other


def test_they_are_the_draws_that_the_forecasts_rest_on():
    groups = {name: canaries(name, seed=seed) for name, seed in (("a", 0), ("b", 1))}
    shown = forecast(CanaryTable(tuple(one for group in groups.values() for one in group)), Question(Billing("us-east-1")))
    drawn = objective_draws(groups, RaceSettings(billing=Billing("us-east-1"), draws=Question(Billing("us-east-1")).draws), 0)
    for name in groups:
        assert quantiles(drawn[name][TIME])[0] == metric(shown, "total_s", name).median
        assert quantiles(drawn[name][TIME])[4] == metric(shown, "total_s", name).hi90


def test_a_constant_part_is_added_and_a_run_that_takes_no_time_stays_above_0():
    runs = [dataclasses.replace(one, checkpoint_s=0.00005) for one in canaries("a", noise=0.001)]
    settings = RaceSettings(billing=Billing("us-east-1"), draws=50)
    assert np.median(objective_draws({"a": runs}, settings, 0)["a"][TIME]) == pytest.approx(1020, rel=0.03)
    nothing = [Canary("a", f, total_s=0.00002) for f in (0.01, 0.03)]
    assert objective_draws({"a": nothing}, settings, 0)["a"][TIME].tolist() == [pytest.approx(0.00002)] * 50


def test_processor_time_stands_in_and_without_any_time_there_is_no_law():
    assert laws_of([Canary("a", f, cpu_s=100 * f) for f in (0.01, 0.1)]).main == "total"
    with pytest.raises(ValueError, match=r"^a: no time was measured"):
        laws_of([Canary("a", 0.1, rss_bytes=1.0)])
    with pytest.raises(ValueError, match=r"^a configuration: no time"):
        laws_of([Canary("a", 0.1, total_s=3.0, status="failed")])


def memory(*gib, fractions=(0.01, 0.1, 0.3), instance_type="ml.m5.large"):
    return [Canary("a", f, rss_bytes=g * GIB, total_s=1.0, instance_type=instance_type) for f, g in zip(fractions, gib, strict=False)]


def test_memory_fits_by_its_bound_once_two_rungs_are_measured():
    assert fits(memory(0.5, 0.9, 1.8))  # 5 of 8 GiB
    assert not fits(memory(0.5, 1.4, 3.4))  # 10 of 8 GiB
    assert fits(memory(7.9))
    assert fits(memory(0.5, 1.4, 3.4, instance_type="ml.zz9.xlarge"))
    assert fits(memory(0.5, 1.4, 3.4, instance_type=""))


def test_running_out_of_memory_is_a_fact_whatever_was_measured():
    assert not fits([*memory(0.1, 0.1), Canary("a", 0.3, status="out_of_memory")])


def test_the_half_width_is_a_share_of_the_median():
    assert half_width(np.linspace(50.0, 150.0, 1001)) == pytest.approx(0.4)


def test_on_a_busy_machine_configurations_are_compared_without_what_other_programs_took():
    # `a` needs 0.1 s a step and got a quarter of the processor, `b` needs 0.2 s and had it alone: the wall says the opposite of the truth.
    known = {
        "a": [prefix([0.4] * 60, 1000.0, name="a", cores=0.25, delays=lambda done: 0.01 + 0.3 * done)],
        "b": [prefix([0.2] * 60, 1000.0, name="b", delays=lambda done: 0.01)],
    }
    settings = RaceSettings(billing=Billing("us-east-1"), draws=500)
    drawn = objective_draws(known, settings, 0)
    assert np.median(drawn["a"][TIME]) == pytest.approx(102.0, rel=0.05)
    assert np.median(drawn["b"][TIME]) == pytest.approx(202.0, rel=0.05)
    assert np.median(drawn["b"][COST]) == pytest.approx(2 * np.median(drawn["a"][COST]), rel=0.05)
    # Where one does not know it, all are compared by the wall's clock.
    mixed = objective_draws({**known, "b": [prefix([0.2] * 60, 1000.0, name="b")]}, settings, 0)
    assert np.median(mixed["a"][TIME]) == pytest.approx(402.0, rel=0.1)
    # The recommendation and the table have the same.
    shown = forecast(CanaryTable((*known["a"], *known["b"])), Question(Billing("us-east-1")))
    for objective in ("duration_s", "cost_usd"):
        assert raced_metric({objective: "min"}, shown) == "quiet_s"
    assert ranked(shown, "quiet_s") == ["a", "b"]
    assert metric(shown, "quiet_s", "a").median == pytest.approx(102.0, rel=0.05)
    assert metric(shown, "total_s", "a").median == pytest.approx(402.0, rel=0.1)
    # Where seconds have several prices, money goes before time.
    twice = prefix([0.2] * 60, 1000.0, name="b", instance_type="local.2cpu", delays=lambda done: 0.01)
    shown = forecast(CanaryTable((*known["a"], twice)), Question(Billing("us-east-1")))
    assert raced_metric({"cost_usd": "min"}, shown) == "cost_usd"


def test_what_one_size_leaves_open_after_the_loop_is_no_difference_between_configurations():
    # `a` alone had a small job, 0.4 s of which came after its loop: all start-up, or 40 s of the full job.
    begun = {name: [prefix([step_s] * 60, 1000.0, name=name)] for name, step_s in (("a", 0.1), ("b", 0.13))}
    probed = {**begun, "a": [*begun["a"], small(0.01, [0.1] * 10, after_s=0.4)]}
    before, after = (objective_draws(groups, RACED, 0) for groups in (begun, probed))
    assert float(np.median(after["a"][TIME])) == pytest.approx(float(np.median(before["a"][TIME])), rel=0.01)
    # Once it is known how it grows, it counts for both alike.
    known = {**begun, "a": [*probed["a"], small(0.03, [0.1] * 30, after_s=1.2)]}
    later = objective_draws(known, RACED, 0)
    for name in ("a", "b"):
        assert float(np.median(later[name][TIME] - before[name][TIME])) == pytest.approx(38.0, abs=8.0)
