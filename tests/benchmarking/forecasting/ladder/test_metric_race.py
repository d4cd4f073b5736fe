"""How a race for what jobs report stands: curves first, then the leader against whoever may still be better."""

import dataclasses

import pytest

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.ladder.metric_race import metric_curve, metric_race
from benchmarking.forecasting.ladder.race_status import RaceDecision, RaceSettings
from benchmarking.forecasting.model.billing import Billing

LADDER = (0.01, 0.03, 0.1)
SETTINGS = RaceSettings(ladder=LADDER, objectives=("loss",), repeats=2, billing=Billing("us-east-1"))


def climbed(name, a, b, levels=LADDER[:2], status="completed"):
    """Return canaries of a loss a + b x^-0.5."""
    return [Canary(name, x, total_s=10.0, status=status, about={"loss": a + b * x**-0.5}) for x in levels]


def stands(*groups, mode="min", dropped=()):
    return metric_race({one[0].configuration: one for one in groups}, dropped, SETTINGS, mode)


def test_every_configuration_gets_a_curve_first():
    found = stands(climbed("a", 0.2, 0.02), climbed("b", 0.3, 0.02, LADDER[:1]))
    assert (found.decision, found.next) == (RaceDecision.OPEN, ("b", 0.03, 0))


def test_a_lead_that_no_law_makes_up_is_decided_either_way_round():
    far = climbed("a", 0.2, 0.01, LADDER), climbed("b", 2.0, 0.02, LADDER)
    assert (stands(*far).decision, stands(*far).winner) == (RaceDecision.DECIDED, "a")
    rising = climbed("a", 0.2, -0.01, LADDER), climbed("b", 2.0, -0.02, LADDER)
    assert (stands(*rising, mode="max").decision, stands(*rising, mode="max").winner) == (RaceDecision.DECIDED, "b")


def test_the_leader_or_its_challenger_climbs_and_not_what_is_out():
    found = stands(climbed("a", 0.2, 0.02), climbed("b", 0.2, 0.021), climbed("far", 5.0, 0.02))
    assert found.decision is RaceDecision.OPEN
    assert found.next is not None
    assert found.next[0] in ("a", "b")
    assert found.next[1:] == (0.1, 0)
    assert "far" not in found.tied


def test_where_every_rung_is_run_it_is_not_decided_and_says_who_leads():
    twice = [[*climbed(name, 0.2, b, LADDER), *climbed(name, 0.2, b, LADDER[-1:])] for name, b in (("a", 0.02), ("b", 0.0201))]
    found = stands(*twice)
    assert (found.decision, found.next, found.winner) == (RaceDecision.NOT_DECIDED, None, "a")
    assert "every rung is run" in found.reason


def test_a_run_that_the_money_does_not_suffice_for_is_not_made():
    poor = dataclasses.replace(SETTINGS, most_usd=1e-9)
    near = {name: climbed(name, 0.2, b) for name, b in (("a", 0.02), ("b", 0.021))}
    assert metric_race(near, (), SETTINGS, "min").decision is RaceDecision.OPEN
    found = metric_race(near, (), poor, "min")
    assert (found.decision, found.next) == (RaceDecision.NOT_DECIDED, None)
    assert "do not allow" in found.reason


def test_what_was_dropped_or_reported_nothing_wins_nothing():
    assert stands(climbed("a", 0.2, 0.02), dropped=["a"]).decision is RaceDecision.NOTHING_FITS
    silent = [Canary("a", x, total_s=10.0) for x in LADDER[:2]]
    assert stands(silent).decision is RaceDecision.NOT_DECIDED
    assert metric_curve(silent, "loss") is None
    curve = metric_curve(climbed("a", 1.0, 0.0), "loss")
    assert curve is not None
    assert curve.y == pytest.approx((1.0, 1.0))
