"""How what has a name looks: a colour that colour-blind people tell apart, and a dash, a marker and a pattern that say the same again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

PAPERS = ("#ffffff", "#14171b")
"""What all is drawn on: light, and dark."""

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


IDLE = "idle"
"""What is drawn so that it stands back: nothing was done."""

_KINDS = {
    "completed": (2, ""), "run": (2, ""), "training": (2, ""), "train": (2, ""),
    "stopped": (4, "/"), "paused": (5, "."), "failed": (7, "x"), "infeasible": (3, "-"), "diverged": (1, "|"),
    "interrupted": (6, "+"), "waiting": (6, "\\"), "start-up": (6, "/"), "startup": (6, "/"), "starting": (6, "/"), IDLE: (6, "/"),
    "downloading": (0, "\\"), "load": (0, "\\"), "uploading": (5, "."), "checkpoint": (5, "."), "kept warm": (1, "-"),
    "kept instances": (1, "-"),
}  # fmt: skip
"""Colour and pattern of what became of jobs, and of what they did, by name: the same in all figures."""


def styles(names: Iterable[str], methods: Sequence[str]) -> Mapping[str, TraceStyle]:
    """Return a look for each name of a figure.

    A method has the look of its place among the methods, and what became of jobs has one by its name, in every figure; other names get
    theirs in order. Colours come again after eight, dashes after six, so pairs only after 24.

    Args:
        names: of a figure.
        methods: all that are compared.
    """
    found = {name: look(number) for number, name in enumerate(methods)}
    names = dict.fromkeys(names)
    others = [name for name in names if name not in found and name.lower() not in _KINDS]
    ordered = {name: look(number) for number, name in enumerate(others)}
    return {name: found.get(name) or ordered.get(name) or _kind(name.lower()) for name in names}


def look(number: int) -> TraceStyle:
    """Return the look of a number."""
    return TraceStyle(
        COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)], SYMBOLS[number % len(SYMBOLS)], PATTERNS[number % len(PATTERNS)]
    )


def _kind(name: str) -> TraceStyle:
    colour, pattern = _KINDS[name]
    place = PATTERNS.index(pattern)
    return TraceStyle(COLOURS[colour], DASHES[place % len(DASHES)], SYMBOLS[place], pattern)
