"""Ladders that are stretched until their lowest rung trains long enough: by how much, for whom, and the same again from a journal."""

import pytest

from backends.failures import Cause
from backends.simulated.table import Run
from benchmarking.analysis.measurements import PREFIX
from benchmarking.controller.method import Evaluation, MethodContext
from benchmarking.controller.method_arguments import read_arguments
from benchmarking.forecasting.ladder.stretch import Stretch, stretched
from benchmarking.methods.canary import CanaryLadder
from benchmarking.methods.race import Race
from tests.benchmarking.experiments import FakeJobs, Killed, MemoryJournal, definition, tuner

LADDER = (0.01, 0.03, 0.1)
FIDELITY = {"kind": "per_job", "argument": "fraction", "ladder": list(LADDER)}


def make(method, x=(0, 1), instance_type="local.1cpu", **arguments):
    space = {"x": {"choice": list(x)}, "instance_type": {"choice": [instance_type]}}
    asked = definition(space=space, objectives={"duration_s": "min"}, fidelity=FIDELITY)
    return method(
        MethodContext(
            asked.search_space,
            (),
            asked.objectives,
            asked.fidelity,
            0,
            read_arguments("it", method.arguments, arguments),
            region="us-east-1",
        )
    )


def play(method, startup_s=10.0, full_s=500.0, fails=lambda x: False, most=40):
    """Run a method one trial at a time and return (x, level, repeat) of each."""
    ran = []
    for number in range(most):
        assert method.ready()
        suggestion = method.suggest()
        if suggestion is None:
            return ran
        base, level, repeat = suggestion.configuration, suggestion.level, suggestion.repeat
        trial = Evaluation(number, base, level, repeat)
        method.on_trial_add(trial)
        ran.append((base["x"], level, repeat))
        if fails(base["x"]):
            method.on_trial_error(trial)
        else:
            train_s = full_s * level * (1 + base["x"])
            values = {"startup_s": startup_s, "train_s": train_s, "total_s": startup_s + train_s}
            method.on_trial_complete(trial, {PREFIX + name: value for name, value in values.items()})
    return ran


def test_all_rungs_are_stretched_alike_and_no_further_than_half_the_data():
    assert stretched(LADDER, 1.0, 2.0) == (0.02, 0.06, 0.2)
    assert stretched(LADDER, 1.0, 1.234) == (0.013, 0.038, 0.13)
    assert stretched(LADDER, 1.0, 100.0) == (0.05, 0.15, 0.5)
    assert stretched(LADDER, 1.0, 0.5) == LADDER
    # What is beyond half the data already stays there.
    assert stretched((0.1, 0.9), 1.0, 5.0) == (0.1, 0.9)


def test_whole_levels_stay_whole():
    assert stretched((10, 30, 100), 1000, 1.55) == (16, 47, 155)
    assert all(isinstance(level, int) for level in stretched((10, 30, 100), 1000, 99.0))


def test_ladders_are_stretched_by_themselves_here_as_on_paid_instances():
    for instance_type in ("local.1cpu", "ml.m5.large"):
        assert not make(CanaryLadder, prefix=False, instance_type=instance_type).independent
        assert make(CanaryLadder, prefix=False, instance_type=instance_type, stretch_s=0).independent
        # 10 % of 20 s are 2 s of the 3 that are wanted, and a tenth more for growth below the data's.
        assert {level for _, level, _ in play(make(CanaryLadder, instance_type=instance_type), full_s=20.0)[1:]} == {0.017, 0.05, 0.17}


def test_a_short_first_canary_stretches_the_ladder_for_all_configurations_however_long_it_starts_up():
    # 1 % trains 5 s, so 10 % will train 50; 200 are wanted: four times as much, and a tenth for growth below the data's.
    for startup_s in (0.0, 10.0, 1000.0):
        ran = play(make(CanaryLadder, stretch_s=200), startup_s=startup_s)
        assert ran[:2] == [(0, 0.01, 0), (0, 0.044, 0)]
        assert {level for _, level, _ in ran[1:]} == {0.044, 0.14, 0.44}
        # The probe at the level that it settled on is not run again.
        assert len(ran) == 1 + 2 * 4
        assert ran.count((0, 0.044, 0)) == 1


