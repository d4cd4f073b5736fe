"""The tables that a reader of the report has, the meaning of their words, and why nothing may be decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.comparison.document import COLUMNS, document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.page.comparison import about, comparison_section, why_undecided
from tests.benchmarking.comparison.made_runs import several

QUESTION = ComparisonQuestion(threshold=0.02)
SURE = [*several("RS", [2.0, 2.2, 1.8, 2.1, 1.9, 2.05]), *several("TPE", [1.0, 1.1, 0.9, 1.05, 0.95, 1.01])]


def section(runs):
    return comparison_section(document(runs, QUESTION), QUESTION)


def heads(table):
    return [column.label for column in table.columns]


def test_the_first_table_answers_which_is_better_and_the_second_how_soon():
    answer, how_soon = section(SURE).tables
    assert heads(answer) == ["benchmark", "method", "verdict", "value", "lead", "p value", "seeds"]
    assert heads(how_soon)[:4] == ["benchmark", "method", "reached the target", "time to target (s)"]
    assert heads(how_soon)[-1] == "regret"
    assert [column.label for column in answer.columns if column.ends] == ["value", "lead"]


def test_all_columns_of_the_csv_stand_folded():
    (whole,) = section(SURE).folded
    assert ([column.key for column in whole.columns], whole.csv_name) == ([*COLUMNS], "compare")


def test_words_that_occur_are_explained_with_the_threshold_and_better_always():
    terms = dict(section(SURE).terms)
    assert "beyond the threshold of 2 %" in terms["better"]
    assert {"tie", "one run only", "score (iqm)"} & terms.keys() == set()
    assert {"p value", "lead", "regret", "reached the target"} <= terms.keys()
    undecided = dict(section([*several("RS", [2.0, 2.2, 1.8]), *several("TPE", [1.9, 2.3, 1.7])]).terms)
    assert {"better", "not decided", "seeds that would decide"} <= undecided.keys()


def test_over_several_benchmarks_scores_are_explained_too():
    runs = [*SURE, *several("RS", [3.0, 3.1, 3.2], benchmark="c"), *several("TPE", [3.1, 3.0, 3.3], benchmark="c")]
    found = section(runs)
    assert heads(found.tables[-1])[:3] == ["method", "benchmarks", "score (iqm)"]
    assert "interquartile mean" in dict(found.terms)["score (iqm)"]
    assert found.notes[:2] == ["b: loss (less is better) after 2 trials.", "c: loss (less is better) after 2 trials."]


@pytest.mark.parametrize(("kind", "head"), [("nominal", "cost to target (nominal USD)"), ("real", "cost to target (USD)")])
def test_dollars_that_nobody_is_billed_are_called_so_at_their_head(kind, head):
    runs = [replace(run, facts={"dollars": kind}) for run in SURE]
    assert [label for table in section(runs).tables for label in heads(table) if label.startswith("cost to target")] == [head]


@pytest.mark.parametrize(
    ("seeds", "methods", "said"),
    [
        (2, ["TPE"], "With 2 pairs of seeds no lead can be called better, however large: their p value is 0.5 at least, and one comparison "
         "needs 0.05 or less. From 6 seeds on it can: `outrider run --resume t --num_seeds 6` adds them to the study."),
        (5, ["TPE"], "their p value is 0.062 at least"),
        (5, ["TPE", "BO", "ASHA"], "the first of 3 comparisons needs 0.017 or less. From 7 seeds on it can"),
        (6, ["TPE"], ""),
        (1, ["TPE", "BO"], "With 1 pair of seeds no lead can be called better, however large: their p value is 1 at least, and the first "
         "of 2 comparisons needs 0.025 or less. From 7 seeds on it can"),
    ],
)  # fmt: skip
def test_why_nothing_is_decided_is_said_where_the_seeds_could_not_decide_anything(seeds, methods, said):
    runs = several("RS", [2.0 + 0.1 * at for at in range(seeds)])
    for number, method in enumerate(methods):
        runs += several(method, [2.05 + 0.17 * number - 0.3 * (at % 2) + 0.001 * at for at in range(seeds)])
    found = why_undecided(document(runs, QUESTION))
    assert said in found
    assert bool(said) == bool(found)


def test_the_experiments_are_counted():
    assert about(SURE) == "12 experiments, 1 benchmark, 2 methods, 6 seeds."


def test_when_they_ran_is_said_unless_their_clock_was_a_virtual_one():
    spans = [(1_700_000_090.0, 1_700_003_600.0), (1_700_000_000.0, 1_700_000_030.0), (0.0, 5_000.0)]
    assert about(SURE[:1], spans) == "1 experiment, 1 benchmark, 1 method, 1 seed; 2023-11-14 22:13 to 23:13 UTC."
    assert about(SURE[:1], [(1_700_000_000.0, 1_700_086_400.0)]).endswith("; 2023-11-14 22:13 to 2023-11-15 22:13 UTC.")
    assert about(SURE[:1], spans[2:]) == "1 experiment, 1 benchmark, 1 method, 1 seed."


def test_what_methods_are_is_explained_before_the_other_words():
    found = comparison_section(document(SURE, QUESTION), QUESTION, {"RS": "random search"})
    assert found.terms[0] == ("RS", "random search")
