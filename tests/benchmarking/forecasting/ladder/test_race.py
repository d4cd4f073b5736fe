"""The race's decisions, each from made-up canaries."""

import dataclasses
import math

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.ladder.race import race_status
from benchmarking.forecasting.ladder.race_status import COST, TIME, RaceDecision, RaceSettings
from benchmarking.forecasting.model.billing import Billing
from tests.benchmarking.forecasting.canary_tables import canaries

SETTINGS = RaceSettings(objectives=(TIME,), billing=Billing("us-east-1"))


def race(full_s, settings=SETTINGS, noise=0.02, exponent=1.0, **known):
    groups = {name: [] for name in full_s}
    while (found := race_status(groups, (), settings)).next is not None:
        name, level, repeat = found.next
        seed = f"{level}-{repeat}"
        (run,) = canaries(name, {level: 1}, full_s=full_s[name], noise=noise, seed=seed, exponent=exponent, **known.get(name, {}))
        groups[name].append(run.__class__(**{**run.__dict__, "repeat": repeat}))
    return found, groups


def test_all_run_at_the_lowest_rung_first():
    groups = {"a": canaries("a", {0.01: 1}), "b": []}
    assert race_status(groups, (), SETTINGS).next == ("b", 0.01, 0)


def test_a_clear_winner_is_found_and_never_at_the_lowest_rung_alone():
    found, groups = race({"slow": 2000.0, "fast": 1000.0, "slower": 3000.0, "slowest": 4000.0})
    assert (found.decision, found.winner) == (RaceDecision.DECIDED, "fast")
    assert max(one.fraction for one in groups["fast"]) > 0.01
    assert sum(max(one.fraction for one in group) > 0.01 for group in groups.values()) == 3
    assert len(groups["slowest"]) == 1


def test_alike_ones_are_tied_or_left_open_and_never_spent_on_without_end():
    found, groups = race({"a": 1000.0, "b": 1005.0})
    assert found.decision is not RaceDecision.OPEN
    assert set(found.tied) <= {"a", "b"}
    assert sum(map(len, groups.values())) <= 2 * 9


def test_a_leader_that_is_known_well_enough_ends_the_race_whoever_leads():
    full_s = {"a": 1000.0, "b": 1040.0, "c": 1060.0, "d": 5000.0}
    settings = RaceSettings(objectives=(TIME,), tolerance=0.0, confidence=0.999, full_runs=1e6, billing=Billing("us-east-1"))
    found, groups = race(full_s, settings)
    goal = dataclasses.replace(settings, width=0.3)
    narrow, fewer = race(full_s, goal)
    assert narrow.decision is RaceDecision.NARROW
    assert narrow.confidence < 0.999
    assert "is known to within" in narrow.reason
    assert sum(map(len, fewer.values())) < sum(map(len, groups.values()))
    assert found.decision is not RaceDecision.NARROW


def test_narrow_enough_never_rests_on_the_lowest_rung():
    _, groups = race(
        {"a": 1000.0, "b": 1001.0, "c": 1002.0, "d": 1003.0}, RaceSettings(objectives=(TIME,), width=50.0, billing=Billing("us-east-1"))
    )
    assert sum(max(one.fraction for one in group) > 0.01 for group in groups.values()) == 3


def test_money_that_does_not_suffice_is_not_decided():
    found, _ = race({"a": 1000.0, "b": 1300.0}, RaceSettings(objectives=(TIME,), most_usd=80.0, billing=Billing("us-east-1")))
    assert found.decision is RaceDecision.NOT_DECIDED
    assert "do not allow" in found.reason


def test_failed_configurations_are_out():
    groups = {"a": canaries("a", {0.01: 1}), "b": canaries("b", {0.01: 1})}
    assert race_status(groups, ("a", "b"), SETTINGS).decision is RaceDecision.NOTHING_FITS
    assert race_status(groups, ("a",), SETTINGS).winner == "b"


