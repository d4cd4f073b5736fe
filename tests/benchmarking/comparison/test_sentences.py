"""Verdicts word for word."""

from __future__ import annotations

from dataclasses import replace

from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import Axis
from benchmarking.comparison.sentences import budget, times_better, verdicts
from tests.benchmarking.comparison.made_runs import compared, run, several


def said(runs, **question):
    return verdicts(compared(runs, ComparisonQuestion(**question)))


RS = several("RS", [2.0, 2.001, 2.002, 2.003, 2.004, 2.005])


def test_better_and_worse_begin_with_who_is_better():
    six = [1.0, 1.02, 0.98, 1.005, 1.01, 0.99]
    assert said([*RS, *several("TPE", six)])[0].startswith("TPE is better than RS: loss 2 times better after 2 trials (95 % interval 1.9")
    assert said([*RS, *several("TPE", six)])[0].endswith(", 6 pairs, p = 0.031).")
    doubled = [4.0, 4.08, 3.92, 4.02, 4.04, 3.96]
    assert said([*RS, *several("TPE", doubled)])[0].startswith(
        "RS is better than TPE: loss 2 times better after 2 trials (95 % interval 1.9"
    )


def test_a_tie_and_one_run():
    (tie,) = said([*RS, *several("TPE", [2.001, 2.0, 2.003, 2.002, 2.005, 2.004])])
    assert tie.startswith("TPE and RS: a tie in loss after 2 trials (95 % interval -0.045 % to 0.045 %, 6 pairs")
    (tie,) = said([*RS, *several("TPE", [2.003, 2.002, 2.005, 2.004, 2.006, 2.009])], threshold=0.01)
    assert tie.startswith("TPE and RS: a tie in loss after 2 trials (TPE worse by 0.12 %; 95 % interval 0.")
    assert said([*several("RS", [2.0]), *several("TPE", [1.0])]) == [
        "TPE and RS: one run only (TPE has 1, RS 1, in common 1), so nothing is said of loss; more seeds would."
    ]


def test_a_lead_in_per_cent_has_its_interval_in_per_cent_and_far_ends_as_factors():
    (line,) = said([*RS, *several("TPE", [1.5, 2.6, 2.1, 1.9, 2.3, 1.8])])
    assert "(TPE better by 0.015 %; 95 % interval -18 % to 24 %, 6 pairs" in line
    line = said([*RS, *several("TPE", [2.0025 * factor for factor in (1.01, 4, 0.25, 3, 1 / 3, 1)])])[0]
    assert "(TPE worse by 0.17 %; 95 % interval of the factor 0." in line


def test_not_decided_says_how_many_seeds_would():
    lines = said([*several("RS", [2.0, 2.1, 1.9]), *several("TPE", [1.0, 1.1, 0.9])])
    assert lines[0].startswith("TPE and RS: not decided in loss after 2 trials, about 6 seeds would decide (TPE 2")
    assert lines[0].endswith("3 pairs, too few for a test).")


def test_of_a_lead_that_does_not_matter_the_seeds_that_would_show_a_tie_are_said():
    (line,) = said([*RS, *several("TPE", [2.05, 1.99, 2.03, 1.96, 2.01, 2.0])])
    assert line.startswith("TPE and RS: not decided in loss after 2 trials, about ")
    assert " seeds would show a tie (TPE worse by 0.2" in line


def test_who_was_sooner_is_said_with_who_never_came_there():
    slow = [run("RS", number, [9.0, 8.0, 7.0, 3.0 + 0.1 * number]) for number in range(6)]
    quick = [run("TPE", number, [1.0 + 0.1 * number, 1.0, 1.0, 1.0 + 0.01 * number]) for number in range(6)]
    lines = said([*slow, *quick], axis=Axis.WALLCLOCK)
    assert lines[1].startswith(
        "TPE reached 3.250 at least 4 times sooner than RS (95 % interval 4.000 to 4.000, 6 pairs, p = 0.031; 3 of 6 seeds of RS never did)"
    )


def test_budgets_in_words():
    assert budget(compared([run("RS", 0, [1.0, 1.0])], ComparisonQuestion())) == "after 2 trials"
    assert budget(compared([run("RS", 0, [1.0, 1.0])], ComparisonQuestion(axis=Axis.COST))) == "after $0.020"
    assert budget(compared([run("RS", 0, [1.0], seconds=300.0)], ComparisonQuestion(axis=Axis.WALLCLOCK))) == "after 5 min 0 s"
    assert budget(compared([run("RS", 0, [1.0], seconds=0.115)], ComparisonQuestion(axis=Axis.WALLCLOCK))) == "after 0.115 s"


def test_what_is_left_out_is_said():
    lines = said([*several("RS", [2.0, 2.1]), run("TPE", 0, []), run("TPE", 1, [9.0, 1.0])])
    assert "TPE had no result after 2 trials with seed 0: left out." in lines
    copied = said([run("GRID", 0, [1.0]), run("GRID", 1, [1.0]), run("RS", 0, [2.0])])
    assert "GRID ran exactly the same with seeds 0, 1: counted once." in copied


def test_a_small_lead_is_said_in_per_cent():
    assert [times_better(factor) for factor in (2.0, 1.05, 1.0072, 1.0005)] == [
        "2 times better", "1.05 times better", "better by 0.72 %", "better by 0.05 %",
    ]  # fmt: skip


def test_pairs_that_are_all_equal_have_no_lead_and_no_interval():
    shifted = [run("TPE", number, [8.0, final]) for number, final in enumerate([2.0, 2.1, 2.3])]
    lines = said([*several("RS", [2.0, 2.1, 2.3]), *shifted])
    assert lines == [
        "TPE and RS: not decided in loss after 2 trials, about 6 seeds would show a tie (no lead; all equal, 3 pairs, too few for a test)."
    ]


def test_whose_end_cut_the_others_short_is_said_with_why_it_ended():
    short = replace(run("TPE", 1, [3.0, 2.0]), ended="its failure budget is spent", ended_by="failures")
    runs = [run("RS", 0, [3.0] * 9), run("RS", 1, [3.0] * 8), run("TPE", 0, [3.0] * 9)]
    (line,) = [line for line in said([*runs, short]) if "least far" in line]
    assert line == (
        "TPE x seed 1 of t went least far (failures), so all are compared at 2 trials: 3 others went further, half of them to 9 trials "
        "or more (see --at)."
    )
    (line,) = [line for line in said([run("RS", 0, [3.0] * 9), replace(short, ended="", ended_by="")]) if "least far" in line]
    assert line == (
        "TPE x seed 1 of t went least far (it runs, or was killed), so all are compared at 2 trials: another went to 9 trials or "
        "more (see --at)."
    )
