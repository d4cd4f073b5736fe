"""How what has a name looks: a colour that colour-blind people tell apart, and a dash, a marker and a pattern that say the same again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

COLOURS = ("#2477b8", "#d1590c", "#0f9270", "#b4579a", "#96761a", "#7b6fd0", "#6f7780", "#c2485c")
"""After Okabe and Ito (2008), each moved to a contrast of 3:1 with white paper and with the dark page, so that one palette serves both."""

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "triangle-down")
PATTERNS = ("", "/", "x", ".", "\\", "-", "|", "+")

OPEN = {"stopped": "x-thin-open", "paused": "square-open", "aggregate": "diamond", "front": "star"}
"""Markers of points by what they stand for, where that says more than whose they are."""


@dataclass(frozen=True)
class TraceStyle:
    """A colour as `#rrggbb`, and a dash, a marker and a pattern of plotly."""

    colour: str
    dash: str
    symbol: str
    pattern: str

    def faint(self, share: float) -> str:
        """Return the colour with so much of it over what lies behind."""
        red, green, blue = (int(self.colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},{share:g})"


def looks(names: Iterable[str]) -> Mapping[str, TraceStyle]:
    """Return a look for each name, in their order; colours come again after eight, dashes after six, so pairs only after 24."""
    return {name: look(number) for number, name in enumerate(dict.fromkeys(names))}


def look(number: int) -> TraceStyle:
    """Return the look of a number."""
    return TraceStyle(
        COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)], SYMBOLS[number % len(SYMBOLS)], PATTERNS[number % len(PATTERNS)]
    )
