"""Lines with bands, and points with intervals, as traces of plotly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from benchmarking.figures.data import Curve, LinePanel, Place, PlotAxis, PointGroup, PointPanel
from benchmarking.page.layouts import axis_layout, common_layout, label, reference_lines
from benchmarking.page.palette import OPEN, TraceStyle

_BAND = 0.18
_JITTER = 0.36
_ASIDE = 0.3


def draw_lines(panel: LinePanel, known: Mapping[str, TraceStyle]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return traces and layout of lines with bands.

    Args:
        panel: what is drawn.
        known: look of each group.
    """
    traces = [*_curves(panel.curves, known), *(_points(group, panel.x, panel.y, known) for group in panel.marks)]
    _once_in_the_legend(traces)
    layout = common_layout(axis_layout(panel.x), axis_layout(panel.y), **reference_lines(panel.references, panel.x, panel.y))
    return traces, layout


def draw_points(panel: PointPanel, known: Mapping[str, TraceStyle]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return traces and layout of points with intervals; arguments as of `draw_lines`."""
    traces = [*_curves(panel.curves, known), *(_points(group, panel.x, panel.y, known) for group in panel.points)]
    _once_in_the_legend(traces)
    # Where the names stand on an axis already a legend would say the same again.
    named = {*panel.x.categories, *panel.y.categories}
    legend = any((group.group or group.name) not in named for group in panel.points)
    layout = common_layout(axis_layout(panel.x), axis_layout(panel.y), legend=legend, **reference_lines(panel.references, panel.x, panel.y))
    return traces, layout


def _curves(curves: Sequence[Curve], known: Mapping[str, TraceStyle]) -> Iterator[dict[str, Any]]:
    alone = len({curve.group or curve.name for curve in curves}) == len(curves)
    for curve in curves:
        yield from _bands(curve, known[curve.group or curve.name])
    for curve in curves:
        group = curve.group or curve.name
        look = known[group]
        yield {
            "type": "scatter",
            "mode": "lines+markers",
            "name": label(group),
            "legendgroup": label(group),
            "x": curve.x,
            "y": curve.y,
            "text": label(curve.name),
            "hovertemplate": "%{text}<br>%{x:.4g}: %{y:.4g}<extra></extra>",
            "line": {
                "color": look.colour,
                "dash": look.dash,
                "width": 2.2 if alone else 1.2,
                "shape": "hv" if curve.step else "linear",
            },
            # Few markers a line: they say whose it is where colours do not.
            "marker": {"symbol": look.symbol, "size": 7 if alone else 5, "color": look.colour, "maxdisplayed": 8 if alone else 4},
        }


def _bands(curve: Curve, look: TraceStyle) -> Iterator[dict[str, Any]]:
    ends = list(zip(curve.x, curve.low, curve.high, strict=False))
    for there, part in groupby(ends, key=lambda end: end[1] is not None and end[2] is not None):
        if not there:
            continue
        places = list(part)
        for number, outline in enumerate(([low for _, low, _ in places], [high for _, _, high in places])):
            yield {
                "type": "scatter",
                "mode": "lines",
                "x": [x for x, _, _ in places],
                "y": outline,
                "line": {"width": 0, "shape": "hv" if curve.step else "linear"},
                "fill": "tonexty" if number else "none",
                "fillcolor": look.faint(_BAND),
                "hoverinfo": "skip",
                "showlegend": False,
                "legendgroup": label(curve.group or curve.name),
            }


def _points(group: PointGroup, x: PlotAxis, y: PlotAxis, known: Mapping[str, TraceStyle]) -> dict[str, Any]:
    name = group.group or group.name
    look = known[name]
    alone = group.kind == "aggregate"
    # What is beaten stands behind the front, and there are many of it.
    width = 0.6 if group.kind == "beaten" else 1.8
    bars = {"error_x": _bars(group.x, group.x_low, group.x_high, width), "error_y": _bars(group.y, group.y_low, group.y_high, width)}
    return {
        "type": "scatter",
        "mode": "markers",
        **{key: value for key, value in bars.items() if value is not None},
        "name": label(group.name),
        "legendgroup": label(name),
        "x": _places(group.x, x, aside=alone),
        "y": _places(group.y, y, aside=alone),
        "text": [label(text, 160) for text in group.texts] or label(group.name),
        "hovertemplate": "%{text}<br>%{x:.4g}: %{y:.4g}<extra></extra>" if not (x.categories or y.categories) else "%{text}<extra></extra>",
        "marker": {
            "symbol": OPEN.get(group.kind, look.symbol),
            "color": look.colour,
            "size": 11 if alone else 8,
            "line": {"width": 1.5 if group.kind in OPEN else 0, "color": look.colour},
        },
    }


def _places(places: Sequence[Place], axis: PlotAxis, *, aside: bool) -> list[float]:
    """Return where points stand: those of one name beside each other, so that equal values are seen, and the aggregate aside."""
    if not axis.categories:
        return [float(place) for place in places]
    numbers = {name: number for number, name in enumerate(axis.categories)}
    step = _JITTER / max(1, len(places) - 1)
    offsets = [_ASIDE if aside else number * step - _JITTER / 2 if len(places) > 1 else 0.0 for number in range(len(places))]
    return [numbers[str(place)] + offset for place, offset in zip(places, offsets, strict=True)]


def _bars(places: Sequence[Place], low: Sequence[float | None], high: Sequence[float | None], thickness: float) -> dict[str, Any] | None:
    """Return error bars around numbers, so many pixels thick; None where there are none."""
    if not any(end is not None for end in (*low, *high)):
        return None
    below = [float(place) - end if end is not None else 0.0 for place, end in zip(places, low or [None] * len(places), strict=True)]
    above = [end - float(place) if end is not None else 0.0 for place, end in zip(places, high or [None] * len(places), strict=True)]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": thickness, "width": 5}


def _once_in_the_legend(traces: Sequence[dict[str, Any]]) -> None:
    seen: set[str] = set()
    for trace in traces:
        name = trace.get("name", "")
        if trace.get("showlegend") is not False:
            trace["showlegend"] = name not in seen
            seen.add(name)
