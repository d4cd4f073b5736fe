"""Canaries as trials: what runs, at which level, with which arguments; and what a killed run leaves of it."""

import shutil

import pytest

from backends.failures import Cause
from backends.simulated.table import Run
from benchmarking.controller.method import MethodContext
from benchmarking.controller.method_arguments import read_arguments
from benchmarking.forecasting.data.experiment import canaries_of
from benchmarking.forecasting.ladder.levels import repeats_of, rungs
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.past_jobs import scores_of
from benchmarking.forecasting.report import forecasts_of, report
from benchmarking.methods.canary import CanaryLadder
from benchmarking.methods.race import Race
from benchmarking.planning.job_builder import JobBuilder
from definitions.errors import UserError
from definitions.trial import TrialSpec
from tests.benchmarking.experiments import FakeJobs, Killed, MemoryJournal, definition, tuner

FIDELITY = {"kind": "per_job", "argument": "fraction", "ladder": [0.01, 0.03, 0.1]}


class Table:
    """Runs whose time is known: 20 s of start-up and 100 (x + 1) s of work for the full job; x = 9 runs out of memory."""

    def run(self, configuration, level, repeat):
        x = configuration["x"]
        duration_s = 20 + 1000 * (1 + 0.3 * x) * level * (1 + 0.01 * (repeat - 0.5))
        return Run([(duration_s, {"loss": 1.0, "rows": 1e6 * level})], duration_s, Cause.OUT_OF_MEMORY if x == 9 else None)


def benchmark(**changes):
    space = {"x": {"choice": changes.pop("x", [0, 1, 2])}}
    return definition(space=space, objectives={"loss": "min", "duration_s": "min"}, fidelity=FIDELITY, **changes)


def make(method, asked, **arguments):
    context = MethodContext(
        asked.search_space, (), asked.objectives, asked.fidelity, 0, read_arguments("it", method.arguments, arguments), region="us-east-1"
    )
    return method(context)


def run(method, asked, journal=None, **options):
    return tuner(
        asked, journal or MemoryJournal(), make_method=lambda: make(method, asked, **options), table=Table(), jobs=FakeJobs(max_run_s=9999)
    )


def test_repeats_are_two_at_the_lowest_rung_unless_somebody_says_otherwise():
    ladder = (0.01, 0.03, 0.1)
    assert repeats_of(ladder, None, 1) == (2, 1, 1)
    assert repeats_of(ladder, None, 3) == (3, 3, 3)
    assert repeats_of(ladder, 3, 1) == (3, 3, 3)
    assert rungs(ladder, (2, 1, 1)) == [(0.01, 0), (0.01, 1), (0.03, 0), (0.1, 0)]
    with pytest.raises(UserError, match="3 rungs"):
        repeats_of(ladder, (1, 2), 1)


def test_a_canarys_job_gets_its_level_and_its_repeat():
    job = JobBuilder(benchmark(), "local", "p", region="us-east-1").build(0, 1, TrialSpec({"x": 1}, 0.03, 2), None)
    assert job.arguments == ("--x=1", "--fraction=0.03")
    assert (job.level, job.repeat, job.environment["OUTRIDER_REPEAT"]) == (0.03, 2, "2")
    assert dict(job.configuration) == {"x": 1}
    assert JobBuilder(benchmark(), "local", "p", region="us-east-1").build(0, 1, TrialSpec({"x": 1}), None).level == 1.0


def test_the_ladder_runs_rung_by_rung_over_all_configurations():
    asked = benchmark()
    loop = run(CanaryLadder, asked)
    assert loop.run().exit_code == 0
    ran = [(trial.configuration["x"], trial.level, trial.repeat) for trial in loop.state.trials.values()]
    assert ran[:7] == [(0, 0.01, 0), (1, 0.01, 0), (2, 0.01, 0), (0, 0.01, 1), (1, 0.01, 1), (2, 0.01, 1), (0, 0.03, 0)]
    assert len(ran) == 12
    found = forecasts_of(asked, loop.state, Question(Billing("us-east-1")))
    total = next(one for one in found if (one.configuration, one.metric) == ("x=1", "total_s"))
    assert total.lo90 < 20 + 1300 < total.hi90
    assert "Forecast of the full job" in report(asked, loop.state, Question(Billing("us-east-1")))


