"""What a race takes its configurations to be, and when the next run is known."""

import pytest

from benchmarking.controller.method import Evaluation
from benchmarking.methods.registry import build_method
from tests.benchmarking.experiments import definition

FIDELITY = {"kind": "per_job", "argument": "fraction", "ladder": [0.1, 0.3], "full": 1.0}


def race(objectives=None, changes=None, usual="", **arguments):
    given = {"space": {"x": {"choice": [0, 1]}}, "objectives": objectives or {"cost_usd": "min"}, "fidelity": FIDELITY}
    return build_method(
        "RACE",
        definition(**(given | (changes or {}))),
        0,
        {"stretch_s": 0, "prefix": False, **arguments},
        instance_type=usual,
        region="us-east-1",
    )


def pending(method, configuration, level=0.1):
    evaluation = Evaluation(0, configuration, level)
    method.on_trial_add(evaluation)
    ((run,),) = method.pending.values()
    return run


@pytest.mark.parametrize(
    ("changes", "configuration", "instance"),
    [
        ({}, {"x": 0}, ("other.1cpu", 1)),
        ({"space": {"x": 0, "instance_count": {"choice": [2, 4]}}}, {"x": 0, "instance_count": 4}, ("other.1cpu", 4)),
        ({"arguments": {"instance_count": 3, "instance_type": "ml.a"}}, {"x": 1}, ("ml.a", 3)),
        ({"space": {"instance_type": {"choice": ["ml.a", "ml.b"]}}}, {"instance_type": "ml.b"}, ("ml.b", 1)),
    ],
)
def test_a_canary_knows_what_it_runs_on(changes, configuration, instance):
    run = pending(race(changes=changes, usual="other.1cpu"), configuration)
    assert (run.instance_type, run.instance_count) == instance


def test_what_nobody_says_has_no_price():
    assert pending(race(), {"x": 0}).instance_type == ""


@pytest.mark.parametrize(
    ("objectives", "raced"),
    [
        ({"cost_usd": "min"}, ("cost_usd",)),
        ({"loss": "min", "billable_s": "min"}, ("duration_s",)),
        ({"duration_s": "min", "billable_s": "min", "cost_usd": "min"}, ("duration_s", "cost_usd")),
        ({"cost_usd": "max", "duration_s": "min"}, ("duration_s",)),
    ],
)
def test_what_it_races_for(objectives, raced):
    assert race(objectives).settings.objectives == raced


def test_its_settings_are_its_arguments():
    def settings(**arguments):
        found = race(**arguments).settings
        return found.confidence, found.tolerance, found.repeats, found.most_usd, found.full_runs, found.width, found.ladder

    assert settings() == (0.9, 0.05, 3, None, 4.0, None, (0.1, 0.3))
    given = {"confidence": 0.8, "tolerance": 0.1, "repeats": 2, "budget_usd": 5.0, "full_runs": 7.0, "width": 0.2, "ladder": [0.2, 0.5]}
    assert settings(**given) == (0.8, 0.1, 2, 5.0, 7.0, 0.2, (0.2, 0.5))


def test_all_run_at_once_at_the_lowest_rung_and_the_next_one_waits_for_them():
    method = race()
    runs = []
    for number in range(2):
        assert method.ready()
        suggestion = method.suggest()
        runs.append((suggestion.configuration["x"], suggestion.level, suggestion.repeat))
        method.on_trial_add(Evaluation(number, suggestion.configuration, suggestion.level, suggestion.repeat))
    assert runs == [(0, 0.1, 0), (1, 0.1, 0)]
    assert not method.ready()
    method.on_trial_error(Evaluation(0, {"x": 0}, 0.1, 0))
    assert not method.ready()
    method.on_trial_error(Evaluation(1, {"x": 1}, 0.1, 0))
    assert method.ready()
    assert method.suggest() is None
    assert method.conclude()[0] is False


def test_the_plan_holds_every_run_that_it_may_come_to():
    plan = race(repeats=2).plan()
    assert [(one.configuration["x"], one.level, one.repeat) for one in plan] == [
        (x, level, repeat) for level in (0.1, 0.3) for repeat in (0, 1) for x in (0, 1)
    ]
    full = race(repeats=2, run_winner=True).plan()
    assert (full[-1].level, full[-1].configuration) == (1.0, full[0].configuration)
