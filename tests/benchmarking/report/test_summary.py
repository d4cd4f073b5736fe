import math

from backends.failures import Cause
from benchmarking.analysis.stand_ins import StandIns
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.rows import StateSetup, TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.report.summary import keys_shown, summarise
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec


def experiment(runs, objectives=None, **more):
    """`runs`: per configuration the values of its repeats; None for a trial that failed."""
    objectives = objectives or {"loss": "min"}
    state = ExperimentState(StateSetup(objectives=objectives))
    for evaluation, values in enumerate(runs):
        for repeat, value in enumerate(values):
            number = len(state.trials)
            metrics = value if isinstance(value, dict) else {"loss": value}
            trial = TrialState(
                number, evaluation, TrialSpec({"x": evaluation * 10, "fixed": 1}, repeat=repeat), status=TrialStatus.COMPLETED
            )
            if value is None:
                trial.status, trial.cause, trial.message = TrialStatus.FAILED, Cause.SCRIPT_ERROR, "KeyError: 'x'"
                state.failures.append((trial.cause, trial.message))
            else:
                trial.last.update(metrics)
                trial.cost_usd = metrics.get("cost_usd", 0.0)
            state.trials[number] = trial
    for name, value in more.items():
        setattr(state, name, value)
    return summarise(state, objectives, "nominal")


def test_nothing_started():
    summary = experiment([])
    assert (summary.verdict, summary.table, summary.best) == ("No trial was completed, so there is no verdict on loss.", "", None)


def test_nothing_completed_names_the_failure():
    summary = experiment([[None], [None]])
    assert summary.verdict.splitlines() == [
        "No trial was completed, so there is no verdict on loss.",
        "2 of 2 trials failed; the last: KeyError: 'x'",
    ]
    assert "failed (script_error)" in summary.table
    assert summary.best is None


def test_one_completed():
    summary = experiment([[0.5]])
    assert summary.verdict == "Only configuration 0 (x=0 fixed=1) was completed: loss = 0.5000."
    assert summary.best == 0.5


def test_measured_once_says_so():
    verdict = experiment([[0.5], [0.25], [1.0]]).verdict
    assert verdict.startswith("Best seen: configuration 1 (x=10): loss = 0.2500, 2.00x better than configuration 0.")
    assert "measured once" in verdict
    assert "--repeats 3" in verdict


def test_decided_has_factor_and_interval():
    summary = experiment([[2.0, 2.02, 1.98], [1.0, 1.01, 0.99], [4.0, 4.04, 3.96]])
    assert summary.verdict == (
        "Best: configuration 1 (x=10): loss = 1.000, 2.00x better than the next, configuration 0 (95 % interval 1.95 to 2.05)."
    )
    assert summary.best == 1.0


def test_not_decided():
    verdict = experiment([[1.0, 1.2, 0.8], [1.1, 0.9, 1.2]]).verdict
    assert verdict.startswith(
        "Not decided: configuration 0 (x=0) leads with loss = 1.000, but its lead over every other lies within the noise (1.0"
    )
    assert verdict.endswith("About 99 repeats of each would tell these two apart.")


def test_partly_decided_names_both_sides():
    verdict = experiment([[1.0, 1.01, 0.99], [1.005, 1.0, 1.02], [3.0, 3.03, 2.97]]).verdict
    assert verdict.startswith("Configuration 0 (x=0) leads: loss = 1.000. It is 3.00x better than configuration 2 (95 % interval ")
    assert "; against 1 it is not decided (nearest: 1.01x better (95 % interval 0." in verdict


def test_a_farther_configuration_measured_once_can_still_be_undecided():
    runs = [[1.0, 1.06, 0.94] * 8, [1.08, 1.14, 1.02] * 8, [1.081]]
    verdict = experiment(runs).verdict
    assert verdict.startswith("Configuration 0 (x=0) leads")
    assert "It is 1.08x better than configuration 1 (95 % interval 1.0" in verdict
    assert "against 2 it is not decided (nearest: 1.08x better (95 % interval 0.9" in verdict


def test_values_below_zero_are_told_by_difference():
    verdict = experiment([[-1.0, -1.01], [-0.5, -0.51]]).verdict
    assert "0.5000 better than the next, configuration 1 (95 % interval 0.4" in verdict


def test_not_finite_results_and_failed_repeats_do_not_count():
    summary = experiment([[1.0, None], [2.0, math.nan]])
    assert "measured once" in summary.verdict
    assert "1 of 4 trials failed; the last: KeyError: 'x'" in summary.verdict
    first, second = summary.table.splitlines()[2:]
    assert first.split() == ["0", "0", "1.000", "1", "1", "completed,", "1", "failed", "(script_error)"]
    assert second.split() == ["1", "10", "2.000", "2", "completed"]


