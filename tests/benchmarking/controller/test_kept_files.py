"""Whose checkpoints and models outlive their trials."""

import pytest

from backends.failures import Cause
from benchmarking.controller.journal import Record
from benchmarking.controller.kept_files import KeptFiles, disposable
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import TrialState
from definitions.trial import TrialSpec


def trial(number, loss, status=TrialStatus.COMPLETED, cause=None):
    found = TrialState(number, number, TrialSpec({}), status=status, cause=cause)
    if loss is not None:
        found.last["loss"] = loss
    return found


TRIALS = [
    trial(0, 0.5),
    trial(1, 0.2, TrialStatus.STOPPED, Cause.SCHEDULER),
    trial(2, None, TrialStatus.FAILED, Cause.SCRIPT_ERROR),
    trial(3, 0.1, TrialStatus.RUNNING),
    trial(4, 0.9, TrialStatus.PAUSED, Cause.PAUSED),
    trial(5, 0.2),
    trial(6, float("nan"), TrialStatus.DIVERGED, Cause.DIVERGED),
]


class State:
    def __init__(self, trials):
        self.trials = {one.trial: one for one in trials}


@pytest.mark.parametrize(
    ("keep", "mode", "gone"),
    [
        (1, "min", [0, 2, 5, 6]),  # of two that are equally good the earlier one stays
        (2, "min", [0, 2, 6]),
        (1, "max", [1, 2, 5, 6]),
        ("paused", "min", [0, 1, 2, 5, 6]),
        ("none", "min", [0, 1, 2, 5, 6]),
        ("all", "min", []),
    ],
)
def test_the_best_the_running_and_the_paused_keep_theirs(keep, mode, gone):
    assert disposable(TRIALS, {"loss": mode}, keep) == gone
    given_up = []
    kept = KeptFiles({"loss": mode}, keep, lambda one: given_up.append(one.trial))
    state = State([])
    for one in TRIALS:
        state.trials[one.trial] = one
        kept.observe(Record(one.trial + 1, 0.0, "settle", {"trial": one.trial}), state)
    assert sorted(given_up) == gone


def test_files_go_as_soon_as_a_better_trial_is_there_and_a_resumed_run_catches_up():
    given_up = []
    state = State([trial(0, 0.5), trial(1, 0.7)])
    kept = KeptFiles({"loss": "min"}, 1, lambda one: given_up.append(one.trial))
    for number, loss, gone in ((2, 0.6, [1, 2]), (3, 0.4, [1, 2, 0]), (4, 0.45, [1, 2, 0, 4])):
        state.trials[number] = trial(number, loss)
        kept.observe(Record(9, 0.0, "reported", {}), state)
        kept.observe(Record(9, 0.0, "settle", {"trial": number}), state)
        assert given_up == gone