def test_canary_trainings_ladder_can_be_had():
    asked = benchmark(x=[0])
    loop = run(CanaryLadder, asked, ladder=[0.01, 0.02, 0.03], repeats=3)
    loop.run()
    fractions = [one.fraction for one in canaries_of(asked, loop.state).canaries]
    assert fractions == [0.01] * 3 + [0.02] * 3 + [0.03] * 3


def test_a_canary_that_runs_out_of_memory_says_that_the_full_job_does_not_fit():
    asked = benchmark(x=[0, 9])
    loop = run(CanaryLadder, asked)
    loop.run()
    statuses = {
        one.configuration: str(one.status)
        for one in forecasts_of(asked, loop.state, Question(Billing("us-east-1")))
        if one.metric == "total_s"
    }
    assert statuses["x=9"] == "does not fit"
    assert loop.state.counted_failures == 0


def test_canaries_need_a_per_job_fidelity_and_a_ladder_within_it():
    asked = definition(fidelity={"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 3})
    for wanted in ({"prefix": False}, {"ladder": [0.01]}):
        with pytest.raises(UserError, match="per_job"):
            make(CanaryLadder, asked, **wanted)
    with pytest.raises(UserError, match="the full job is 1"):
        make(CanaryLadder, benchmark(), ladder=[0.1, 2.0])


def test_the_race_drops_what_does_not_run_and_finds_the_fastest():
    asked = benchmark(x=[0, 3, 6, 9])
    loop = run(Race, asked)
    ended = loop.run()
    assert ended.exit_code == 0
    assert "race decided: x=0" in ended.message
    levels = [(trial.configuration["x"], trial.level) for trial in loop.state.trials.values()]
    assert {level for x, level in levels if x == 9} == {0.01}
    assert {level for x, level in levels if x == 0} > {0.01}
    assert len(levels) < 4 * 9


def test_the_winner_can_run_in_full():
    asked = benchmark(x=[0, 6])
    loop = run(Race, asked, run_winner=True)
    loop.run()
    last = list(loop.state.trials.values())[-1]
    assert (last.configuration["x"], last.level) == (0, 1.0)
    said = report(asked, loop.state, Question(Billing("us-east-1")))
    assert "x=0 ran in full: 1015 s; forecast" in said
    assert "inside its 90 % interval" in said


def test_full_runs_score_the_forecasts_that_did_not_see_them():
    asked = benchmark(x=[0, 6])
    loop = run(Race, asked, run_winner=True)
    loop.run()
    scores = scores_of(canaries_of(asked, loop.state), region="us-east-1")
    assert len(scores["total_s"]) == 1
    assert scores["total_s"][0] < 1


def test_a_race_that_cannot_afford_its_next_run_is_not_decided_and_says_so():
    asked = benchmark(x=[0, 1, 2])
    ended = run(Race, asked, budget_usd=0.0015).run()
    assert ended.exit_code == 4
    assert "race not decided" in ended.message
    assert "do not allow" in ended.message


def test_a_race_needs_an_objective_that_a_forecast_gives():
    with pytest.raises(UserError, match="cost, time or what jobs report"):
        make(Race, definition(space={"x": {"choice": [1, 2]}}, objectives={"samples_per_s": "max"}, fidelity=FIDELITY))


@pytest.mark.parametrize("method", [CanaryLadder, Race])
def test_killed_at_any_record_it_goes_on_as_if_it_had_not_been(method, tmp_path):
    asked = benchmark(x=[0, 6])
    whole = MemoryJournal()
    ended = run(method, asked, whole).run()
    for kill_at in range(0, len(whole.rows), 3):
        killed = MemoryJournal(limit=kill_at)
        with pytest.raises(Killed):
            run(method, asked, killed).run()
        again = MemoryJournal(killed.rows)
        assert run(method, asked, again).run() == ended
        assert again.rows == whole.rows, f"killed before record {kill_at + 1}"
    shutil.rmtree(tmp_path, ignore_errors=True)
