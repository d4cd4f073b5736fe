"""Each method against each other one, by studies that a reader works out by hand."""

from __future__ import annotations

import pytest

from benchmarking.analysis.effects import Word
from benchmarking.comparison.document import as_markdown, as_text, document
from benchmarking.comparison.matrix import counts_of, matrix_rows, words_of_pairs
from benchmarking.comparison.question import ComparisonQuestion
from tests.benchmarking.comparison.made_runs import several

QUESTION = ComparisonQuestion()


def around(value, seeds=8):
    return [value * (1 + 0.001 * seed) for seed in range(seeds)]


def compared(*groups):
    return document([run for group in groups for run in group], QUESTION)


# B needs half of what A needs on b; on c they are alike within the threshold, and C is there alone with one seed.
THREE = (
    several("A", around(2.0)), several("B", around(1.0)),
    several("A", around(1.0), "c"), several("B", around(1.0)[::-1], "c"), several("C", [5.0], "c"),
)  # fmt: skip


def test_a_win_of_one_is_a_loss_of_the_other():
    words = words_of_pairs(compared(*THREE).benchmarks, QUESTION)
    assert words["A", "B"] == ["lost", Word.TIE]
    assert words["B", "A"] == ["won", Word.TIE]
    assert words["A", "C"] == words["C", "B"] == [Word.ONE_RUN_ONLY]


def test_all_pairs_on_all_benchmarks_are_one_family():
    # Eight pairs of one sign have p = 1 / 128: times six it is below 5 %, times seven (of seven benchmarks) above.
    def wins(benchmarks):
        runs = [several(name, around(value), f"b{number}") for number in range(benchmarks) for name, value in (("A", 2.0), ("B", 1.0))]
        return matrix_rows(compared(*runs).benchmarks, QUESTION)[1]["A"]

    assert [wins(6), wins(7)] == ["6, 0, 0", "0, 0, 0 (7)"]


def test_counts_in_words():
    assert counts_of(["won", "won", "lost", "tie", "not decided", "same by construction"]) == "2, 1, 1 (2)"
    assert counts_of([]) == "-"


def test_the_document_has_it_in_each_form_where_there_are_several_benchmarks():
    found = compared(*THREE)
    assert found.matrix == [
        {"method": "A", "B": "0, 1, 1", "C": "0, 0, 0 (1)", "A": ""},
        {"method": "B", "A": "1, 1, 0", "C": "0, 0, 0 (1)", "B": ""},
        {"method": "C", "A": "0, 0, 0 (1)", "B": "0, 0, 0 (1)", "C": ""},
    ]
    assert "benchmarks won, tied, lost (neither)" in as_text(found)
    assert "| A |  | 0, 1, 1 |" in as_markdown(found).replace("-", "")
    assert compared(*THREE[:2]).matrix == []
    assert matrix_rows(compared(several("A", [1.0, 2.0])).benchmarks, QUESTION) == []


def test_the_profile_has_the_shares_of_runs_above_scores():
    # Of those that ran both: on b A has 1 and 0.75, B 0.5 and 0; on c A 1, B 0.
    found = compared(several("A", [1.0, 2.0]), several("B", [3.0, 5.0]), several("A", [7.0], "c"), several("B", [8.0], "c"))
    profile = {row["method"]: [value for name, value in row.items() if name != "method"] for row in found.profile}
    assert profile == {"A": [1.0, 1.0, 1.0, pytest.approx(0.75), pytest.approx(0.75)], "B": [0.25, 0.25, 0.0, 0.0, 0.0]}
    assert "share of runs with a score above:" in as_text(found)
