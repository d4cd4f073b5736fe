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
from benchmarking.page.palette import TraceStyle, styles
from benchmarking.page.panel_tables import panel_table
from benchmarking.page.tables import table_of

_FAMILIES = {"best_so_far": "Best so far", "seeds": "Every seed", "hypervolume": "Hypervolume"}
"""Figures of several axes, by the begin of their keys, that are one section."""
_CLOSED = ("seeds", "learning_curves", "time_line")
"""Sections, by the begin of their figures' keys, whose drawings are seen when they are asked for."""
_EXPLAINED = {
    "final_values": "Small marks: one a seed. Diamond: all of them together, with the interval of their mean.",
    "matrix": "How often each method was better than each other one.",
    "ranks": "Rank: place among the methods on a benchmark. Profile: the share of runs whose score is above each value.",
    "parallel_axes": "Each line is a configuration, and crosses the axis of each parameter at its value.",
    "importance": "How much of what differs between configurations each parameter explains; `a x b`: both together, beyond each alone.",
    "pareto": "On the front: no other configuration is better in one objective and at least as good in the others.",
    "stages": "Stages are those of the service that runs the jobs, phases those that the script times itself.",
    "costs": "What became of the jobs that were paid for, over all seeds.",
    "hypervolume": "How much of the space of all objectives lies behind the front, as one number.",
}
"""What is seen, for who has not seen such a figure before, by the key of the section."""
_OF_METHODS = ("best_so_far", "seeds", "final_values")


def figure_sections(figures: Sequence[Figure], methods: Sequence[str]) -> list[Section]:
    """Return figures as sections, those of one family as one.

    Args:
        figures: in order, those of a family one after the other.
        methods: names in the order in which looks are given, so that a method looks alike in all figures.
    """
    found: dict[str, list[Figure]] = {}
    for figure in figures:
        found.setdefault(_family(figure) or figure.key, []).append(figure)
    return [_section(key, mine, methods) for key, mine in found.items()]


def method_order(figures: Sequence[Figure]) -> list[str]:
    """Return the names of all methods, in the order in which figures of methods have them."""
    mine = [figure for figure in figures if figure.key.startswith(_OF_METHODS)]
    return list(dict.fromkeys(name for figure in mine for panel in figure.panels for name in _named(panel)))


def _family(figure: Figure) -> str:
    return next((key for key in _FAMILIES if figure.key.startswith(f"{key}_")), "")


def _section(key: str, figures: Sequence[Figure], methods: Sequence[str]) -> Section:
    title = _FAMILIES.get(key, figures[0].title)
    drawings = [
        one for figure in figures for one in _drawings(figure, methods, figure.title.removeprefix(title) if key in _FAMILIES else "")
    ]
    panels = [panel for figure in figures for panel in figure.panels]
    names = [{"shown": short, "whole": name} for short, name in {key: name for one in figures for key, name in one.names.items()}.items()]
    return Section(
        _identity(key),
        title,
        notes=list(dict.fromkeys([*([_EXPLAINED[key]] if key in _EXPLAINED else []), *(note for one in figures for note in one.notes)])),
        tables=[panel_table(panel) for panel in panels if isinstance(panel, TablePanel)],
        folded=[table_of("Names that are shortened here", names)] if names else (),
        drawings=drawings,
        closed=key.startswith(_CLOSED),
    )


def _drawings(figure: Figure, methods: Sequence[str], along: str) -> Iterator[Drawing]:
    """Yield what is drawn of a figure; `along` is what its titles end with, to tell it from others of its family."""
    known = styles((name for panel in figure.panels for name in _named(panel)), methods)
    drawn = [panel for panel in figure.panels if not isinstance(panel, TablePanel)]
    for number, panel in enumerate(drawn, start=1):
        traces, layout = _drawn(panel, known)
        title = f"{panel.title}{along}" if panel.title else figure.title
        wide = isinstance(panel, (SpanPanel, ParallelPanel))
        yield Drawing(f"{_identity(figure.key)}-{number}", title, _about(panel), traces, layout, panel_table(panel), wide)


def _identity(key: str) -> str:
    return key.replace("_", "-").replace(".", "-")


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
            there = {span.kind for span in panel.spans}
            kinds = ", ".join(kind for kind in panel.kinds if kind in there)
            return f"{len(panel.lanes)} lanes with {len(panel.spans)} stretches of time: {kinds}."
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
