"""RACE for what jobs report: decided by learning curves, nothing spent on what is out, not decided where curves cross."""

import pytest

from backends.simulated.table import Run
from benchmarking.controller.method import MethodContext
from benchmarking.controller.method_arguments import read_arguments
from benchmarking.methods.race import Race
from definitions.errors import UserError
from tests.benchmarking.experiments import FakeJobs, MemoryJournal, definition, tuner
from tests.benchmarking.methods.method_experiments import kill_and_resume

FIDELITY = {"kind": "per_job", "argument": "fraction", "ladder": [0.01, 0.03, 0.1, 0.3]}


class Curves:
    """Losses a + b x^-0.5 of the data, by configuration; jobs take 10 s and 1000 s of all the data."""

    def __init__(self, **of):
        self.of = of

    def run(self, configuration, level, repeat):
        a, b = self.of[configuration["x"]]
        loss = a + b * (1.0 if level is None else level) ** -0.5
        seconds = 10 + 1000 * (1.0 if level is None else level)
        return Run([(seconds, {"loss": loss})], seconds)


def race(table, journal=None, objectives=None, fidelity=FIDELITY, **given):
    asked = definition(space={"x": {"choice": list(table.of)}}, objectives=objectives or {"loss": "min"}, fidelity=fidelity)

    def make():
        arguments = read_arguments("RACE", Race.arguments, given)
        return Race(MethodContext(asked.search_space, (), asked.objectives, asked.fidelity, 0, arguments, region="us-east-1"))

    method = make()
    loop = tuner(asked, journal or MemoryJournal(), make_method=lambda: method, table=table, jobs=FakeJobs(max_run_s=9999))
    return method, loop


def ran(loop, x):
    return [one.level for one in loop.state.trials.values() if one.configuration["x"] == x]


def test_the_lowest_loss_at_all_data_wins_and_what_is_out_climbs_no_further():
    method, loop = race(Curves(good=(0.2, 0.02), bad=(0.9, 0.03), worse=(1.5, 0.02)))
    ended = loop.run()
    assert ended.exit_code == 0
    assert "race decided: x=good" in ended.message
    assert "RACE races for loss: the configuration whose full job reports the least wins" in method.about
    assert ran(loop, "worse") == [0.01, 0.03]
    full_s = 3 * 1010
    assert sum(one.duration_s for one in loop.state.trials.values()) < 0.1 * full_s


def test_more_wins_where_more_is_better():
    _, loop = race(Curves(good=(0.9, -0.02), bad=(0.3, -0.02)), objectives={"loss": "max"})
    assert "race decided: x=good" in loop.run().message


def test_curves_that_cross_are_followed_and_not_decided_by_who_is_ahead_early():
    # `late` is behind up to a third of the data and ahead at all of it.
    curves = Curves(early=(0.5, 0.01), late=(0.40, 0.08))
    assert curves.run({"x": "late"}, 0.1, 0).reports[0][1]["loss"] > curves.run({"x": "early"}, 0.1, 0).reports[0][1]["loss"]
    _, loop = race(curves)
    message = loop.run().message
    assert "race decided: x=early" not in message
    assert max(ran(loop, "early")) == max(ran(loop, "late")) == 0.3


def test_money_and_time_are_raced_for_unless_a_metric_is_named():
    table = Curves(good=(0.2, 0.02), bad=(0.9, 0.03))
    assert race(table, objectives={"loss": "min", "duration_s": "min"})[0].settings.objectives == ("duration_s",)
    assert race(table, objectives={"loss": "min", "duration_s": "min"}, metric="loss")[0].settings.objectives == ("loss",)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"metric": "accuracy"}, "objectives that jobs report are loss"),
        ({"objectives": {"samples_per_s": "max"}}, "the objectives are samples_per_s"),
        ({"fidelity": None}, "kind per_job"),
        ({"fidelity": {"kind": "prefix"}}, "no argument for small jobs"),
    ],
)
def test_what_cannot_be_raced_for_is_refused(given, said):
    with pytest.raises(UserError, match=said):
        race(Curves(good=(0.2, 0.02), bad=(0.9, 0.03)), **given)


def test_killed_at_any_record_it_goes_on_as_if_it_had_not_been(tmp_path):
    curves = Curves(good=(0.2, 0.02), near=(0.21, 0.02), bad=(0.9, 0.03))
    kill_and_resume(lambda journal, folder: race(curves, journal)[1], tmp_path, every=7)
