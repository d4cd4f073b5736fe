"""How max_cost of a launched run is divided: controllers first, trials the rest; and what is refused."""

from __future__ import annotations

import dataclasses

import pytest

from backends.sagemaker.controllers.options import ControllerOptions
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.remote.launch_record import LaunchRecord, RunMoney, SentPackage
from benchmarking.studies.record import PlannedExperiment, StudyFlags, StudyRecord
from definitions.errors import UserError
from definitions.registry import Registry
from definitions.resolve import resolve
from launch.launching.money import controllers_usd, divided, limited_specs, set_aside_again, trials_are_billed, with_rest, words
from launch.planning import Planned

OPTIONS = ControllerOptions("role", "image", "ml.m5.large", count=2, max_run_s=7200.0, generations=3)
HOUR_USD = 0.115
"""Of ml.m5.large in us-east-1."""


def split(max_cost, usd, *, billed=True):
    return divided(max_cost, usd, billed=billed, about="launch", instance_type="ml.m5.large")


def planned(tmp_path, *, limit, shares=(None, None), before=None, backend="sagemaker", dealt="equal"):
    definition = resolve(Registry().find("digits"), backend, ())
    specs = tuple(
        ExperimentSpec(definition, "RS", 7, "t", tmp_path, {}, number, hears_levels=False, repeats=1) for number in range(len(shares))
    )
    experiments = tuple(
        PlannedExperiment("digits", "RS", number, 7, "h", hears_levels=False, repeats=1, share_usd=share)
        for number, share in enumerate(shares)
    )
    return Planned(specs, StudyRecord(StudyFlags(backend, max_cost=limit, shares=dealt), {"digits": ""}, experiments), before)


@pytest.mark.parametrize(
    ("longest_s", "hours"),
    # The study's time and a start of 300 s for each of 3 generations; no more than all generations can last.
    [(3600.0, 1.25), (0.0, 0.25), (20_700.0, 6.0), (1e9, 6.0), (None, 6.0)],
)
def test_controllers_cost_at_most_their_price_over_the_longest_time(longest_s, hours):
    assert controllers_usd(OPTIONS, "us-east-1", longest_s) == pytest.approx(2 * HOUR_USD * hours)


@pytest.mark.parametrize(
    ("longest_s", "serial_s", "hours"),
    # Two controllers, three starts of 300 s each: 0.5 h; they share 2 h of experiments, however many at once each may run.
    [(7200.0, 7200.0, 2.5), (1800.0, 7200.0, 1.5), (7200.0, None, 4.5), (1e9, 1e9, 12.0)],
)
def test_controllers_that_share_experiments_are_at_work_no_longer_than_these_one_after_the_other(longest_s, serial_s, hours):
    assert controllers_usd(OPTIONS, "us-east-1", longest_s, serial_s) == pytest.approx(HOUR_USD * hours)


def test_the_cost_of_an_instance_without_a_price_is_unknown_which_no_cap_covers():
    unpriced = dataclasses.replace(OPTIONS, instance_type="ml.none.large")
    assert controllers_usd(unpriced, "us-east-1", 60.0) is None
    assert split(None, None) == RunMoney(None, None, None)
    with pytest.raises(UserError, match=r"the price of controllers on ml\.m5\.large is unknown"):
        split(5.0, None)


def test_controllers_come_first_and_trials_have_the_rest():
    assert split(5.0, 1.5) == RunMoney(5.0, 1.5, 3.5)
    assert words(split(5.0, 1.5)) == "max_cost $5.00: $1.50 for controllers, $3.50 for trials"


def test_without_a_cap_their_cost_is_noted_alone():
    assert split(None, 1.5) == RunMoney(None, 1.5, None)


def test_trials_inside_a_controller_have_the_whole_limit_as_they_cost_nothing_beside_it():
    assert [trials_are_billed(name) for name in ("sagemaker", "local", "simulated")] == [True, False, False]
    assert split(5.0, 5.0, billed=False) == RunMoney(5.0, 5.0, 5.0)
    assert words(split(5.0, 1.5, billed=False)) == "max_cost $5.00: $1.50 for controllers, trials run within them"


@pytest.mark.parametrize(("cap", "billed"), [(1.23456, True), (1.0, True), (1.2345, False)])
def test_a_cap_too_small_is_refused_with_the_figure_and_what_to_give(cap, billed):
    with pytest.raises(UserError, match=r"they cost \$1.23 at most\n  give --max_cost 1.2346") as refused:
        split(cap, 1.23456, billed=billed)
    assert ("what trials may cost on top" in str(refused.value)) is billed


def test_experiments_share_the_rest_and_each_has_its_share_as_its_limit(tmp_path):
    found = planned(tmp_path, limit=5.0, shares=(2.5, 2.5))
    study = with_rest(found, found.study, split(5.0, 1.0))
    assert (study.flags.max_cost, [one.share_usd for one in study.experiments]) == (4.0, [2.0, 2.0])
    assert [spec.definition.budget.max_cost for spec in limited_specs(found.specs, study)] == [2.0, 2.0]
    first_come = planned(tmp_path, limit=5.0, dealt="first_come")
    study = with_rest(first_come, first_come.study, split(5.0, 1.0))
    assert (study.flags.max_cost, [one.share_usd for one in study.experiments]) == (4.0, [None, None])


def test_where_nothing_is_taken_away_the_study_stays_as_it_is(tmp_path):
    found = planned(tmp_path, limit=5.0, shares=(2.5, 2.5), backend="local")
    assert with_rest(found, found.study, split(5.0, 1.0, billed=False)) is found.study
    uncapped = planned(tmp_path, limit=None)
    assert with_rest(uncapped, uncapped.study, split(None, 1.0)) is uncapped.study


def record(money):
    return LaunchRecord("t", "n", "", "0.1", SentPackage("k", "h"), controller={"instance_type": "ml.m5.large"}, money=money)


def test_a_cap_that_is_raised_sets_the_same_aside_again(tmp_path):
    before = planned(tmp_path, limit=4.0, shares=(2.0, 2.0)).study
    now, money = set_aside_again(planned(tmp_path, limit=7.0, shares=(3.5, 3.5), before=before), record(RunMoney(5.0, 1.0, 4.0)))
    assert money == RunMoney(7.0, 1.0, 6.0)
    assert (now.study.flags.max_cost, [one.share_usd for one in now.study.experiments]) == (6.0, [3.0, 3.0])
    # The whole is 5.5, of which 1 is set aside: a third experiment would need its own 2.
    more = planned(tmp_path, limit=5.5, shares=(2.0, 2.0, None), before=before)
    with pytest.raises(UserError, match=r"max_cost = \$5.5 for 3 experiments and \$1 beside\n(.*\n)?.*give --max_cost 7 or more"):
        set_aside_again(more, record(RunMoney(5.0, 1.0, 4.0)))


def test_a_resume_without_a_cap_and_one_of_an_older_launch_set_nothing_aside_anew(tmp_path):
    before = planned(tmp_path, limit=4.0, shares=(2.0, 2.0)).study
    same = planned(tmp_path, limit=4.0, shares=(2.0, 2.0), before=before)
    assert set_aside_again(same, record(RunMoney(5.0, 1.0, 4.0))) == (same, RunMoney(5.0, 1.0, 4.0))
    raised = planned(tmp_path, limit=7.0, shares=(3.5, 3.5), before=before)
    assert set_aside_again(raised, record(RunMoney())) == (raised, RunMoney())
