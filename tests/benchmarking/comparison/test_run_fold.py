"""Runs read from journals: what counts as a result, and where on each axis it was known."""

from __future__ import annotations

import pytest

from benchmarking.archive.stored import load
from benchmarking.comparison.reading import read_run
from benchmarking.comparison.runs import Axis
from tests.benchmarking.archive.stored_folders import copied


def test_repeats_are_folded_into_one_result_and_money_and_trials_count_all(tmp_path):
    stored = load(copied(tmp_path, "repeated"))
    found = read_run(stored, {"machine": "m"})
    with stored.journal() as journal:
        state = stored.state(journal)
    whole = [
        [state.trials[number] for number in evaluation.trials]
        for evaluation in state.evaluations.values()
        if [str(state.trials[number].status) for number in evaluation.trials] == ["completed"] * stored.spec.repeats
    ]
    assert stored.spec.repeats > 1
    objective = next(iter(found.objectives))
    means = [sum(trial.value_of(objective) for trial in trials) / len(trials) for trials in whole]
    full = [one for one in found.measurements if one.full]
    assert sorted(one.values[objective] for one in full) == pytest.approx(sorted(means))
    assert full
    assert [one.wallclock for one in full] == sorted(one.wallclock for one in full)
    assert found.ends[Axis.TRIALS] == state.finished > len(full)
    assert found.ends[Axis.COST] == pytest.approx(state.money.spent_usd)
    assert (found.facts["machine"], found.facts["back-end"]) == ("m", "simulated")


def test_canaries_never_count(tmp_path):
    assert read_run(load(copied(tmp_path, "canary"))).measurements == ()
