"""The numbers of a figure's panel as a table, which says in words what the picture shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarking.figures.data import (
    BarPanel,
    FigurePanel,
    LinePanel,
    MatrixPanel,
    ParallelPanel,
    PlotAxis,
    PointGroup,
    PointPanel,
    SpanPanel,
    TablePanel,
)
from benchmarking.page.tables import Column, SortableTable

MOST_ROWS = 400
"""Rows of a table below a figure; figures.json has all."""


def panel_table(panel: FigurePanel) -> SortableTable:
    """Return the numbers of a panel; of very many the first, and the caption says so."""
    names, rows = _rows(panel)
    caption = f"Numbers of {panel.title}" if panel.title else "Numbers"
    if isinstance(panel, TablePanel):
        return SortableTable(panel.title, [Column(str(at), name) for at, name in enumerate(names)], _keyed(rows))
    if len(rows) > MOST_ROWS:
        caption += f": the first {MOST_ROWS} of {len(rows):,}, all are in figures.json"
    kept = _keyed(rows[:MOST_ROWS])
    # What is empty in all rows (bands, intervals) is no column.
    there = [at for at in range(len(names)) if not kept or any(row[str(at)] not in (None, "") for row in kept)]
    return SortableTable(caption, [Column(str(at), names[at]) for at in there], kept)


def _keyed(rows: Sequence[Sequence[Any]]) -> list[Mapping[str, Any]]:
    return [{str(at): value for at, value in enumerate(row)} for row in rows]


def _rows(panel: FigurePanel) -> tuple[list[str], list[Sequence[Any]]]:
    match panel:
        case TablePanel():
            units = panel.units or [""] * len(panel.columns)
            return [_titled(name, unit) for name, unit in zip(panel.columns, units, strict=True)], list(panel.rows)
        case LinePanel():
            return _lines(panel)
        case PointPanel():
            return _points(panel)
        case BarPanel():
            names = ["", *(stack.name for stack in panel.stacks)]
            return names, [(name, *(stack.values[at] for stack in panel.stacks)) for at, name in enumerate(panel.bars.categories)]
        case SpanPanel():
            unit = panel.time.unit
            names = ["lane", "kind", _titled("begin", unit), _titled("end", unit), "what"]
            return names, [(panel.lanes[span.lane], span.kind, span.begin, span.end, span.text) for span in panel.spans]
        case MatrixPanel():
            return ["", *panel.columns], [(name, *texts) for name, texts in zip(panel.rows, panel.texts, strict=True)]
        case ParallelPanel():
            return ["configuration", "what became of it", _axis(panel.value), "values"], [
                (line.name, line.kind, line.value, line.text) for line in panel.lines
            ]


def _lines(panel: LinePanel) -> tuple[list[str], list[Sequence[Any]]]:
    names = ["line", _axis(panel.x), _axis(panel.y), "low", "high", "what"]
    rows: list[Sequence[Any]] = []
    for curve in panel.curves:
        nothing: list[float | None] = [None] * len(curve.x)
        ends = zip(curve.x, curve.y, curve.low or nothing, curve.high or nothing, strict=True)
        rows += [(curve.name, x, y, low, high, "") for x, y, low, high in ends]
    rows += [(*row[:3], *row[5:]) for group in panel.marks for row in _group(group)]
    return names, rows


def _points(panel: PointPanel) -> tuple[list[str], list[Sequence[Any]]]:
    x, y = _axis(panel.x), _axis(panel.y)
    names = ["points", x, y, f"{x} low", f"{x} high", f"{y} low", f"{y} high", "what"]
    rows: list[Sequence[Any]] = [row for group in panel.points for row in _group(group)]
    for curve in panel.curves:
        rows += [(curve.name, x_at, y_at, None, None, None, None, "") for x_at, y_at in zip(curve.x, curve.y, strict=True)]
    return names, rows


def _group(group: PointGroup) -> Iterator[tuple[Any, ...]]:
    def at(values: Sequence[Any], number: int) -> Any:
        return values[number] if values else None

    for number, (x, y) in enumerate(zip(group.x, group.y, strict=True)):
        ends = (at(given, number) for given in (group.x_low, group.x_high, group.y_low, group.y_high))
        yield (group.name, x, y, *ends, at(group.texts, number) or (group.kind if group.kind != "result" else ""))


def _axis(axis: PlotAxis) -> str:
    return _titled(axis.title, axis.unit)


def _titled(name: str, unit: str) -> str:
    return f"{name} ({unit})" if unit else name