def test_other_ends_are_counted_apart():
    summary = experiment([[1.0], [1.0]], skipped=3, last_reason="x = 3 is odd")
    assert "3 suggested configurations cannot run and were skipped; the last: x = 3 is odd." in summary.verdict
    state = ExperimentState(StateSetup(objectives={"loss": "min"}))
    for number, status in enumerate([TrialStatus.INFEASIBLE, TrialStatus.DIVERGED, TrialStatus.DIVERGED]):
        state.trials[number] = TrialState(number, number, TrialSpec({"x": number}), status=status)
    lines = summarise(state, {"loss": "min"}).verdict.splitlines()[1:]
    assert lines == ["1 of 3 trials ran out of memory.", "2 of 3 trials diverged (an objective was not finite)."]


def test_prices_are_labelled_where_they_are_judged():
    objectives = {"cost_usd": "min"}
    verdict = experiment([[{"cost_usd": 0.5}], [{"cost_usd": 0.25}]], objectives).verdict
    assert "cost_usd = 0.2500 (nominal price)" in verdict


def test_the_front_of_two_objectives():
    objectives = {"loss": "min", "speed": "max"}
    runs = [[{"loss": 1.0, "speed": 10.0}], [{"loss": 2.0, "speed": 20.0}], [{"loss": 3.0, "speed": 5.0}]]
    summary = experiment(runs, objectives)
    assert "Not beaten in every objective (loss, speed): 0 (x=0), 1 (x=10)." in summary.verdict
    rows = [line.split() for line in summary.table.splitlines()]
    assert rows[0] == ["config", "x", "loss", "speed", "n", "status", "front"]
    assert [row[-1] for row in rows[2:]] == ["*", "*", "-"]


def test_the_table_is_ranked_and_at_most_a_dozen_rows():
    summary = experiment([[20.0 - k] for k in range(15)])
    lines = summary.table.splitlines()
    assert [int(line.split()[0]) for line in lines[2:-1]] == [14 - k for k in range(12)]
    assert lines[-1] == "... and 3 more"


def test_the_spread_of_repeats_is_relative_except_around_zero():
    table = experiment([[10.0, 11.0, 9.0], [-1.0, 1.0]]).table
    assert "10.00 ± 10 %" in table
    assert "0 ± 1.414" in table


def test_a_row_without_a_result_has_a_dash_and_what_never_differs_is_shown_up_to_four_keys():
    assert [line.split()[2] for line in experiment([[0.5], [None]]).table.splitlines()[2:]] == ["0.5000", "-"]
    keys = [{name: 1 for name in "edcba"}]
    assert keys_shown(keys, "abcde") == ["a", "b", "c", "d"]
    assert keys_shown([{**keys[0], "e": 2}, *keys], "abcde") == ["e"]


def test_stopped_and_paused_trials_show_what_they_reached_and_at_which_level():
    state = ExperimentState(StateSetup(objectives={"loss": "min"}, reported_level="epoch", full_level=9))
    for number, (status, last) in enumerate(
        [
            (TrialStatus.COMPLETED, {"loss": 0.25, "epoch": 9}),
            (TrialStatus.STOPPED, {"loss": 0.5, "epoch": 3}),
            (TrialStatus.PAUSED, {"loss": 0.75}),
            (TrialStatus.STOPPED, {}),
            (TrialStatus.FAILED, {"loss": 0.1, "epoch": 1}),
        ]
    ):
        state.trials[number] = TrialState(number, number, TrialSpec({"x": number}), status=status, last=dict(last))
    summary = summarise(state, {"loss": "min"})
    assert [" ".join(line.split()[2:-2]) for line in summary.table.splitlines()[2:]] == [
        "0.2500",
        "0.5000 at epoch 3",
        "0.7500 when paused",
        "-",
        "-",
    ]
    # They are shown, and never win.
    assert summary.verdict.startswith("Only configuration 0 (x=0) was completed")


def ingestions(objective, *given, modes=("file", "fastfile", "pipe")):
    """Return the summary of three measurements of each ingestion, whose values lie far apart."""
    state = ExperimentState(StateSetup(objectives={objective: "max"}))
    for evaluation, (ingestion, value) in enumerate(given):
        for repeat in range(3):
            number = len(state.trials)
            trial = TrialState(number, evaluation, TrialSpec({"ingestion": ingestion}, repeat=repeat), status=TrialStatus.COMPLETED)
            trial.last[objective] = value * (1 + 0.001 * repeat)
            state.trials[number] = trial
    return summarise(state, {objective: "max"}, "nominal", stood_in=StandIns(modes))


