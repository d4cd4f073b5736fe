"""Canaries and full runs of an experiment, by its state."""

import pytest

from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import StateSetup, TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.data.experiment import canaries_of, full_runs_of
from benchmarking.planning.sampling import sample_name
from definitions.configuration import configuration_id
from definitions.trial import TrialSpec
from tests.benchmarking.experiments import definition

FIDELITY = {"kind": "per_job", "argument": "fraction", "full": 2.0, "family": "trees"}


def state_of(*trials, instance_type="local.1cpu"):
    state = ExperimentState(StateSetup({"loss": "min"}, seed=5, default_instance_type=instance_type))
    state.trials = {trial.trial: trial for trial in trials}
    return state


def trial(number, level=None, x=1, status=TrialStatus.COMPLETED, repeat=0, starts=1, **changes):
    spec = TrialSpec({"x": x, **changes.pop("configuration", {})}, level, repeat)
    return TrialState(number, number, spec, status, starts=starts, duration_s=12.5, last={"loss": 1.0, "rows": 100}, **changes)


def asked(**changes):
    return definition(fidelity=FIDELITY, **changes)


def test_a_fraction_is_the_level_over_that_of_the_full_job():
    table = canaries_of(asked(), state_of(trial(0, 0.02), trial(1, 2.0, x=2, repeat=1)))
    assert [(one.configuration, one.fraction, one.repeat) for one in table.canaries] == [("x=1", 0.01, 0), ("x=2", 1.0, 1)]
    first = table.canaries[0]
    assert (first.total_s, first.rows, first.family, first.instance_type, first.instance_count) == (12.5, 100, "trees", "local.1cpu", 1)
    assert first.about["configuration_id"] == configuration_id({"x": 1})
    assert first.about["trial"] == 0


@pytest.mark.parametrize(
    ("status", "starts", "expected"),
    [
        (TrialStatus.COMPLETED, 1, "completed"),
        (TrialStatus.COMPLETED, 2, "interrupted"),
        (TrialStatus.INFEASIBLE, 1, "out_of_memory"),
        (TrialStatus.FAILED, 2, "failed"),
        (TrialStatus.STOPPED, 1, "stopped"),
    ],
)
def test_how_a_canary_ended(status, starts, expected):
    (one,) = canaries_of(asked(), state_of(trial(0, 0.02, status=status, starts=starts))).canaries
    assert one.status == expected


def test_what_runs_or_has_no_level_is_no_canary():
    state = state_of(trial(0, 0.02, status=TrialStatus.RUNNING), trial(1), trial(2, 0.02))
    assert [one.about["trial"] for one in canaries_of(asked(), state).canaries] == [2]
    assert [one.about["trial"] for one in full_runs_of(asked(), state).canaries] == [1]
    assert canaries_of(definition(), state).canaries == ()
    assert full_runs_of(definition(), state).canaries == ()


def test_full_runs_are_those_that_were_completed():
    state = state_of(trial(0), trial(1, status=TrialStatus.FAILED), trial(2, 0.02))
    (one,) = full_runs_of(asked(), state).canaries
    assert (one.about["trial"], one.fraction) == (0, 1.0)


def test_instances_are_the_configurations_then_the_definitions():
    own = trial(0, 0.02, configuration={"instance_type": "ml.m5.large", "instance_count": 4})
    (one,) = canaries_of(asked(), state_of(own)).canaries
    assert (one.instance_type, one.instance_count) == ("ml.m5.large", 4)
    (one,) = canaries_of(asked(arguments={"instance_count": 3}), state_of(trial(0, 0.02))).canaries
    assert one.instance_count == 3


def test_a_sampled_channel_names_the_sample_of_each_small_run():
    sampled = asked(inputs={"train": {"sampled": True}}, datasets={"d": {"type": "s3", "uri": "s3://b/d"}})
    found = [one.about.get("manifest") for one in canaries_of(sampled, state_of(trial(0, 0.02, repeat=1), trial(1, 2.0))).canaries]
    assert found == [sample_name(0.01, 5, 1), None]
    whole = asked(inputs={"train": {"sampled": False}}, datasets={"d": {"type": "s3", "uri": "s3://b/d"}})
    assert "manifest" not in canaries_of(whole, state_of(trial(0, 0.02))).canaries[0].about
