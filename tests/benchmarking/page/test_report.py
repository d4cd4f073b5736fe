"""Which sections a report has, in which order, and what it says of figures that it has not."""

from __future__ import annotations

from benchmarking.comparison.document import document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.figures.data import BarPanel, BarStack, Figure, PlotAxis
from benchmarking.page.report import page_of
from tests.benchmarking.comparison.made_runs import several

RUNS = [*several("RS", [2.0, 2.2]), *several("TPE", [1.0, 1.3])]
QUESTION = ComparisonQuestion()
BARS = BarPanel("", PlotAxis("method", categories=("RS",)), PlotAxis("cost", "USD"), (BarStack("failed", (1.0,)),))


def page(*figures):
    return page_of("tags", RUNS, document(RUNS, QUESTION), figures, QUESTION)


def test_the_comparison_comes_first_and_figures_in_their_order():
    found = page(Figure("costs", "Where the money went", (BARS,)), Figure("stages", "Stages", (BARS,)))
    assert [section.identity for section in found.sections] == ["methods", "costs", "stages"]
    assert (found.title, found.about) == ("Outrider report: tags", "4 experiments, 1 benchmark, 2 methods, 2 seeds.")


def test_verdicts_are_those_of_the_comparison_with_why_nothing_could_be_decided():
    found = page()
    assert found.verdicts == document(RUNS, QUESTION).verdicts
    assert found.advice.startswith("With 2 pairs of seeds no lead can be called better")


def test_figures_without_anything_to_draw_are_named_with_the_reason():
    (*_, last) = page(Figure("costs", "Where the money went", (), ("No job has ended.",))).sections
    assert (last.identity, last.tables[0].rows) == ("not-drawn", [{"figure": "Where the money went", "why": "No job has ended."}])
    assert page(Figure("costs", "Costs", (BARS,))).sections[-1].identity == "costs"