def test_what_does_not_fit_in_memory_is_out_however_fast_it_is():
    big = {0.01: 1, 0.03: 1, 0.1: 1}
    groups = {
        "fast": canaries("fast", big, full_s=100.0, rss=lambda f: 1e9 + 30e9 * f, instance_type="ml.m5.large"),
        "slow": canaries("slow", big, full_s=1000.0, rss=lambda f: 1e9 + 1e9 * f, instance_type="ml.m5.large"),
    }
    assert race_status(groups, (), SETTINGS).winner == "slow"


def test_cost_counts_the_price_of_the_instance():
    cheap = {"dear": {"instance_type": "ml.m5.12xlarge"}, "cheap": {"instance_type": "ml.m5.large"}}
    found, _ = race({"dear": 1000.0, "cheap": 4000.0}, RaceSettings(objectives=(COST,), billing=Billing("us-east-1")), **cheap)
    assert found.winner == "cheap"


def test_a_pareto_set_keeps_the_fast_and_the_cheap():
    types = {
        "dear": {"instance_type": "ml.m5.12xlarge"},
        "cheap": {"instance_type": "ml.m5.large"},
        "bad": {"instance_type": "ml.m5.12xlarge"},
    }
    found, _ = race(
        {"dear": 1000.0, "cheap": 4000.0, "bad": 6000.0}, RaceSettings(objectives=(COST, TIME), billing=Billing("us-east-1")), **types
    )
    assert found.decision is RaceDecision.DECIDED
    assert set(found.tied) == {"dear", "cheap"}


def test_rank_reversal_is_seen_through_when_start_up_hides_the_work():
    # At 1 % the one with the long start-up looks worse; in full it is the faster.
    groups = {
        "late": canaries("late", {0.01: 2, 0.03: 2, 0.1: 1}, startup_s=200.0, full_s=5000.0),
        "early": canaries("early", {0.01: 2, 0.03: 2, 0.1: 1}, startup_s=20.0, full_s=9000.0),
    }
    assert groups["late"][0].total_s > groups["early"][0].total_s
    found = race_status(groups, (), SETTINGS)
    assert found.winner == "late"
    assert math.isclose(found.confidence, 1.0, abs_tol=0.05)


def test_alike_ones_are_tied_and_the_cheaper_to_run_wins():
    full = {0.01: 3, 0.03: 3, 0.1: 3, 0.3: 3}
    groups = {
        "dear": canaries("dear", full, full_s=1000.0, noise=0.002, instance_type="ml.m5.12xlarge"),
        "cheap": canaries("cheap", full, full_s=1004.0, noise=0.002, instance_type="ml.m5.large"),
        "slow": canaries("slow", full, full_s=3000.0, noise=0.002, instance_type="ml.m5.large"),
    }
    found = race_status(groups, (), dataclasses.replace(SETTINGS, tolerance=0.3))
    assert (found.decision, found.winner, found.tied) == (RaceDecision.TIED, "cheap", ("cheap", "dear"))
    assert found.reason == "alike within 30%; the cheaper to run wins"


def test_a_front_that_is_known_well_enough_ends_the_race():
    runs = {0.01: 2, 0.03: 2, 0.1: 1}
    groups = {
        "dear": canaries("dear", runs, full_s=1000.0, instance_type="ml.m5.12xlarge"),
        "cheap": canaries("cheap", runs, full_s=1040.0, instance_type="ml.m5.12xlarge"),
    }
    settings = RaceSettings(objectives=(COST, TIME), confidence=0.999, tolerance=0.0, width=0.5, billing=Billing("us-east-1"))
    found = race_status(groups, (), settings)
    assert (found.decision, found.next) == (RaceDecision.NARROW, None)
    assert found.reason.startswith("each of the front is known to within ")
    assert race_status(groups, (), dataclasses.replace(settings, width=0.001)).decision is not RaceDecision.NARROW


def test_money_that_suffices_leaves_the_next_run_as_it_is():
    groups = {name: canaries(name, {0.01: 1}, full_s=full_s) for name, full_s in (("a", 1000.0), ("b", 1300.0))}
    free = race_status(groups, (), SETTINGS)
    assert free.next is not None
    assert race_status(groups, (), dataclasses.replace(SETTINGS, most_usd=1e9)) == free


