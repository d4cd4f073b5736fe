"""Methods that evaluate at full fidelity what a searcher proposes: when it is asked, and what it is told."""

import pytest

from benchmarking.controller.method import Evaluation, PastEvaluation, Suggestion
from benchmarking.methods.registry import build_method
from benchmarking.methods.search import parzen_initial
from definitions.space import SearchSpace
from tests.benchmarking.methods.method_experiments import benchmark

INITIAL = {"REA": 100, "TPE": 10, "BORE": 6, "CQR": 5, "BO": 5}


def build(method="BO", objectives=None, **arguments):
    return build_method(method, benchmark(objectives=objectives or {"loss": "min"}), 0, arguments, region="us-east-1")


def configuration(number):
    return {"lr": 0.01 * (number + 1), "width": 1 + number, "act": "relu"}


def measure(method, count, first=0):
    for number in range(first, first + count):
        evaluation = Evaluation(number, configuration(number))
        method.on_trial_add(evaluation)
        method.on_trial_complete(evaluation, {"loss": float(number)})


def asks_its_searcher(method, monkeypatch):
    """Return whether the next suggestion is asked of the searcher."""
    from benchmarking.methods.searchers.process import InProcess

    asked = []
    with monkeypatch.context() as patch:
        patch.setattr(InProcess, "answer", lambda self, number, pending: asked.append(number) or [])
        assert method.suggest() is not None
    return bool(asked)


@pytest.mark.parametrize("method", INITIAL)
def test_a_searcher_is_asked_once_so_many_evaluations_are_measured(method, monkeypatch):
    made = build(method)
    measure(made, INITIAL[method] - 1)
    assert not asks_its_searcher(made, monkeypatch)
    measure(made, 1, first=INITIAL[method] - 1)
    assert asks_its_searcher(made, monkeypatch)


def test_a_failed_evaluation_teaches_nothing(monkeypatch):
    made = build("BO", init_random=2)
    measure(made, 1)
    failed = Evaluation(1, configuration(1))
    made.on_trial_add(failed)
    made.on_trial_error(failed)
    assert not asks_its_searcher(made, monkeypatch)


def test_two_densities_need_more_points_than_there_are_dimensions():
    assert parzen_initial(SearchSpace.parse({"x": {"uniform": [0, 1]}, "y": {"choice": [1, 2]}, "c": 7})) == 8


def past(number, final):
    return PastEvaluation(configuration(number), final=final, results=())


def test_past_evaluations_count_where_they_were_measured_to_their_end(monkeypatch):
    made = build("BO", init_random=2)
    made.learn([past(0, {"loss": 1.0}), past(1, None)])
    assert not asks_its_searcher(made, monkeypatch)
    made.learn([past(2, {"loss": 1.0})])
    assert not asks_its_searcher(made, monkeypatch)  # under the same id as the first of the earlier ones: it took its place
    both = build("BO", init_random=2)
    both.learn([past(0, {"loss": 1.0}), past(2, {"loss": 3.0})])
    assert asks_its_searcher(both, monkeypatch)


def test_past_evaluations_have_ids_that_no_evaluation_of_this_experiment_has(monkeypatch):
    made = build("BO", init_random=4)
    made.learn([past(0, {"loss": 1.0}), past(1, {"loss": 2.0})])
    measure(made, 2)
    assert asks_its_searcher(made, monkeypatch)


def test_the_sign_of_what_is_maximised_is_turned():
    # The searcher proposes near the good end, whichever that is.
    def proposed(mode):
        made = build("BO", objectives={"loss": mode}, init_random=20)
        for number in range(30):
            evaluation = Evaluation(number, {"lr": 0.01, "width": 1 + 2 * number, "act": "relu"})
            made.on_trial_add(evaluation)
            made.on_trial_complete(evaluation, {"loss": float(number)})
        return made.suggest().configuration["width"]

    assert proposed("min") < 20 < 45 < proposed("max")


def test_recorded_suggestions_count_so_that_the_next_proposal_has_its_number(monkeypatch):
    from benchmarking.methods.searchers.process import InProcess

    numbers = []
    monkeypatch.setattr(InProcess, "answer", lambda self, number, pending: numbers.append(number) or [])
    made = build("BO", init_random=2)
    for number in range(3):
        made.on_suggestion(Suggestion(configuration(number)), skipped=number)
    measure(made, 3)
    made.suggest()
    assert numbers == [0 + 1 + 1 + 1 + 2 + 1]
