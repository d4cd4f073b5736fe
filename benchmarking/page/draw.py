"""Figures as sections of the page: each panel is a drawing with its numbers below, each table a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarking.figures.data import (
    BarPanel,
    Figure,
    FigurePanel,
    LinePanel,
    MatrixPanel,
    ParallelPanel,
    PointPanel,
    SpanPanel,
    TablePanel,
)
from benchmarking.page.draw_bars import draw_matrix, draw_spans, draw_stacked_bars
from benchmarking.page.draw_lines import draw_lines, draw_points
from benchmarking.page.draw_parallel import draw_parallel
from benchmarking.page.drawing import Drawing, Section
from benchmarking.page.palette import TraceStyle, looks
from benchmarking.page.panel_tables import panel_table
from benchmarking.page.tables import table_of

_FOLDED = ("seeds",)
"""Figures, by the begin of their keys, that are drawn when they are asked for."""


def figure_section(figure: Figure, order: Sequence[str]) -> Section:
    """Return a figure as a section.

    Args:
        figure: what is shown.
        order: names in the order in which looks are given, so that a method looks alike in all figures.
    """
    known = looks([*order, *(name for panel in figure.panels for name in _named(panel))])
    drawn = [panel for panel in figure.panels if not isinstance(panel, TablePanel)]
    identity = figure.key.replace("_", "-").replace(".", "-")
    folded = figure.key.startswith(_FOLDED)
    drawings = [
        _drawing(f"{identity}-{number}" if len(drawn) > 1 else f"{identity}-1", panel, figure, known, folded=folded)
        for number, panel in enumerate(drawn, start=1)
    ]
    tables = [panel_table(panel) for panel in figure.panels if isinstance(panel, TablePanel)]
    whole = [table_of("Names that are shortened here", [{"shown": short, "whole": name} for short, name in figure.names.items()])]
    return Section(identity, figure.title, " ".join(figure.notes), tables, whole if figure.names else (), drawings)


def method_order(figures: Sequence[Figure]) -> list[str]:
    """Return the names of all lines and points in the order in which figures have them: methods first, as best-so-far comes first."""
    return list(dict.fromkeys(name for figure in figures for panel in figure.panels for name in _named(panel)))


def _drawing(identity: str, panel: FigurePanel, figure: Figure, known: Mapping[str, TraceStyle], *, folded: bool) -> Drawing:
    traces, layout = _drawn(panel, known)
    wide = isinstance(panel, (SpanPanel, ParallelPanel))
    return Drawing(identity, panel.title or figure.title, _about(panel), traces, layout, panel_table(panel), wide, folded)


def _drawn(panel: FigurePanel, known: Mapping[str, TraceStyle]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    match panel:
        case LinePanel():
            return draw_lines(panel, known)
        case PointPanel():
            return draw_points(panel, known)
        case BarPanel():
            return draw_stacked_bars(panel, known)
        case SpanPanel():
            return draw_spans(panel, known)
        case MatrixPanel():
            return draw_matrix(panel)
        case ParallelPanel():
            return draw_parallel(panel)
        case TablePanel():
            raise ValueError("a table is not drawn")


def _about(panel: FigurePanel) -> str:
    """Return in a sentence what is seen, for who does not see it."""
    match panel:
        case LinePanel():
            return f"{len(panel.curves)} lines of {panel.y.title} by {panel.x.title}."
        case PointPanel():
            return f"{sum(len(group.x) for group in panel.points)} points of {panel.y.title} by {panel.x.title}."
        case BarPanel():
            return f"{len(panel.bars.categories)} bars of {panel.value.title}."
        case SpanPanel():
            return f"{len(panel.lanes)} lanes with {len(panel.spans)} stretches of time: {', '.join(panel.kinds)}."
        case MatrixPanel():
            return f"{len(panel.rows)} rows by {len(panel.columns)} columns: {panel.value.title}."
        case ParallelPanel():
            return f"{len(panel.lines)} configurations across {len(panel.axes)} axes, by {panel.value.title}."
        case TablePanel():
            return ""


def _named(panel: FigurePanel) -> Iterator[str]:
    match panel:
        case LinePanel():
            yield from (one.group or one.name for one in panel.curves)
            yield from (one.group or one.name for one in panel.marks)
        case PointPanel():
            yield from (one.group or one.name for one in panel.points)
            yield from (one.group or one.name for one in panel.curves)
        case BarPanel():
            yield from (stack.name for stack in panel.stacks)
        case SpanPanel():
            yield from panel.kinds
        case _:
            return