def test_a_race_of_start_up_is_never_decided():
    # 5 s of start-up that nobody timed, and at 10 % of the data 0.5 s of work: who starts up faster does not win.
    def runs(name, startup_s, work_s):
        ladder = enumerate((0.01, 0.01, 0.03, 0.1))
        return [Canary(name, f, n, total_s=startup_s + work_s * f, instance_type="ml.m5.large") for n, f in ladder]

    groups = {"quick to start": runs("quick to start", 4.0, 60.0), "quick to work": runs("quick to work", 8.0, 5.0)}
    settings = dataclasses.replace(SETTINGS, ladder=(0.01, 0.03, 0.1), repeats=1, first=1)
    found = race_status(groups, (), settings)
    assert found.decision in (RaceDecision.OPEN, RaceDecision.NOT_DECIDED)
    every_rung = {name: [*group, *(dataclasses.replace(one, repeat=9) for one in group)] for name, group in groups.items()}
    told = race_status(every_rung, (), dataclasses.replace(settings, repeats=1))
    assert told.decision is RaceDecision.NOT_DECIDED
    assert "start-up hides how" in told.reason


def test_a_race_of_one_rung_is_decided_there():
    settings = dataclasses.replace(SETTINGS, ladder=(0.1,), repeats=2)
    found, groups = race({"slow": 2000.0, "fast": 1000.0}, settings)
    assert found.winner == "fast"
    assert {one.fraction for group in groups.values() for one in group} == {0.1}


def test_of_two_objectives_the_least_certain_that_has_a_run_left_is_run_next():
    settings = RaceSettings(objectives=(COST, TIME), billing=Billing("us-east-1"))
    types = {"dear": "ml.m5.12xlarge", "cheap": "ml.m5.large", "bad": "ml.m5.12xlarge"}
    full_s = {"dear": 1000.0, "cheap": 4000.0, "bad": 1100.0}

    def status(levels):
        groups = {name: canaries(name, levels, full_s=full_s[name], noise=0.05, instance_type=kind) for name, kind in types.items()}
        return race_status(groups, (), settings)

    # That a cheap one is beaten by neither of two dear ones is certain; which of these is beaten is not.
    found = status({0.01: 3, 0.03: 3})
    assert (found.decision, found.next, found.reason) == (RaceDecision.OPEN, ("dear", 0.1, 0), "is dear beaten?")
    last = status({0.01: 3, 0.03: 3, 0.1: 3, 0.3: 3})
    assert (last.decision, last.next, last.reason) == (RaceDecision.NOT_DECIDED, None, "every rung is run")


def test_what_the_table_refuses_to_forecast_wins_nothing():
    # As it was measured on a busy machine: of `lucky` the small run met more load than the large one, so that its time falls as the data
    # grows; its full job is the dearest of all.
    runs = {
        "lucky": ((0.05, 8.20, 2.52, 4.23), (0.15, 3.87, 0.66, 2.83)),
        "other": ((0.05, 4.54, 0.87, 3.40), (0.15, 8.95, 0.84, 7.28)),
        "slow": ((0.05, 7.46, 1.33, 5.58), (0.15, 11.44, 0.61, 10.51)),
    }
    groups = {
        name: [
            Canary(name, x, total_s=total, startup_s=startup, train_s=train, instance_type="local.1cpu")
            for x, total, startup, train in each
        ]
        for name, each in runs.items()
    }
    settings = dataclasses.replace(SETTINGS, ladder=(0.05, 0.15), repeats=1)
    found = race_status(groups, (), settings)
    assert found.confidence > 0.9
    assert (found.decision, found.winner) == (RaceDecision.NOT_DECIDED, "lucky")
    assert "falls as the data grows" in found.reason
    # With runs left it goes on and does not stop to save.
    assert race_status(groups, (), dataclasses.replace(settings, repeats=2)).next is not None
    # But for that one alone, and not for ever.
    groups["lucky"].append(dataclasses.replace(groups["lucky"][-1], repeat=1))
    again = race_status(groups, (), dataclasses.replace(settings, repeats=3))
    assert (again.next, again.winner) == (None, "lucky")
