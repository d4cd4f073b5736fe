from backends.failures import Cause, Outcome
from benchmarking.controller.starting import PlannedStart, first_attempt, next_attempt
from definitions.trial import TrialSpec
from tests.benchmarking.controller.scripted_state import Script


def test_a_new_trial_gets_the_next_id_and_starts_from_nothing():
    script = Script(repeats=2)
    script.suggest(0, x=4, repeat=5)
    assert first_attempt(script.state, (0, 1)) == PlannedStart(0, 0, 1, 1, TrialSpec({"x": 4}, None, 6), None)
    script.start(0)
    assert first_attempt(script.state, (0, 1)).trial == 1


def test_a_new_trial_of_an_evaluation_that_goes_on_from_another_takes_its_first_trials_checkpoint():
    script = Script(repeats=2)
    script.suggest(0)
    script.start(0)
    script.start(1)
    script.suggest(1, checkpoint_from=0)
    assert first_attempt(script.state, (1, 0)).checkpoint_of == 0
    assert first_attempt(script.state, (1, 1)).checkpoint_of == 0


def test_a_further_attempt_is_the_same_trial_from_its_own_checkpoint():
    script = Script(repeats=2)
    script.suggest(0, x=4, repeat=5)
    script.start(0)
    script.start(1)
    script.close("j1-1", Outcome.FAILED, Cause.SPOT, status="waiting", retry_at=9.0)
    assert next_attempt(script.state, 1) == PlannedStart(1, 0, 1, 2, TrialSpec({"x": 4}, None, 6), 1)
