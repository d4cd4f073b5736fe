"""Which run a race takes next where jobs say how far they are."""

import numpy as np

from benchmarking.forecasting.ladder.prefix_race import BEGINNING, first_step, is_comparable, next_step
from benchmarking.forecasting.ladder.race import race_status
from benchmarking.forecasting.ladder.race_status import TIME, RaceDecision, RaceSettings
from benchmarking.forecasting.model.billing import Billing
from tests.benchmarking.forecasting.prefix_runs import prefix, small

SETTINGS = RaceSettings(objectives=(TIME,), billing=Billing("us-east-1"), prefixes=True)


def begun(name, step_s):
    return prefix([step_s] * 60, 1000.0, name=name)


def test_every_configuration_begins_first_and_those_that_tell_nothing_climb_the_ladder():
    groups = {"a": [begun("a", 0.1)], "b": []}
    assert first_step(groups, ["a", "b"], SETTINGS) == ("b", BEGINNING, 0)
    silent = prefix([0.1] * 60, None, name="b")
    assert first_step({**groups, "b": [silent]}, ["a", "b"], SETTINGS) == ("b", 0.01, 0)
    climbed = [silent, *(small(level, [0.1] * 10, name="b") for level in (0.01, 0.03, 0.1))]
    assert first_step({**groups, "b": climbed}, ["a", "b"], SETTINGS) is None
    assert is_comparable(climbed)
    assert not is_comparable([silent])


def test_a_small_job_goes_before_a_longer_prefix_as_long_as_it_tells_something():
    groups = {"a": [begun("a", 0.1)], "b": [begun("b", 0.11)]}
    logs = {name: np.log(np.linspace(90, 110, 50)) for name in groups}
    assert next_step(groups, ["a"], logs, SETTINGS) == ("a", 0.01, 0)
    nothing_after = {**groups, "b": [*groups["b"], small(0.01, [0.1] * 10, name="b", after_s=0.001)]}
    assert next_step(nothing_after, ["a"], logs, SETTINGS) == ("a", BEGINNING, 1)
    assert next_step(nothing_after, ["a", "b"], {**logs, "b": np.log(np.linspace(50, 150, 50))}, SETTINGS)[0] == "b"


def test_where_no_run_is_left_there_is_none():
    groups = {"a": [begun("a", 0.1)] * 3, "b": [small(0.01, [0.1] * 10, name="b", after_s=0.001)]}
    assert next_step(groups, ["a"], {"a": np.zeros(5)}, SETTINGS) is None


def test_the_status_is_decided_by_beginnings_alone():
    found = race_status({"a": [begun("a", 0.1)], "b": [begun("b", 0.3)]}, [], SETTINGS)
    assert (found.decision, found.winner) == (RaceDecision.DECIDED, "a")
    assert found.confidence > 0.99


def test_what_does_not_fit_in_memory_is_out_by_its_beginning():
    small_machine = "ml.m5.large"  # 8 GiB
    groups = {
        "a": [prefix([0.1] * 60, 1000.0, name="a", rss_bytes=7.9 * 2**30, instance_type=small_machine)],
        "b": [prefix([0.3] * 60, 1000.0, name="b", rss_bytes=1.0 * 2**30, instance_type=small_machine)],
    }
    assert race_status(groups, [], SETTINGS).winner == "b"