def test_an_emulation_is_labelled_and_decides_nothing_however_far_it_leads():
    summary = ingestions("samples_per_s", ("fastfile", 900.0), ("file", 100.0))
    assert summary.verdict.startswith("Not decided: emulated. Configuration 0 (ingestion=fastfile (emulated)) has samples_per_s = ")
    assert "fastfile (emulated)" in summary.table
    assert "file (emulated)" in summary.table
    assert summary.best_config == {"ingestion": "fastfile"}  # what runs again has no label


def test_real_ones_are_decided_beside_an_emulation():
    verdict = ingestions("samples_per_s", ("local", 900.0), ("s3_map", 100.0), ("pipe", 10.0)).verdict
    assert verdict.startswith("Best: configuration 0 (ingestion=local): samples_per_s = ")
    assert verdict.endswith(" Against 2 it is not decided: emulated.")


def test_what_takes_no_time_is_decided_through_an_emulation_too():
    assert ingestions("accuracy", ("fastfile", 0.9), ("file", 0.1)).verdict.startswith(
        "Best: configuration 0 (ingestion=fastfile (emulated))"
    )


def test_where_nothing_is_emulated_nothing_is_labelled():
    summary = ingestions("samples_per_s", ("fastfile", 900.0), ("file", 100.0), modes=())
    assert summary.verdict.startswith("Best: configuration 0 (ingestion=fastfile): ")
    assert "emulated" not in summary.table


def pipeline(rate, bound, util=0.5, disturbed=False):
    return {"samples_per_s": rate, "bound_by": bound, "accelerator_util": util, "disturbed": disturbed}


def test_bounds_and_utilisation_are_columns_where_they_are_known():
    runs = [[pipeline(100.0, "decode"), pipeline(101.0, "compute", 0.7)], [pipeline(50.0, "client"), pipeline(50.1, "client")]]
    summary = experiment(runs, {"samples_per_s": "max"})
    header, _, first, second = summary.table.splitlines()
    assert header.split()[2:] == ["samples_per_s", "accelerator_util", "bound_by", "n", "status"]
    assert "decode, compute" in first
    assert "0.6000 ± 24 %" in first
    assert "client" in second
    assert "bound_by" not in experiment([[0.5], [0.6]]).table


def test_how_many_accelerators_are_fed_is_in_the_table():
    table = experiment([[pipeline(100.0, "decode") | {"accelerators_fed": 2}]], {"samples_per_s": "max"}).table
    header, _, row = table.splitlines()
    assert header.split()[3:6] == ["samples_per_s", "accelerator_util", "accelerators_fed"]
    assert row.split()[5].startswith("2")


def test_disturbed_trials_are_marked_and_decide_nothing_alone():
    loud, quiet = {"disturbed": True}, {"disturbed": False}
    slow, fast = pipeline(50.0, "client"), pipeline(100.0, "decode")
    runs = [[fast | quiet, fast | loud, fast | quiet], [slow | loud, slow | loud, slow | loud]]
    summary = experiment(runs, {"samples_per_s": "max"})
    assert "completed, 1 disturbed" in summary.table
    assert "completed, 3 disturbed" in summary.table
    assert summary.verdict.startswith("Not decided: configuration 0")
    assert "4 of 6 trials were measured while something else used more than a tenth of a core" in summary.verdict
    # One quiet repeat of each is enough; what is no matter of time is not disturbed.
    runs[1][0] = slow | quiet
    assert experiment(runs, {"samples_per_s": "max"}).verdict.startswith("Best: configuration 0")
    assert experiment([[{"loss": 1.0} | loud] * 3, [{"loss": 2.0} | loud] * 3]).verdict.startswith("Best: configuration 0")


CEILINGS = {"ceiling_reader": 1000.0, "ceiling_decode": 200.0, "ceiling_compute": 300.0, "cores": 2, "cpu_s_per_sample": 0.0}


def advised(*given, **more):
    made = BenchmarkDefinition(name="b", script="s.py", space={"x": {"choice": [0, 10]}}, objectives={"samples_per_s": "max"})
    state = ExperimentState(StateSetup(objectives=made.objectives))
    for number, metrics in enumerate(given):
        trial = TrialState(number, number, TrialSpec({"x": number * 10}), status=TrialStatus.COMPLETED)
        trial.last.update(metrics)
        state.trials[number] = trial
    return summarise(state, made.objectives, "nominal", ["x"], definition=made).verdict.splitlines()


