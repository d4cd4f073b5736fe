"""The report of experiments: which sections it has, in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarking.comparison.document import Document
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.runs import ComparedRun
from benchmarking.figures.data import Figure
from benchmarking.page.comparison import about, comparison_section, why_undecided
from benchmarking.page.draw import figure_sections, method_order
from benchmarking.page.drawing import Page, Section
from benchmarking.page.tables import table_of


def page_of(
    title: str,
    runs: Sequence[ComparedRun],
    found: Document,
    figures: Sequence[Figure],
    question: ComparisonQuestion,
    *,
    methods: Mapping[str, str] | None = None,
    spans: Sequence[tuple[float, float]] = (),
) -> Page:
    """Return the report of experiments.

    Args:
        title: what they are called, e.g. their tags.
        runs: what the experiments came to.
        found: their comparison.
        figures: in the order in which they are shown.
        question: what was asked of the comparison.
        methods: name -> what such a method is, of those of which that is known.
        spans: Unix times of the first and the last record of each experiment that has any.
    """
    there = [figure for figure in figures if figure.panels]
    sections = [comparison_section(found, question, methods), *figure_sections(there, method_order(there))]
    empty = [{"figure": figure.title, "why": " ".join(figure.notes)} for figure in figures if not figure.panels]
    if empty:
        sections.append(Section("not-drawn", "Not drawn", tables=[table_of("Figures without anything to draw", empty)]))
    return Page(f"Outrider report: {title}", about(runs, spans), found.verdicts, found.warnings, sections, why_undecided(found))
