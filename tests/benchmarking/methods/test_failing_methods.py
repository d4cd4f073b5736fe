"""Methods that fail: they are named, what was measured is kept, and a mended one goes on."""

from __future__ import annotations

import pytest

from benchmarking.controller.method import Method, Suggestion
from benchmarking.controller.method_adapter import MethodError
from definitions.errors import UserError
from definitions.schema import Budget
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.methods.method_experiments import benchmark, experiment


class Failing(Method):
    """Suggests three times and then breaks."""

    def __init__(self, call="suggest"):
        self.call, self.left = call, 3

    def suggest(self):
        self.left -= 1
        if self.call == "suggest" and self.left < 0:
            raise KeyError("population")
        return Suggestion({"lr": 0.01, "width": 10 + self.left, "act": "relu"})

    def on_trial_complete(self, trial, result):
        if self.call == "on_trial_complete":
            raise ZeroDivisionError("division by zero")


@pytest.mark.parametrize(("call", "error"), [("suggest", "KeyError: 'population'"), ("on_trial_complete", "ZeroDivisionError")])
def test_a_method_that_raises_is_named_and_what_was_measured_is_kept(call, error):
    journal = MemoryJournal()
    with pytest.raises(
        MethodError, match=f"method Failing failed in {call}: {error}[\\s\\S]*what was measured is kept.*test_failing_methods.py"
    ) as caught:
        experiment(benchmark(), journal, wrap=lambda _: Failing(call), n_workers=2).run()
    assert caught.value.exit_code == 1
    assert sum(row[2] == "reported" for row in journal.rows) >= 9


def test_what_a_method_tells_its_user_is_told_as_it_is():
    class Telling(Failing):
        def suggest(self):
            raise UserError("the ladder", "it is empty", "give one rung")

    with pytest.raises(UserError, match="the ladder") as caught:
        experiment(benchmark(), MemoryJournal(), wrap=lambda _: Telling()).run()
    assert type(caught.value) is UserError


def test_a_method_that_was_mended_goes_on_from_the_journal():
    journal = MemoryJournal()
    made = benchmark(budget=Budget(max_num_trials=5))
    with pytest.raises(MethodError):
        experiment(made, journal, wrap=lambda _: Failing()).run()

    class Mended(Failing):
        def __init__(self):
            super().__init__("nowhere")

    run = experiment(made, MemoryJournal(journal.rows), wrap=lambda _: Mended())
    assert run.run().reason == "max_num_trials"
    assert len(run.state.trials) == 5
