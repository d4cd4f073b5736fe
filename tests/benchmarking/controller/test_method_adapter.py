import logging

import pytest

from benchmarking.controller.aggregation import Tell
from benchmarking.controller.method import Decision, Method, Suggestion
from benchmarking.controller.method_adapter import Answer, MethodAdapter


class Scripted(Method):
    """Suggests what it is given, decides what it is told to, and remembers every call."""

    def __init__(self, suggestions, decision=Decision.CONTINUE, *, finite=True):
        self._suggestions, self._decision, self.finite = iter(suggestions), decision, finite
        self.calls = []

    def suggest(self):
        return next(self._suggestions, None)

    def on_trial_add(self, evaluation):
        self.calls.append(("add", evaluation.id, dict(evaluation.configuration)))

    def on_trial_result(self, evaluation, result):
        self.calls.append(("result", evaluation.id, dict(result)))
        return self._decision

    def on_trial_complete(self, evaluation, result):
        self.calls.append(("complete", evaluation.id, dict(result)))

    def on_trial_error(self, evaluation):
        self.calls.append(("error", evaluation.id))

    def on_trial_remove(self, evaluation):
        self.calls.append(("remove", evaluation.id))


def xs(*values):
    return [Suggestion({"x": value}) for value in values]


def odd(trial):
    return f"x = {trial.configuration['x']} is odd" if trial.configuration["x"] % 2 else None


def test_refused_suggestions_are_skipped_counted_and_explained():
    method = Scripted(xs(1, 3, 4, 5))
    adapter = MethodAdapter(method, odd)
    assert adapter.ask(0) == Answer(Suggestion({"x": 4}), 2, "x = 3 is odd")
    assert adapter.ask(1) == Answer(None, 1, "x = 5 is odd")
    assert method.calls == [("add", 0, {"x": 4})]


def test_an_open_ended_method_that_suggests_nothing_valid_is_given_up():
    adapter = MethodAdapter(Scripted((Suggestion({"x": 1}) for _ in iter(int, 1)), finite=False), odd)
    assert adapter.ask(0) == Answer(None, 10_000, "x = 1 is odd")


def test_an_open_ended_method_may_be_refused_once_less_than_that():
    adapter = MethodAdapter(Scripted(xs(*[1] * 9_999, 2), finite=False), odd)
    assert adapter.ask(0) == Answer(Suggestion({"x": 2}), 9_999, "x = 1 is odd")


def test_a_list_is_read_to_its_end_however_much_is_refused():
    adapter = MethodAdapter(Scripted(xs(*[1] * 20_000, 2)), odd)
    assert adapter.ask(0) == Answer(Suggestion({"x": 2}), 20_000, "x = 1 is odd")


def test_a_resumed_evaluation_is_no_new_one_and_is_not_refused():
    method = Scripted([Suggestion({"x": 1}, resume=0)])
    assert MethodAdapter(method, odd).ask(5).suggestion.resume == 0
    assert method.calls == []


def test_tells_become_calls():
    method = Scripted(xs(2))
    adapter = MethodAdapter(method, odd)
    adapter.ask(0)
    assert adapter.tell(Tell("result", 0, 1.0, {"loss": 0.5, "epoch": 1.0})) is Decision.CONTINUE
    assert adapter.tell(Tell("complete", 0, 1.0, {"loss": 0.5})) is Decision.CONTINUE
    assert adapter.tell(Tell("error", 0)) is Decision.CONTINUE
    assert method.calls[1:] == [("result", 0, {"loss": 0.5, "epoch": 1.0}), ("complete", 0, {"loss": 0.5}), ("error", 0)]


@pytest.mark.parametrize("decision", ["STOP", "PAUSE"])
def test_a_decision_against_an_evaluation_is_followed_by_its_removal(decision):
    method = Scripted(xs(2), decision)  # a plain string, as Syne Tune's methods return
    adapter = MethodAdapter(method, odd)
    adapter.ask(0)
    assert adapter.tell(Tell("result", 0, 1.0, {"loss": 0.5})) is Decision(decision)
    assert method.calls[-1] == ("remove", 0)


def test_replay_that_agrees_is_silent(caplog):
    method = Scripted(xs(2, 4))
    adapter = MethodAdapter(method, odd)
    with caplog.at_level(logging.WARNING):
        adapter.replay(Suggestion({"x": 2}), 0)
        adapter.replay(Suggestion({"x": 4}), 1)
        adapter.replay(None, 2)
    assert caplog.messages == []
    assert method.calls == [("add", 0, {"x": 2}), ("add", 1, {"x": 4})]


def test_replay_that_differs_warns_and_the_record_wins(caplog):
    method = Scripted(xs(2))
    adapter = MethodAdapter(method, odd)
    with caplog.at_level(logging.WARNING):
        adapter.replay(Suggestion({"x": 6}), 0)
        adapter.replay(Suggestion({"x": 8}), 1)  # the method has nothing more to say, the record has
    assert len(caplog.messages) == 2
    assert "{'x': 2} where the journal has {'x': 6}; the journal wins" in caplog.messages[0]
    assert method.calls == [("add", 0, {"x": 6}), ("add", 1, {"x": 8})]
    adapter.tell(Tell("complete", 0, None, {"loss": 1.0}))
    assert method.calls[-1] == ("complete", 0, {"loss": 1.0})


def test_what_the_method_is_comes_through():
    adapter = MethodAdapter(Scripted([], finite=False), odd)
    assert (adapter.finite, adapter.independent, adapter.conclude()) == (False, False, None)