def test_advice_follows_for_the_leader_and_for_the_fastest_of_each_other_bound():
    option = {"change": {"loader_workers": 2}, "gain": 1.5, "low": 1.4, "high": 1.6, "then": "compute"}
    leader = pipeline(100.0, "decode") | CEILINGS | {"advice": "loader_workers=2: about 1.50 times as fast", "advice_options": [option]}
    other = pipeline(50.0, "client") | CEILINGS | {"advice": "the reader binds: shards in place of files", "advice_options": []}
    *_, first, second = advised(leader, other)
    assert first == (
        "Configuration 0 is bound by decode: loader_workers=2 is predicted to be 1.50 times as fast (1.06 to 2.12), then bound by compute; "
        "`outrider run --benchmark b --set x=0 loader_workers=2` tries it."
    )
    assert second == "The fastest that is bound by client, configuration 1 (x=10): the reader binds: shards in place of files."
    open_ = advised(pipeline(100.0, "not decided") | CEILINGS | {"advice": "nothing helps"})
    assert open_[-1] == "What binds configuration 0 is not decided: nothing helps."
    assert not any("bound by" in line for line in advised(pipeline(100.0, "")))


def test_where_the_time_of_calls_went_is_in_the_table_of_what_a_service_served():
    state = ExperimentState(StateSetup(objectives={"max_rate_per_s": "max"}))
    service = {"model_ms": {"mean": 3.0, "count": 9}, "overhead_ms": {"mean": 1.0, "count": 9}}
    state.trials[0] = TrialState(
        0,
        0,
        TrialSpec({"x": 1}),
        status=TrialStatus.COMPLETED,
        last={"max_rate_per_s": 50.0, "call_mean_ms": 8.0},
        usage={"service": service},
    )
    table = summarise(state, {"max_rate_per_s": "max"}, "nominal").table.splitlines()
    assert table[0].split()[3:7] == ["model_ms", "overhead_ms", "network_ms", "network_share"]
    assert table[2].split()[3:7] == ["3.000", "1.000", "4.000", "0.5000"]
    assert "by CloudWatch" in table[-1]


def test_what_is_a_circumstance_has_a_verdict_for_each_of_its_groups():
    definition = BenchmarkDefinition(
        name="b", script="a.py", space={"x": {"choice": [0, 10, 20, 30]}}, objectives={"loss": "min", "acc": "max"},
        compare_within={"x": {"small": [0, 10], "large": [20, 30]}},
    )  # fmt: skip
    state = ExperimentState(StateSetup(objectives=definition.objectives))
    for number, (loss, acc) in enumerate([(0.5, 0.1), (0.25, 0.2), (9.0, 0.3), (8.0, 0.2)]):
        trial = TrialState(number, number, TrialSpec({"x": number * 10}), status=TrialStatus.COMPLETED)
        trial.last.update(loss=loss, acc=acc)
        state.trials[number] = trial
    summary = summarise(state, definition.objectives, definition=definition)
    first, second, third = summary.verdict.splitlines()
    assert first.startswith("small: Best seen: configuration 1 (x=10): loss = 0.2500, 2.00x better than configuration 0.")
    assert second.startswith("large: Best seen: configuration 3 (x=30): loss = 8.000, 1.13x better than configuration 2.")
    assert third.startswith("large: Not beaten in every objective (loss, acc): 2 (x=20), 3 (x=30)")
    assert [line.split()[0] for line in summary.table.splitlines()[2:]] == ["1", "0", "3", "2"]
    assert [line.split()[-1] for line in summary.table.splitlines()[2:]] == ["*", "-", "*", "*"]
    assert summary.best_config == {"x": 10}


def test_a_rate_of_0_has_its_reason_below_the_table():
    state = ExperimentState(StateSetup(objectives={"max_rate_per_s": "max"}))
    for number, (rate, why) in enumerate([(0.0, "none of 30 calls was answered rightly (status_500)"), (50.0, "60/s failed")]):
        last = {"max_rate_per_s": rate, "why": why}
        state.trials[number] = TrialState(number, number, TrialSpec({"x": number}), status=TrialStatus.COMPLETED, last=last)
    table = summarise(state, {"max_rate_per_s": "max"}, "nominal").table.splitlines()
    assert table[-1] == "max_rate_per_s 0 of configuration 0: none of 30 calls was answered rightly (status_500)"
    assert not any("60/s failed" in line for line in table)
