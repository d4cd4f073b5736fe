"""Successive halving: its rungs, its decisions against Syne Tune's on one stream, promotions, several objectives."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from benchmarking.controller.method import Decision, Evaluation
from benchmarking.methods.asha import MultiObjectiveHalving, SuccessiveHalving
from benchmarking.methods.registry import build_method
from benchmarking.methods.rungs import choose_bracket
from definitions.errors import UserError
from definitions.schema import Budget
from tests.benchmarking.experiments import MemoryJournal
from tests.benchmarking.methods.method_experiments import Curves, benchmark, context, experiment, loss_of


def progressive(full):
    return {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": full}


def asha(method="ASHA", objectives=None, full=27, seed=0, **arguments):
    return build_method(
        method, benchmark(fidelity=progressive(full), objectives=objectives or {"loss": "min"}), seed, arguments, region="us-east-1"
    )


def stream(trials, full, seed, at_once=4):
    """Yield (trial, level, loss) as `at_once` workers would report them; `stop` sent back ends a trial."""
    source = random.Random(seed)
    running, next_trial = {}, 0
    while next_trial < trials or running:
        while len(running) < at_once and next_trial < trials:
            running[next_trial], next_trial = [0, source.random()], next_trial + 1
        trial = source.choice(list(running))
        running[trial][0] += 1
        level, quality = running[trial]
        stop = yield trial, level, quality + source.gauss(0, 0.1) + 1 / level
        if stop or level == full:
            del running[trial]


def drive(decide, trials, full, seed):
    made, decisions = stream(trials, full, seed), []
    sent = None
    while True:
        try:
            trial, level, loss = made.send(sent)
        except StopIteration:
            return decisions
        stopped = decide(trial, level, loss)
        decisions.append((trial, level, stopped))
        sent = stopped


@pytest.mark.parametrize("factor", [3.0, 2.0, 1.5, 4.0])
@pytest.mark.parametrize("mode", ["min", "max"])
def test_the_stopping_type_decides_as_syne_tune_on_the_same_stream(factor, mode):
    from syne_tune.backend.trial_status import Trial
    from syne_tune.config_space import uniform
    from syne_tune.optimizer.baselines import ASHA

    sign = 1 if mode == "min" else -1
    ours = asha(objectives={"loss": mode}, reduction_factor=factor)
    theirs = ASHA({"x": uniform(0, 1)}, metric="loss", time_attr="epoch", max_t=27, do_minimize=mode == "min", reduction_factor=factor)
    known = set()

    def by_ours(trial, level, loss):
        if ("o", trial) not in known:
            known.add(("o", trial))
            ours.on_trial_add(Evaluation(trial, {"x": 0.5}))
        return ours.on_trial_result(Evaluation(trial, {"x": 0.5}), {"loss": sign * loss, "epoch": level}) is Decision.STOP

    def by_theirs(trial, level, loss):
        theirs_trial = Trial(trial, {"x": 0.5}, None)
        if ("t", trial) not in known:
            known.add(("t", trial))
            theirs.on_trial_add(theirs_trial)
        # At the last level it says STOP where we let the script end by itself.
        return theirs.on_trial_result(theirs_trial, {"loss": sign * loss, "epoch": level}) == "STOP" and level < 27

    decisions = drive(by_ours, 150, 27, seed=3)
    assert decisions == drive(by_theirs, 150, 27, seed=3)
    assert 50 < sum(stopped for *_, stopped in decisions) < 150


def test_a_report_below_a_level_that_was_seen_decides_nothing():
    method = asha()
    for trial in range(6):
        method.on_trial_add(Evaluation(trial, {}))
        method.on_trial_result(Evaluation(trial, {}), {"loss": float(trial), "epoch": 3})
    assert method.on_trial_result(Evaluation(5, {}), {"loss": 99.0, "epoch": 1}) is Decision.CONTINUE
    # Had it counted, the next one at that level would be the worse of two.
    method.on_trial_add(Evaluation(6, {}))
    assert method.on_trial_result(Evaluation(6, {}), {"loss": 100.0, "epoch": 1}) is Decision.CONTINUE


def test_after_a_retry_the_rungs_hear_no_level_twice():
    journal = MemoryJournal()
    run = experiment(benchmark(budget=Budget(max_num_trials=20, max_failures=20)), journal, failure_rate=0.4, seed=2)
    run.run()
    told = [(r.body["evaluation"], r.body["level"]) for r in journal.records() if r.kind == "tell" and r.body["call"] == "result"]
    assert max(trial.starts for trial in run.state.trials.values()) > 1
    assert len(told) == len(set(told))


def test_nan_reported_at_a_rung_is_not_told_and_the_others_are_judged_as_without_it():
    table = Curves(values={(width, 1): {"loss": math.nan} for width in range(1, 65, 2)})
    journal = MemoryJournal()
    run = experiment(benchmark(budget=Budget(max_num_trials=20)), journal, table=table)
    run.run()
    told = [r.body for r in journal.records() if r.kind == "tell" and r.body["call"] == "result" and r.body["level"] == 1]
    odd = {key for key, evaluation in run.state.evaluations.items() if evaluation.configuration["width"] % 2}
    assert odd
    assert {body["evaluation"] for body in told} == set(run.state.evaluations) - odd
    stopped = [trial for trial in run.state.trials.values() if trial.status == "stopped"]
    best = min(run.state.trials.values(), key=lambda trial: loss_of(trial.configuration, 9))
    assert stopped
    assert best not in stopped


def test_promotion_goes_on_with_the_best_of_each_rung_from_its_checkpoint():
    journal = MemoryJournal()
    run = experiment(benchmark(budget=Budget(max_num_trials=18)), journal, arguments={"type": "promotion"}, n_workers=3)
    run.run()
    levels = Counter(max(r["epoch"] for r in [trial.last]) for trial in run.state.trials.values())
    assert levels[1] >= 9  # half and more are paused at the first rung
    assert levels[9] >= 1
    starts = [r.body for r in journal.records() if r.kind == "start"]
    resumed = [body for body in starts if body["attempt"] > 1]
    assert resumed
    assert all(body["restore_from"] == f"trial-{body['trial']}" for body in resumed)
    epochs = [(r.body["job"].split("-")[1], r.body["metrics"]["epoch"]) for r in journal.records() if r.kind == "reported"]
    assert len(epochs) == len(set(epochs))  # nothing is trained twice
    at_first = sorted(run.state.trials.values(), key=lambda trial: loss_of(trial.configuration, 1))
    assert at_first[0].last["epoch"] > 1


def test_promotions_go_on_when_all_trials_are_started_or_the_space_is_exhausted():
    space = {"lr": 0.01, "width": {"choice": [10, 20, 30, 40, 50, 60]}, "act": "relu"}
    for changes in ({"budget": Budget(max_num_trials=6)}, {"budget": Budget()}):
        run = experiment(benchmark(space=space, **changes), MemoryJournal(), arguments={"type": "promotion"}, n_workers=6)
        run.run()
        reached = {trial.configuration["width"]: trial.last["epoch"] for trial in run.state.trials.values()}
        assert len(reached) == 6
        assert reached[40] > 1
        assert sum(epoch > 1 for epoch in reached.values()) == 2


def test_moasha_stops_what_is_dominated_where_syne_tune_does_not():
    """Two objectives that agree are a plain order: the better third must go on. Syne Tune takes a sort order for ranks."""
    import numpy as np
    from syne_tune.optimizer.schedulers.asha import Bracket
    from syne_tune.optimizer.schedulers.multiobjective.multiobjective_priority import NonDominatedPriority

    source = np.random.RandomState(0)
    values = [float(value) for value in source.rand(60)]
    theirs = Bracket(1, 9, 3, 0, NonDominatedPriority())
    by_theirs = [theirs.on_result(k, 1, {"a": value, "b": value}) == "STOP" for k, value in enumerate(values)]
    ours = asha("MOASHA", {"loss": "min", "speed": "max"})
    for k in range(60):
        ours.on_trial_add(Evaluation(k, {}))
    results = [{"loss": value, "speed": -value, "epoch": 1} for value in values]
    by_ours = [ours.on_trial_result(Evaluation(k, {}), result) is Decision.STOP for k, result in enumerate(results)]
    right = [sum(other < value for other in values[: k + 1]) / (k + 1) > 1 / 3 for k, value in enumerate(values)]
    assert by_ours == right
    assert sum(a != b for a, b in zip(by_theirs, right, strict=True)) > 10


def test_moasha_is_decided_by_its_seed_where_syne_tune_is_not():
    from syne_tune.config_space import uniform
    from syne_tune.optimizer.schedulers.multiobjective.moasha import MOASHA

    theirs = [MOASHA({"x": uniform(0, 1)}, metrics=["a", "b"], random_seed=1).suggest().config for _ in range(2)]
    assert theirs[0] != theirs[1]
    ours = [asha("MOASHA", {"loss": "min", "speed": "max"}, seed=1).suggest().configuration for _ in range(2)]
    assert ours[0] == ours[1]


def test_a_report_that_lacks_an_objective_is_not_compared():
    method = asha("MOASHA", {"loss": "min", "speed": "max"})
    method.on_trial_add(Evaluation(0, {}))
    assert method.on_trial_result(Evaluation(0, {}), {"loss": 1.0, "epoch": 1}) is Decision.CONTINUE
    # Had it counted, the next one would be dominated.
    method.on_trial_add(Evaluation(1, {}))
    assert method.on_trial_result(Evaluation(1, {}), {"loss": 2.0, "speed": 1.0, "epoch": 1}) is Decision.CONTINUE


def test_a_late_secondary_objective_is_no_hindrance():
    run = experiment(benchmark(objectives={"loss": "min", "cost_usd": "min"}, budget=Budget(max_num_trials=15)), MemoryJournal())
    run.run()
    assert sum(trial.status == "stopped" for trial in run.state.trials.values()) >= 4


@pytest.mark.parametrize(("method", "arguments"), [("ASHA", {"type": "promotion"}), ("PBT", {})])
def test_pausing_on_a_back_end_without_checkpoints_is_told_before_the_start(method, arguments):
    from dataclasses import replace

    from backends.simulated.backend import SimulatedBackend

    class Forgetful(SimulatedBackend):
        capabilities = replace(SimulatedBackend.capabilities, checkpoints=False)

    with pytest.raises(UserError, match=f"method {method} goes on from checkpoints[\\s\\S]*keeps none"):
        experiment(benchmark(), MemoryJournal(), method, arguments=arguments, backend=Forgetful(Curves()))
    experiment(benchmark(), MemoryJournal(), "ASHA", backend=Forgetful(Curves()))


@pytest.mark.parametrize(("type", "while_running"), [("stopping", True), ("promotion", False)])
def test_an_exhausted_space_waits_for_what_may_yet_make_room_for_a_paused_one(type, while_running):
    method = build_method(
        "ASHA", benchmark(space={"lr": 0.01, "width": {"choice": [10, 20]}, "act": "relu"}), 0, {"type": type}, region="us-east-1"
    )
    for number in range(2):
        assert method.ready()
        method.on_trial_add(Evaluation(number, method.suggest().configuration))
    assert method.ready() is while_running
    method.on_trial_complete(Evaluation(0, {}), {"loss": 1.0, "epoch": 9})
    assert method.ready() is while_running
    method.on_trial_complete(Evaluation(1, {}), {"loss": 1.0, "epoch": 9})
    assert method.ready()
    assert method.suggest() is None


def test_the_highest_rung_is_promoted_first_and_the_lower_bracket_of_two():
    method = asha("ASHA", type="promotion", rungs=[1, 3, 9], brackets=2, reduction_factor=2)
    at = {}
    for number in range(60):
        method.on_trial_add(Evaluation(number, {"number": number}))
        at.setdefault(choose_bracket(method.brackets, 0, number), []).append(number)
    # Two at a rung make room for the better one, which comes first and is paused as one alone has no half.
    for bracket, first, epoch in ((0, 0, 1), (1, 0, 3), (0, 2, 3)):
        for loss, number in enumerate(at[bracket][first : first + 2]):
            assert method.on_trial_result(Evaluation(number, {}), {"loss": float(loss), "epoch": epoch}) is Decision.PAUSE
    found = [method.resume_only().resume for _ in range(3)]
    assert found == [at[0][2], at[1][0], at[0][0]]
    assert method.resume_only() is None


def test_classes_carry_their_names():
    assert (SuccessiveHalving.title, MultiObjectiveHalving.title) == ("ASHA", "MOASHA")
    assert context().fidelity.full == 9
