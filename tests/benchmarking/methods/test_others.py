"""Median stopping, population-based training, arguments of methods, and methods that fail."""

from __future__ import annotations

import statistics

import pytest

from benchmarking.controller.method import Decision, Evaluation, Method, Suggestion
from benchmarking.controller.method_adapter import MethodError
from benchmarking.methods.registry import BUILT_IN, build_method, method_factory
from definitions.errors import UserError
from definitions.schema import Budget
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.methods.method_experiments import benchmark, experiment


def test_median_stopping_stops_what_is_worse_than_the_median_of_running_averages():
    method = build_method("MSR", benchmark(), 0, {}, region="us-east-1")
    for trial in range(20):
        method.on_trial_add(Evaluation(trial, {}))
    decisions = []
    averages = []
    for trial, value in enumerate([5, 1, 4, 2, 8, 3, 9, 0, 7, 6]):
        for level in (1, 2):
            decision = method.on_trial_result(Evaluation(trial, {}), {"loss": float(value + 2 * level), "epoch": level})
        averages.append(value + 3.0)
        smaller = sum(other < averages[-1] for other in averages)
        assert decision == (Decision.STOP if len(averages) >= 5 and smaller / len(averages) > 0.5 else Decision.CONTINUE)
        decisions.append(decision)
    assert decisions.count(Decision.STOP) == 4
    assert statistics.median(averages) == 7.5


def test_population_based_training_copies_the_leaders_checkpoint():
    journal = MemoryJournal()
    run = experiment(benchmark(), journal, "PBT", arguments={"perturbation_interval": 2}, n_workers=4)
    run.run()
    copies = [r.body for r in journal.records() if r.kind == "suggest" and "checkpoint_from" in r.body]
    assert copies
    assert len(copies) <= sum(trial.status == "stopped" for trial in run.state.trials.values())
    starts = {r.body["evaluation"]: r.body for r in journal.records() if r.kind == "start"}
    first_epochs = {}
    for record in journal.records():
        if record.kind == "reported":
            first_epochs.setdefault(record.body["job"], record.body["metrics"]["epoch"])
    for body in copies:
        assert body["checkpoint_from"] != body["evaluation"]
        start = starts[body["evaluation"]]
        assert start["restore_from"] == f"trial-{body['checkpoint_from']}"
        assert first_epochs[start["job"]] > 1
        parent = run.state.evaluations[body["checkpoint_from"]].configuration
        assert body["configuration"] != parent


def test_only_the_worst_quarter_gives_way():
    """Of eight members two are the worst quarter; the third from the end goes on."""
    method = build_method("PBT", benchmark(), 0, {"perturbation_interval": 2, "population_size": 8}, region="us-east-1")
    members = [Evaluation(number, method.suggest().configuration) for number in range(8)]
    for member in members:
        method.on_trial_add(member)
    decisions = [method.on_trial_result(member, {"loss": float(8 - member.id), "epoch": 2}) for member in members]
    assert decisions == [Decision.CONTINUE] * 8  # each was better than those before it
    decisions = [method.on_trial_result(member, {"loss": float(8 - member.id), "epoch": 4}) for member in members[::-1]]
    assert decisions == [Decision.CONTINUE] * 6 + [Decision.STOP] * 2


def test_median_stopping_begins_at_its_grace_period():
    method = build_method("MSR", benchmark(), 0, {"grace_period": 2, "grace_population": 2}, region="us-east-1")
    for number in range(3):
        method.on_trial_add(Evaluation(number, {}))
    for level, expected in ((1, Decision.CONTINUE), (2, Decision.STOP)):
        for number in range(2):
            method.on_trial_result(Evaluation(number, {}), {"loss": float(number), "epoch": level})
        assert method.on_trial_result(Evaluation(2, {}), {"loss": 9.0, "epoch": level}) is expected


@pytest.mark.parametrize(("running_average", "decision"), [(True, Decision.STOP), (False, Decision.CONTINUE)])
def test_median_stopping_compares_a_mean_or_the_value_itself(running_average, decision):
    """The last one's level 1 was never told: its mean 7 is that of one report, and more than 5 and 6; 7 is less than 9 and 10."""
    method = build_method("MSR", benchmark(), 0, {"grace_population": 3, "running_average": running_average}, region="us-east-1")
    for number, losses in enumerate(({1: 1.0, 2: 9.0}, {1: 2.0, 2: 10.0})):
        for level, loss in losses.items():
            assert method.on_trial_result(Evaluation(number, {}), {"loss": loss, "epoch": level}) is Decision.CONTINUE
    assert method.on_trial_result(Evaluation(2, {}), {"loss": 7.0, "epoch": 2}) is decision


def test_median_stopping_lets_what_is_at_the_full_level_finish():
    method = build_method("MSR", benchmark(), 0, {"grace_population": 1}, region="us-east-1")
    for loss in (1.0, 2.0, 3.0):
        assert method.on_trial_result(Evaluation(int(loss), {}), {"loss": loss, "epoch": 9}) is Decision.CONTINUE
    assert method.on_trial_result(Evaluation(4, {}), {"loss": 1.0, "epoch": 8}) is Decision.CONTINUE
    assert method.on_trial_result(Evaluation(5, {}), {"loss": 2.0, "epoch": 8}) is Decision.CONTINUE  # 1 of 2 is less: the median
    assert method.on_trial_result(Evaluation(6, {}), {"loss": 3.0, "epoch": 8}) is Decision.STOP


