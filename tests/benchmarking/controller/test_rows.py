"""Trials and suggestions as far as they are known."""

import pytest

from benchmarking.controller.rows import EvaluationState, TrialState
from definitions.trial import TrialSpec


def trial(**changes):
    spec = TrialSpec({"x": 1}, 0.5, 2)
    return TrialState(7, 3, spec, duration_s=5.0, billable_s=9.0, cost_usd=0.25, last={"loss": "1.5", "note": "text"}, **changes)


def test_what_a_trial_runs_is_its_specs():
    assert (trial().configuration, trial().level, trial().repeat) == ({"x": 1}, 0.5, 2)


@pytest.mark.parametrize(
    ("objective", "value"), [("loss", 1.5), ("note", None), ("acc", None), ("cost_usd", 0.25), ("billable_s", 9.0), ("duration_s", 5.0)]
)
def test_the_last_value_of_an_objective(objective, value):
    assert trial().value_of(objective) == value


def test_what_the_script_alone_took_goes_before_what_the_job_did():
    measured = trial(usage={"measured": {"duration_s": 3.0, "cpu_s": 2.0}, "cpu_s": 8.0})
    assert (measured.value_of("duration_s"), measured.value_of("cpu_s")) == (3.0, 2.0)
    whole = trial(usage={"cpu_s": 8.0, "measured": None})
    assert (whole.value_of("duration_s"), whole.value_of("cpu_s"), whole.value_of("peak_rss_bytes")) == (5.0, 8.0, None)


def test_repeats_of_a_suggestion_count_on_from_its_own():
    suggestion = EvaluationState(TrialSpec({"x": 1}, 0.1, 4), None)
    assert suggestion.trial(0) is suggestion.first
    assert suggestion.trial(2) == TrialSpec({"x": 1}, 0.1, 6)
    assert suggestion.configuration == {"x": 1}


def test_what_it_measured_for_other_trials_is_none_of_its_figures():
    """A quarter of its seconds went into ceilings: paid for, but neither its duration nor its cost."""
    found = trial()
    found.usage = {"phases_s": {"ceilings": 1.25}}
    assert found.duration_s == 5.0
    assert found.value_of("duration_s") == 3.75
    assert found.value_of("cost_usd") == pytest.approx(0.75 * found.cost_usd)
    assert found.value_of("billable_s") == pytest.approx(0.75 * found.billable_s)
