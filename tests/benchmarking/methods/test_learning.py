"""What methods make of measurements of earlier experiments."""

from __future__ import annotations

import pytest

from benchmarking.controller.method import Decision, Evaluation, PastEvaluation
from benchmarking.methods.proposals import Proposals
from benchmarking.methods.registry import build_method
from tests.benchmarking.methods.method_experiments import benchmark

FIDELITY = {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 9}


def made(method, objectives=None, **arguments):
    definition = benchmark(fidelity=FIDELITY, objectives=objectives or {"loss": "min"})
    return build_method(method, definition, 0, arguments, region="us-east-1")


def past(*values, upto=9):
    """A past evaluation for each value, which it reported at each level up to the last."""
    found = []
    for number, value in enumerate(values, 1):
        results = [{"epoch": float(epoch), "loss": value} for epoch in range(1, upto + 1)]
        final = {"loss": value} if upto == 9 else None
        found.append(PastEvaluation({"lr": 0.01 * number, "width": number, "act": "relu"}, results, final))
    return found


def arrive(method, number, level=1, **values):
    evaluation = Evaluation(number, {"lr": 0.5, "width": 50 + number % 10, "act": "gelu"})
    if level == 1:
        method.on_trial_add(evaluation)
    return method.on_trial_result(evaluation, {"epoch": level, **values})


@pytest.mark.parametrize(("loss", "decision"), [(0.15, Decision.CONTINUE), (0.25, Decision.STOP)])
def test_the_first_of_asha_is_compared_with_the_past_at_its_rung(loss, decision):
    # With the new one there are four, and one in three goes on: at most one may be better.
    method = made("ASHA")
    method.learn(past(0.1, 0.2, 0.3))
    assert arrive(method, 0, loss=loss) is decision
    assert arrive(made("ASHA"), 0, loss=loss) is Decision.CONTINUE


def test_of_a_past_one_the_highest_rung_that_a_report_passed_knows_it():
    for levels, first in (((2.0, 7.0), Decision.STOP), ((7.0,), Decision.CONTINUE)):
        method = made("ASHA", rungs=[1, 3])
        method.learn([PastEvaluation({"lr": 0.1, "width": 1, "act": "relu"}, [{"epoch": level, "loss": 0.1} for level in levels])])
        assert arrive(method, 0, loss=0.2) is first
        assert arrive(method, 0, 3, loss=0.2) is Decision.STOP


def test_a_searcher_hears_of_the_past_at_the_rungs_of_any_bracket_and_of_its_end(monkeypatch):
    method = made("ASHA", rungs=[1, 3], brackets=2)
    heard = []
    monkeypatch.setattr(Proposals, "observed", lambda self, number, _, value, level: heard.append((number, value, level)))
    whole, short = past(0.1)[0], past(0.2, upto=3)[0]
    method.learn([whole, short, PastEvaluation(whole.configuration, [{"epoch": 9.0, "loss": 0.3}, {"epoch": 12.0, "loss": 0.4}])])
    assert method.brackets == [(1.0, 3.0), (3.0,)]
    # Level 2 is no rung, and what lies at the full level is told by the end alone.
    assert heard == [(-1, 0.1, 1.0), (-1, 0.1, 3.0), (-1, 0.1, 9.0), (-2, 0.2, 1.0), (-2, 0.2, 3.0)]


def test_a_past_mean_is_none_of_a_present_evaluation():
    method = made("MSR", grace_population=1)
    method.learn(past(0.1, 9.0, 0.2, 0.3))
    # Number 0 has the best value so far; with the sum of a past one in its mean three of five would be better.
    assert arrive(method, 0, loss=0.05) is Decision.CONTINUE
    assert arrive(method, 1, loss=1.0) is Decision.STOP


def test_promotion_counts_the_past_and_never_resumes_it():
    method = made("ASHA", type="promotion", rungs=[1])
    method.learn(past(0.1, 0.2, 0.3, 0.4, upto=1))
    assert [arrive(method, number, loss=loss) for number, loss in enumerate((0.5, 0.6))] == [Decision.PAUSE] * 2
    # Two of six may go on, and both are of the past.
    assert method.resume_only() is None
    assert arrive(method, 2, loss=0.05) is Decision.CONTINUE


def test_every_bracket_knows_the_past():
    method = made("ASHA", rungs=[1, 3], brackets=2)
    method.learn(past(0.1))
    first = [arrive(method, number, loss=0.2) for number in range(20)]
    later = [arrive(method, number, 3, loss=0.2) for number in range(20)]
    # In one bracket the first rung is 1, in the other 3; the one that comes first is worse than the past one in both.
    assert Decision.CONTINUE in first
    assert later[first.index(Decision.CONTINUE)] is Decision.STOP


def test_several_objectives_and_medians_know_it_too():
    several = made("MOASHA", {"loss": "min", "speed": "max"}, rungs=[1])
    several.learn([PastEvaluation({"lr": 0.1, "width": 1, "act": "relu"}, [{"epoch": 1.0, "loss": 0.1, "speed": 2.0}])])
    assert arrive(several, 0, loss=0.2, speed=1.0) is Decision.STOP
    assert arrive(made("MOASHA", {"loss": "min", "speed": "max"}, rungs=[1]), 0, loss=0.2, speed=1.0) is Decision.CONTINUE
    median = made("MSR", grace_population=3)
    median.learn(past(0.1, 0.2))
    assert arrive(median, 0, loss=0.3) is Decision.STOP
    assert arrive(made("MSR", grace_population=3), 0, loss=0.3) is Decision.CONTINUE


def test_mobster_proposes_near_the_past_optimum_at_once_and_only_what_came_to_its_end_tells_bo():
    near = [PastEvaluation({"lr": 0.01, "width": width, "act": "relu"}, (), {"loss": abs(width - 40) / 40}) for width in range(2, 64, 6)]
    for method in ("MOBSTER", "BO"):
        taught, ignorant = made(method), made(method)
        taught.learn(near)
        ignorant.learn([PastEvaluation(one.configuration) for one in near])
        assert abs(taught.suggest().configuration["width"] - 40) < 12
        assert taught.suggest() != ignorant.suggest()
