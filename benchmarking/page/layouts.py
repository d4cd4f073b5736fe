"""What all drawings have in common: axes with their units, references, room, and labels that cannot be markup."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.figures.data import PlotAxis, Reference
from benchmarking.page.html import printable, shortened

HEIGHT = 320
"""Pixels of a drawing."""
VEIL = "rgba(255,255,255,0.8)"
"""Lies behind words that stand among lines; a dark page has its own."""
_LABEL = 48
_REFERENCE = "#808890"
_WORDS = {"min": "less is better", "max": "more is better"}


def label(text: str, most: int = _LABEL) -> str:
    """Return a text as plotly takes it: it reads some markup in labels, so none is left in."""
    return html.escape(printable(shortened(text, most)), quote=False)


def axis_title(axis: PlotAxis) -> str:
    """Return what is written at an axis: what it measures, in what unit, and which end is the better one."""
    hints = [text for text in (axis.unit, _WORDS.get(axis.better, "")) if text]
    return label(axis.title) + (f" ({', '.join(hints)})" if hints else "")


def axis_layout(axis: PlotAxis, **more: Any) -> dict[str, Any]:
    """Return an axis of plotly; names stand on it at the whole numbers from 0 on, so that points can be moved aside."""
    made: dict[str, Any] = {"title": {"text": axis_title(axis), "standoff": 8}, "automargin": True, "zeroline": False}
    if axis.categories:
        made |= {
            "tickvals": list(range(len(axis.categories))),
            "ticktext": [label(name, 24) for name in axis.categories],
            "range": [-0.5, len(axis.categories) - 0.5],
            "showgrid": False,
        }
    else:
        # Thousandths and millionths of a dollar or a second are numbers, and no units of their own.
        made |= {"exponentformat": "none" if axis.unit.endswith("USD") else "e", "minexponent": 5}
        if axis.log:
            made["type"] = "log"
        if axis.shown is not None:
            made["range"] = [math.log10(one) if axis.log else one for one in axis.shown]
    return made | more


def common_layout(x: Mapping[str, Any], y: Mapping[str, Any], *, height: int = HEIGHT, legend: bool = True, **more: Any) -> dict[str, Any]:
    """Return the layout of a drawing with two axes; its colours are those of the page."""
    return {
        "xaxis": x,
        "yaxis": y,
        "height": height,
        "showlegend": legend,
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
        "margin": {"l": 48, "r": 12, "t": 12, "b": 40},
        "font": {"size": 12, "family": "system-ui, sans-serif"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        **more,
    }


def reference_lines(references: Sequence[Reference], x: PlotAxis, y: PlotAxis) -> dict[str, Any]:
    """Return straight lines through a whole drawing, each with its name, as shapes and annotations of plotly.

    The names stand where curves are least: those of lying lines at the left, where values are not good yet, those of upright ones at the
    worse end.
    """
    shapes, notes = [], []
    for one in references:
        along = one.along == "x"
        axis = x if along else y
        if axis.log and one.at <= 0:
            continue
        line = {"color": _REFERENCE, "width": 1, "dash": "dot"}
        # Shapes stand at the value, annotations of a logarithmic axis at its logarithm.
        place = math.log10(one.at) if axis.log else one.at
        if along:
            shapes.append({"type": "line", "xref": "x", "yref": "paper", "x0": one.at, "x1": one.at, "y0": 0, "y1": 1, "line": line})
            end = {"y": 1, "yanchor": "top"} if y.better == "min" else {"y": 0, "yanchor": "bottom"}
            spot = {"x": place, "xref": "x", "yref": "paper", "xanchor": "right", "textangle": -90, **end}
        else:
            shapes.append({"type": "line", "xref": "paper", "yref": "y", "x0": 0, "x1": 1, "y0": one.at, "y1": one.at, "line": line})
            spot = {"x": 0, "xref": "paper", "y": place, "yref": "y", "xanchor": "left", "yanchor": "bottom"}
        notes.append({**spot, "text": label(one.name), "showarrow": False, "font": {"size": 10}, "bgcolor": VEIL, "borderpad": 0})
    return {"shapes": shapes, "annotations": notes}