def copies(resample_probability, seeds=40):
    """Return the changed copies of one known leader, each made with a seed of its own."""
    found = []
    for seed in range(seeds):
        arguments = {"perturbation_interval": 2, "population_size": 2, "resample_probability": resample_probability}
        points = ({"lr": 0.01, "width": 40, "act": "relu"},)
        method = build_method("PBT", benchmark(points_to_evaluate=points), seed, arguments, region="us-east-1")
        leader, laggard = (Evaluation(number, method.suggest().configuration) for number in range(2))
        for member, loss in ((leader, 1.0), (laggard, 2.0)):
            method.on_trial_add(member)
            decision = method.on_trial_result(member, {"loss": loss, "epoch": 2})
        assert decision is Decision.STOP
        suggestion = method.suggest()
        assert suggestion.checkpoint_from == 0
        found.append(suggestion.configuration)
    return found


def test_a_copy_is_four_fifths_or_six_fifths_of_the_leader():
    found = copies(0)
    assert {round(one["lr"], 9) for one in found} == {0.008, 0.012}
    assert {one["width"] for one in found} == {32, 48}
    assert {one["act"] for one in found} == {"relu"}  # in no order, so that there is no step


def test_a_copy_may_be_drawn_anew_throughout():
    found = copies(1)
    assert len({one["lr"] for one in found}) == 40
    assert min(one["lr"] for one in found) < 1e-3 < 1e-1 < max(one["lr"] for one in found)
    assert {one["act"] for one in found} == {"relu", "tanh", "gelu"}


def test_one_dimension_in_four_is_drawn_anew_by_default():
    drawn = sum(round(one["lr"], 9) not in (0.008, 0.012) for one in copies(0.25, 200))
    assert 25 < drawn < 75


def test_what_has_finished_is_not_copied():
    method = build_method("PBT", benchmark(), 0, {"perturbation_interval": 2, "population_size": 2}, region="us-east-1")
    leader, laggard = Evaluation(0, method.suggest().configuration), Evaluation(1, method.suggest().configuration)
    method.on_trial_add(leader)
    method.on_trial_add(laggard)
    method.on_trial_result(leader, {"loss": 1.0, "epoch": 8})
    assert method.on_trial_result(laggard, {"loss": 2.0, "epoch": 2}) is Decision.STOP
    method.on_trial_remove(laggard)
    method.on_trial_result(leader, {"loss": 1.0, "epoch": 9})
    suggestion = method.suggest()
    assert suggestion.checkpoint_from is None
    assert suggestion.configuration != leader.configuration


def test_population_is_no_larger_than_asked_for():
    most = 0

    def watch(record, state):
        nonlocal most
        most = max(most, state.busy)

    arguments = {"perturbation_interval": 2, "population_size": 3}
    experiment(benchmark(), MemoryJournal(), "PBT", arguments=arguments, n_workers=8, observers=(watch,)).run()
    assert most == 3


@pytest.mark.parametrize(
    ("method", "arguments", "says"),
    [
        ("ASHA", {"bracket": 2}, r"method ASHA: there is no argument 'bracket'[\s\S]*did you mean 'brackets'"),
        ("ASHA", {"brackets": 1.5}, "brackets = 1.5[\\s\\S]*a whole number from 1 up"),
        ("ASHA", {"brackets": True}, "brackets = True"),
        ("ASHA", {"type": "promote"}, "one of stopping, promotion"),
        ("ASHA", {"reduction_factor": 1}, "a number above 1"),
        ("ASHA", {"rungs": [3, 1]}, "ascending numbers above 0"),
        ("PBT", {"quantile_fraction": 0.7}, "from 0.01 to 0.5"),
        ("PBT", {"perturbation_interval": 9}, "not below the full level 9"),
        ("RS", {"points_to_evaluate": 3}, "a list of configurations"),
        ("TPE", {"num_candidates": "many"}, "num_candidates = 'many'"),
        ("BO", {"init_random": float("inf")}, "init_random = inf"),
        ("LISTED", {"points": 3}, "there is no argument 'points'"),
    ],
)
def test_wrong_arguments_are_told_before_the_start(method, arguments, says):
    made = benchmark(space={}, trials=({"x": 1},)) if method == "LISTED" else benchmark()
    with pytest.raises(UserError, match=says):
        build_method(method, made, 0, arguments, region="us-east-1")


def test_variants_and_the_command_line_reach_a_method():
    made = benchmark(methods={"ASHA3": {"base": "ASHA", "brackets": 2, "rungs": [1, 2, 4]}})
    assert build_method("ASHA3", made, 0, {}, region="us-east-1")._brackets == [(1, 2, 4), (2, 4)]
    assert build_method("ASHA3", made, 0, {"brackets": 3}, region="us-east-1")._brackets[2] == (4,)
    assert build_method("ASHA", made, 0, {"rungs": 5}, region="us-east-1")._brackets == [(5,)]
    assert build_method("ASHA3", made, 0, {}, region="us-east-1").name == "ASHA3"


def test_every_built_in_method_says_what_it_takes():
    for name, factory in BUILT_IN.items():
        for argument, declared in method_factory(factory).arguments.items():
            assert declared.help, (name, argument)
            if declared.default not in (None, ()):
                assert declared.read(declared.default) == declared.default


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
        MethodError, match=f"method Failing failed in {call}: {error}[\\s\\S]*what was measured is kept.*test_others.py"
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
