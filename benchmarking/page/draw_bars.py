"""Bars, stretches of time and matrices as traces of plotly: all of them are bars, as those are drawn as SVG and a heat map is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarking.figures.data import BarPanel, MatrixPanel, PlotAxis, SpanPanel
from benchmarking.page.layouts import axis_layout, common_layout, label
from benchmarking.page.palette import IDLE, TraceStyle

_LANE = 26
_AROUND = 110
_CELL = 34
_EMPTY = "rgba(128,136,144,0.12)"
_LOW, _MIDDLE, _HIGH = (214, 120, 60), (240, 240, 240), (88, 150, 205)


def draw_stacked_bars(panel: BarPanel, known: Mapping[str, TraceStyle]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return traces and layout of bars that lie, the first at the top.

    Args:
        panel: what is drawn.
        known: look of each part.
    """
    names = panel.bars.categories
    traces = []
    for stack in panel.stacks:
        trace: dict[str, Any] = {
            "type": "bar",
            "orientation": "h",
            "name": label(stack.name),
            "x": list(stack.values),
            "y": list(range(len(stack.values))),
            "text": [label(name) for name in names],
            "textposition": "none",
            "hovertemplate": "%{text}, %{fullData.name}: %{x:.4g}<extra></extra>",
            "marker": _fill(known[stack.name], plain=len(panel.stacks) == 1),
        }
        if stack.low and stack.high:
            pairs = list(zip(stack.values, stack.low, stack.high, strict=True))
            trace["error_x"] = {
                "type": "data",
                "symmetric": False,
                "array": [high - value if value is not None and high is not None else 0 for value, _, high in pairs],
                "arrayminus": [value - low if value is not None and low is not None else 0 for value, low, _ in pairs],
                "thickness": 1.8,
                "color": "#808890",
            }
        traces.append(trace)
    layout = common_layout(
        axis_layout(panel.value),
        axis_layout(panel.bars, **_downwards(len(names))),
        height=_AROUND + _LANE * max(2, len(names)),
        # A part alone has a name that stands nowhere else; what has an interval is no part but what the axis says.
        legend=len(traces) > 1 or any("error_x" not in trace for trace in traces),
        barmode="stack",
        bargap=0.3,
    )
    return traces, layout


def draw_spans(panel: SpanPanel, known: Mapping[str, TraceStyle]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return traces and layout of a time line; arguments as of `draw_stacked_bars`, with the look of each kind."""
    traces = []
    for kind in panel.kinds:
        mine = [span for span in panel.spans if span.kind == kind]
        if not mine:
            continue
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": label(kind),
                "base": [span.begin for span in mine],
                "x": [span.end - span.begin for span in mine],
                "y": [span.lane for span in mine],
                "text": [label(f"{span.text} {span.begin:.4g} to {span.end:.4g}".strip(), 160) for span in mine],
                "textposition": "none",
                "hovertemplate": "%{fullData.name}: %{text}<extra></extra>",
                "marker": _fill(known[kind], stands_back=kind == IDLE),
            }
        )
    lanes = PlotAxis("", categories=panel.lanes)
    layout = common_layout(
        axis_layout(panel.time),
        axis_layout(lanes, **_downwards(len(panel.lanes))),
        height=_AROUND + _LANE * max(2, len(panel.lanes)),
        barmode="overlay",
        bargap=0.25,
    )
    return traces, layout


def draw_matrix(panel: MatrixPanel) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return traces and layout of a matrix: a row of bars that touch for each of its rows."""
    there = [value for row in panel.values for value in row if value is not None]
    low, high = (min(there), max(there)) if there else (0.0, 0.0)
    traces = []
    for number, (values, texts) in enumerate(zip(panel.values, panel.texts, strict=True)):
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "base": [column - 0.5 for column in range(len(values))],
                "x": [1] * len(values),
                "y": [number] * len(values),
                "width": 1,
                "text": [label(text, 24) for text in texts],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "textfont": {"color": "#1b1f24"},
                "hovertext": [
                    f"{label(panel.rows[number])}, {label(name)}: {label(text)}" for name, text in zip(panel.columns, texts, strict=True)
                ],
                "hoverinfo": "text",
                "marker": {"color": [_shade(value, low, high) for value in values], "line": {"color": "#808890", "width": 0.5}},
            }
        )
    columns = PlotAxis("", categories=panel.columns)
    rows = PlotAxis("", categories=panel.rows)
    layout = common_layout(
        axis_layout(columns, side="top"),
        axis_layout(rows, **_downwards(len(panel.rows))),
        height=_AROUND + _CELL * max(2, len(panel.rows)),
        legend=False,
        barmode="overlay",
    )
    return traces, layout


def _shade(value: float | None, low: float, high: float) -> str:
    """Return a light colour between orange for the lowest and blue for the highest, on which dark letters are read."""
    if value is None:
        return _EMPTY
    share = 0.5 if high <= low else (value - low) / (high - low)
    ends, part = ((_LOW, _MIDDLE), share * 2) if share < 0.5 else ((_MIDDLE, _HIGH), share * 2 - 1)
    return "rgb({})".format(",".join(str(round(first + (second - first) * part)) for first, second in zip(*ends, strict=True)))


def _fill(look: TraceStyle, *, plain: bool = False, stands_back: bool = False) -> dict[str, Any]:
    """Return how a bar is filled: a faint pattern says the same as the colour; one that stands back is nothing but its pattern."""
    if stands_back:
        return {"color": look.colour, "pattern": {"shape": look.pattern, "size": 9, "solidity": 0.08, "fillmode": "replace"}}
    if plain or not look.pattern:
        return {"color": look.colour}
    pattern = {"shape": look.pattern, "size": 10, "solidity": 0.12, "fgcolor": "#ffffff", "fgopacity": 0.55, "fillmode": "overlay"}
    return {"color": look.colour, "pattern": pattern}


def _downwards(count: int) -> dict[str, Any]:
    return {"range": [max(count, 2) - 0.5, -0.5] if count > 1 else [0.5, -0.5]}
