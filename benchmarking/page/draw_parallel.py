"""Configurations across axes side by side, drawn as lines: plotly's own trace for it needs WebGL, which the page's policy keeps blank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarking.figures.data import ParallelLine, ParallelPanel
from benchmarking.page.layouts import VEIL, common_layout, label
from benchmarking.report.text import shown

_FIFTHS = ("best fifth", "second fifth", "middle fifth", "fourth fifth", "last fifth")
_LINES = (("#d1590c", 2.4, "solid"), ("#2477b8", 1.4, "solid"), ("#2477b8", 1.1, "dash"), ("#808890", 1.0, "dash"), ("#808890", 0.8, "dot"))
_FAINT = 0.55
"""Of all but the best fifth, so that these are seen through them."""
_WITHOUT = ("#b4579a", 0.8, "dot")
_HEIGHT = 380


def draw_parallel(panel: ParallelPanel) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return traces and layout of parallel coordinates: one trace for each fifth of the values, the best in front."""
    measured = sorted(
        (line for line in panel.lines if line.value is not None),
        key=lambda line: float(line.value or 0.0),
        reverse=panel.value.better == "max",
    )
    without = [line for line in panel.lines if line.value is None]
    count = len(measured)
    parts = [measured[count * part // 5 : count * (part + 1) // 5] for part in range(5)] if count >= 5 else [measured]
    traces = [_trace("without a value", without, _WITHOUT)] if without else []
    for part, lines in reversed(list(enumerate(parts))):
        if lines:
            name = _FIFTHS[part] if count >= 5 else "all"
            # What is measured is named once, in front, where one begins to read.
            of = f"{label(panel.value.title, 24)} " if part == 0 else ""
            ends = f"{of}{shown(lines[0].value)} to {shown(lines[-1].value)}"
            trace = _trace(f"{name}: {ends}", lines, _LINES[part])
            traces.append(trace if part == 0 else {**trace, "opacity": _FAINT})
    last = max(1, len(panel.axes) - 1)
    shapes = [
        {"type": "line", "xref": "x", "yref": "y", "x0": at, "x1": at, "y0": 0, "y1": 1, "line": {"color": "#808890", "width": 1.5}}
        for at in range(len(panel.axes))
    ]
    notes = []
    for at, axis in enumerate(panel.axes):
        left = at == last and at > 0
        spot = {"x": at, "xref": "x", "yref": "y", "showarrow": False, "xshift": -4 if left else 4, "xanchor": "right" if left else "left"}
        notes += [
            {**spot, "y": place, "text": label(text, 14), "font": {"size": 10}, "bgcolor": VEIL}
            for place, text in zip(axis.ticks, axis.labels, strict=True)
        ]
    x = {
        "tickvals": list(range(len(panel.axes))),
        "ticktext": [label(axis.title, 20) for axis in panel.axes],
        "range": [-0.08, last + 0.08],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        # A name that reaches beyond the drawing would else not be drawn at all.
        "ticklabeloverflow": "allow",
    }
    y = {"visible": False, "range": [-0.05, 1.05]}
    layout = common_layout(x, y, height=_HEIGHT, shapes=shapes, annotations=notes)
    # The best is named first, and drawn last, over the others.
    layout["legend"] = {**layout["legend"], "traceorder": "reversed"}
    layout["margin"] = {**layout["margin"], "l": 12}
    return traces, layout


def _trace(name: str, lines: Sequence[ParallelLine], look: tuple[str, float, str]) -> dict[str, Any]:
    x: list[float | None] = []
    y: list[float | None] = []
    texts: list[str] = []
    for line in lines:
        text = label(f"{line.name} {line.text}".strip(), 160)
        # A gap ends each line, so that one trace holds many.
        x += [*range(len(line.places)), None]
        y += [*line.places, None]
        texts += [text] * (len(line.places) + 1)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": label(name),
        "x": x,
        "y": y,
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": look[0], "width": look[1], "dash": look[2]},
        "connectgaps": False,
    }
