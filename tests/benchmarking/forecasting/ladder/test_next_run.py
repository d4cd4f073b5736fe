"""What runs of a race cost, and which of them is worth most."""

import numpy as np
import pytest

from benchmarking.forecasting.ladder.next_run import best_next_run, runs_at
from benchmarking.forecasting.ladder.race_status import RaceSettings
from benchmarking.forecasting.ladder.run_costs import expected_usd, spent_usd, usd_per_second
from benchmarking.forecasting.model.billing import Billing
from tests.benchmarking.forecasting.canary_tables import canaries

SETTINGS = RaceSettings(billing=Billing("us-east-1", prices={"t": 7200.0}, startup_s=10.0))
"""Two dollars a second and instance, ten seconds billed beside each run."""


def logs(*names, sd=0.1):
    draws = np.random.default_rng(0).normal(0, 1, 1000)
    return {name: draws / draws.std() * sd for name in names}


def test_an_hour_is_3600_seconds_of_all_instances_and_an_unknown_price_counts_seconds():
    (run,) = canaries(ladder={0.01: 1}, instance_type="t", instance_count=3)
    assert usd_per_second(run, SETTINGS) == pytest.approx(6.0)
    (unknown,) = canaries(ladder={0.01: 1}, instance_type="ml.zz9.xlarge")
    assert usd_per_second(unknown, SETTINGS) == 1.0


def test_a_larger_run_costs_its_start_up_and_its_share_of_the_work():
    runs = canaries(ladder={0.01: 1, 0.03: 1}, startup_s=20.0, full_s=1000.0, noise=0.0, instance_type="t")
    assert spent_usd({"job": runs}, SETTINGS) == pytest.approx(2 * (20 + 10 + 10 + 20 + 30 + 10))
    assert expected_usd(runs, 0.1, SETTINGS) == pytest.approx(2 * (20 + 100 + 10))


def test_the_dearer_run_must_tell_more():
    ladder, free = {0.01: 1, 0.03: 1}, {"startup_s": 0.0, "noise": 0.05}
    groups = {
        "dear": canaries("dear", ladder, instance_type="dear", **free),
        "cheap": canaries("cheap", ladder, instance_type="cheap", **free),
    }
    settings = RaceSettings(billing=Billing("us-east-1", prices={"dear": 100.0, "cheap": 1.0}))
    assert best_next_run(groups, ("dear", "cheap"), logs("dear", "cheap"), settings, 0)[0] == "cheap"


def test_a_rung_is_climbed_or_the_highest_repeated_until_all_are_run():
    settings = RaceSettings(ladder=(0.01, 0.03), repeats=2, billing=Billing("us-east-1"))
    low = {"job": canaries(ladder={0.01: 2})}
    assert best_next_run(low, ("job",), logs("job"), settings, 0) == ("job", 0.03, 0)
    top = {"job": canaries(ladder={0.01: 1, 0.03: 1})}
    assert best_next_run(top, ("job",), logs("job"), settings, 0) == ("job", 0.03, 1)
    full = {"job": canaries(ladder={0.01: 1, 0.03: 2})}
    assert best_next_run(full, ("job",), logs("job"), settings, 0) is None
    assert runs_at(full["job"], 0.03) == 2


def test_what_counts_is_the_variance_that_a_run_takes_away_and_not_what_there_is():
    # At 3 % one is expected to stay at a variance of 0.049, at 10 % the other to fall to 0.014 for less than three times the price.
    groups = {"vague": canaries("vague", {0.01: 1}), "clear": canaries("clear", {0.01: 2, 0.03: 1}, noise=0.01)}
    settings = RaceSettings(repeats=1, billing=Billing("us-east-1"))
    assert best_next_run(groups, ("vague", "clear"), logs("vague", sd=0.225) | logs("clear", sd=0.17), settings, 0) == ("clear", 0.1, 0)
    assert best_next_run(groups, ("vague", "clear"), logs("vague", sd=0.5) | logs("clear", sd=0.17), settings, 0) == ("vague", 0.03, 0)