def test_a_long_first_canary_leaves_the_ladder_as_it_is():
    ran = play(make(CanaryLadder, stretch_s=200), full_s=3000.0)
    assert {level for _, level, _ in ran} == set(LADDER)
    assert len(ran) == 2 * 4
    assert play(make(CanaryLadder, stretch_s=0)) == play(make(CanaryLadder, stretch_s=0), full_s=1.0)


def test_the_others_wait_for_the_probe():
    method = make(CanaryLadder, stretch_s=200)
    method.suggest()
    assert not method.ready()


def test_where_the_first_cannot_run_the_next_one_probes():
    ran = play(make(CanaryLadder, x=(0, 1, 2), stretch_s=200), fails=lambda x: x == 0)
    assert ran[:2] == [(0, 0.01, 0), (1, 0.01, 0)]
    assert {level for _, level, _ in ran[2:]} == {0.022, 0.066, 0.22}
    assert play(make(CanaryLadder, stretch_s=200), fails=lambda x: True)[:3] == [(0, 0.01, 0), (1, 0.01, 0), (0, 0.01, 1)]


def test_no_more_runs_than_the_plan_says():
    method = make(CanaryLadder, stretch_s=200)
    planned = len(method.plan())
    assert len(play(method, full_s=5.0)) <= planned == 2 * 4 + 2
    assert len(make(CanaryLadder, prefix=False, stretch_s=0).plan()) == 2 * 4


def test_processor_time_in_the_fit_counts_and_without_phases_what_is_not_start_up():
    waits = Stretch(LADDER, 1.0, 3.0)
    waits.update({"total_s": 30.0, "startup_s": 1.0, "train_s": 29.0, "train_cpu_s": 0.1})
    assert waits.ladder == (0.033, 0.099, 0.33)
    stretch = Stretch(LADDER, 1.0, 600.0)
    stretch.update({"total_s": 30.0})
    assert stretch.ladder == (0.022, 0.066, 0.22)
    stretch.update({"total_s": 61.0})
    assert stretch.settled


def test_a_race_is_stretched_too():
    ran = play(make(Race, x=(0, 3, 6), stretch_s=200))
    assert ran[:2] == [(0, 0.01, 0), (0, 0.044, 0)]
    assert {level for x, level, _ in ran if x} <= {0.044, 0.14, 0.44}
    assert len({(x, level, repeat) for x, level, repeat in ran}) == len(ran)
    assert len(ran) < len(make(Race, x=(0, 3, 6), stretch_s=200).plan())


class Table:
    def run(self, configuration, level, repeat):
        duration_s = 10 + 500 * level * (1 + configuration["x"])
        return Run([(duration_s, {"loss": 1.0})], duration_s, Cause.OUT_OF_MEMORY if configuration["x"] == 9 else None)


@pytest.mark.parametrize("method", [CanaryLadder, Race])
def test_killed_at_any_record_the_levels_stay_the_same(method):
    asked = definition(space={"x": {"choice": [9, 0, 4]}}, objectives={"loss": "min", "duration_s": "min"}, fidelity=FIDELITY)

    def run(journal):
        context = MethodContext(
            asked.search_space,
            (),
            asked.objectives,
            asked.fidelity,
            0,
            read_arguments("it", method.arguments, {"stretch_s": 200}),
            region="us-east-1",
        )
        return tuner(asked, journal, make_method=lambda: method(context), table=Table(), jobs=FakeJobs(max_run_s=9999), n_workers=3)

    whole = MemoryJournal()
    loop = run(whole)
    ended = loop.run()
    assert {trial.level for trial in loop.state.trials.values()} >= {0.01, 0.019, 0.056}
    for kill_at in range(0, len(whole.rows), 3):
        killed = MemoryJournal(limit=kill_at)
        with pytest.raises(Killed):
            run(killed).run()
        again = MemoryJournal(killed.rows)
        assert run(again).run() == ended
        assert again.rows == whole.rows, f"killed before record {kill_at + 1}"
