"""Wins, ties and losses; ranks, groups and profiles: small studies that a reader works out by hand."""

from __future__ import annotations

import pytest

from benchmarking.comparison.document import document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.figures.matrix import matrix_figure, ranks_figure
from tests.benchmarking.comparison.made_runs import several

QUESTION = ComparisonQuestion()


def compared(*runs):
    return document([run for group in runs for run in group], QUESTION).benchmarks


def around(value, seeds=8):
    """Values of seeds that differ by thousandths."""
    return [value * (1 + 0.001 * seed) for seed in range(seeds)]


def matrix(*runs):
    (panel,) = matrix_figure(compared(*runs), QUESTION).panels
    return panel


def test_benchmarks_won_tied_and_lost_are_counted_and_open_ones_are_in_brackets():
    panel = matrix(
        # b and e: B needs half; c: A does; d: both the same within 1 %; f: one seed each.
        several("A", around(2.0)), several("B", around(1.0)),
        several("A", around(2.0), "e"), several("B", around(1.0), "e"),
        several("A", around(1.0), "c"), several("B", around(2.0), "c"),
        several("A", around(1.0), "d"), several("B", around(1.0)[::-1], "d"),
        several("A", [1.0], "f"), several("B", [2.0], "f"),
    )  # fmt: skip
    assert (panel.rows, panel.columns) == (("A", "B"), ("A", "B"))
    assert panel.texts == (("", "1, 1, 2 (1)"), ("2, 1, 1 (1)", ""))
    assert panel.values == ((None, -0.2), (0.2, None))


def test_few_seeds_decide_nothing_and_a_pair_without_a_common_benchmark_has_no_cell():
    panel = matrix(
        several("A", around(2.0, 5)), several("B", around(1.0, 5)),
        several("A", around(2.0, 5), "c"), several("C", around(1.0, 5), "c"),
    )  # fmt: skip
    assert panel.texts == (("", "0, 0, 0 (1)", "0, 0, 0 (1)"), ("0, 0, 0 (1)", "", "-"), ("0, 0, 0 (1)", "-", ""))
    assert panel.values[1] == (0.0, None, None)


def test_all_pairs_of_a_benchmark_are_one_family():
    # Eight pairs of one sign have p = 2 / 2^8; times the six pairs of four methods, by Holm, it is 0.047: still decided, seven pairs not.
    four = [several(name, around(value)) for name, value in zip("ABCD", (1.0, 2.0, 3.0, 4.0), strict=True)]
    assert matrix(*four).texts[0] == ("", "1, 0, 0", "1, 0, 0", "1, 0, 0")
    four = [several(name, around(value, 7)) for name, value in zip("ABCD", (1.0, 2.0, 3.0, 4.0), strict=True)]
    assert matrix(*four).texts[0] == ("", "0, 0, 0 (1)", "0, 0, 0 (1)", "0, 0, 0 (1)")


def test_one_method_and_one_benchmark_have_reasons():
    alone = compared(several("A", [1.0, 2.0]))
    assert (matrix_figure(alone, QUESTION).panels, matrix_figure(alone, QUESTION).notes) == ((), ("There is one method alone.",))
    assert (ranks_figure(alone, QUESTION).panels, ranks_figure(alone, QUESTION).notes) == ((), ("There is one benchmark alone.",))


def test_ranks_and_profiles_of_two_benchmarks():
    # b: scores are (5 - value) / 4, so that A has 1 and 0.75, B 0.5 and 0. c: A has 1, B 0.
    figure = ranks_figure(
        compared(several("A", [1.0, 2.0]), several("B", [3.0, 5.0]), several("A", [7.0], "c"), several("B", [8.0], "c")), QUESTION
    )
    ranks, profile = figure.panels
    assert [(group.name, group.x, group.y) for group in ranks.points] == [("A", (1.0,), ("A",)), ("B", (2.0,), ("B",))]
    assert ranks.curves == ()
    drawn = {curve.name: dict(zip(curve.x, curve.y, strict=True)) for curve in profile.curves}
    assert [drawn["A"][at] for at in (0.0, 0.74, 0.75, 0.99, 1.0)] == [1.0, 1.0, 0.75, 0.75, 0.0]
    assert [drawn["B"][at] for at in (0.0, 0.25, 0.49, 0.5)] == [0.25, 0.25, 0.25, 0.0]
    assert figure.notes[0] == "Friedman's test takes three methods and five benchmarks."


def test_a_method_that_ran_one_of_two_benchmarks_has_no_rank_and_that_is_said():
    runs = [
        several("A", [1.0, 2.0]),
        several("B", [3.0, 5.0]),
        several("C", [0.5, 0.6]),
        several("A", [7.0], "c"),
        several("B", [8.0], "c"),
    ]
    figure = ranks_figure(compared(*runs), QUESTION)
    ranks, profile = figure.panels
    assert [group.name for group in ranks.points] == ["A", "B"]
    assert {curve.name for curve in profile.curves} == {"A", "B"}
    assert figure.notes[-1] == "Of 2 benchmarks not all were run by C: without a rank and a profile."
    figure = ranks_figure(compared(*runs[:3], several("A", [7.0], "c"), several("D", [8.0], "c")), QUESTION)
    assert (figure.panels, figure.notes[0]) == ((), "No benchmark was run by all methods.")


def eight(lacking=()):
    """A leads B on five of eight benchmarks, B leads A on three, and C is last on all."""
    found = []
    for number in range(8):
        name, first, second = f"b{number}", 1.0, 2.0 + 0.1 * number
        own = {"A": first, "B": second, "C": 10.0} if number < 5 else {"B": first, "A": second, "C": 10.0}
        found += [several(method, [value], name) for method, value in own.items() if (method, number) not in lacking]
    return compared(*found)


def test_methods_that_do_not_differ_over_eight_benchmarks_are_joined():
    ranks = ranks_figure(eight(), QUESTION)
    panel = ranks.panels[0]
    assert {group.name: group.x for group in panel.points} == {"A": (1.375,), "B": (1.625,), "C": (3.0,)}
    assert panel.y.categories == ("A", "B", "C")
    assert [(curve.name, curve.x, curve.y) for curve in panel.curves] == [("no difference: A, B", (1.375, 1.625), (1.3, 1.3))]
    # Rank sums 11, 13 and 24: chi-square 12 / (8 * 3 * 4) * (121 + 169 + 576) - 3 * 8 * 4 = 12.25 of two degrees, p = exp(-6.125).
    assert ranks.notes[0] == "Friedman's test: p = 0.0022."


def test_without_five_common_benchmarks_nobody_is_joined_as_nothing_was_tested():
    panel = ranks_figure(eight(lacking=[("A", 0), ("B", 1), ("C", 2), ("C", 3)]), QUESTION).panels[0]
    # Of the four common benchmarks A leads on one and B on three.
    assert {group.name: group.x for group in panel.points} == {"B": (1.25,), "A": (1.75,), "C": (3.0,)}
    assert panel.curves == ()


@pytest.mark.parametrize("method", ["A", "C"])
def test_without_a_benchmark_that_all_ran_there_are_neither_ranks_nor_profiles(method):
    figure = ranks_figure(eight(lacking=[(method, number) for number in range(7)] + [("B", 7)]), QUESTION)
    assert (figure.panels, figure.notes) == ((), ("No benchmark was run by all methods.",))
