"""Population-based training: who gives way, what is copied, and how it is changed."""

from __future__ import annotations

from benchmarking.controller.method import Decision, Evaluation
from benchmarking.methods.registry import build_method
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.methods.method_experiments import benchmark, experiment


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


def test_nobody_gives_way_before_the_end_of_an_interval_nor_at_the_end():
    arguments = {"perturbation_interval": 3, "population_size": 2}
    method = build_method("PBT", benchmark(), 0, arguments, region="us-east-1")
    leader, laggard = (Evaluation(number, method.suggest().configuration) for number in range(2))
    for member in (leader, laggard):
        method.on_trial_add(member)
    said = {}
    for epoch in range(1, 10):
        said[epoch] = [method.on_trial_result(member, {"loss": loss, "epoch": epoch}) for member, loss in ((leader, 1.0), (laggard, 2.0))]
        assert said[epoch][0] is Decision.CONTINUE
    # The ninth epoch is the last, where whoever lags is through as well.
    assert [epoch for epoch, decisions in said.items() if decisions[1] is Decision.STOP] == [3, 6]


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
