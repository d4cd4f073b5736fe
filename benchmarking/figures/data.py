"""What a figure is: panels of a few general kinds that hold numbers, names and units, and nothing of how they are drawn.

Numbers are finite, or None where something is unknown; names that are long are shortened, and the figure keeps them whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from definitions import strict_json

SCHEMA_VERSION = 1

Place: TypeAlias = float | str
"""Where something stands on an axis: a number, or one of the axis' categories."""


@dataclass(frozen=True)
class PlotAxis:
    """An axis.

    Args:
        title: what it measures; `unit`: in what, empty where that is a plain number.
        log: whether steps of equal ratio are equally long.
        categories: the names that stand on it, in order; empty where it is of numbers.
        better: `min` or `max` where one end is the better one, else empty.
        shown: from where to where it is drawn, so that what is far off leaves room for what matters; None for all that there is.
    """

    title: str
    unit: str = ""
    log: bool = False
    categories: Sequence[str] = ()
    better: str = ""
    shown: tuple[float, float] | None = None


@dataclass(frozen=True)
class Curve:
    """A line, with a band where `low` and `high` are given.

    Args:
        name: of the line; `group`: what has one colour together, e.g. the method of a seed.
        x, y: (n,) where it passes.
        low, high: (n,) ends of the interval at each place, None where there is none; both empty for a line without a band.
        step: whether it keeps each value until the next place.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()
    step: bool = False
    group: str = ""

    def __post_init__(self) -> None:
        _alike(len(self.x), self.y, **{name: values for name, values in (("low", self.low), ("high", self.high)) if values})
        _finite(self.x, self.y, self.low, self.high)


@dataclass(frozen=True)
class PointGroup:
    """Points of one name, with an interval where one is given.

    Args:
        name: of all of them; `group`: what has one colour together.
        x, y: (n,) where they are.
        x_low, x_high, y_low, y_high: (n,) ends of their intervals, None where one has none; empty where none has.
        texts: (n,) what each is, for people; or empty.
        kind: what they stand for where that decides how they look: `result`, `stopped`, `paused`, `aggregate`, `front`, `beaten`.
    """

    name: str
    x: Sequence[Place]
    y: Sequence[Place]
    x_low: Sequence[float | None] = ()
    x_high: Sequence[float | None] = ()
    y_low: Sequence[float | None] = ()
    y_high: Sequence[float | None] = ()
    texts: Sequence[str] = ()
    kind: str = "result"
    group: str = ""

    def __post_init__(self) -> None:
        given = {"x_low": self.x_low, "x_high": self.x_high, "y_low": self.y_low, "y_high": self.y_high, "texts": self.texts}
        _alike(len(self.x), self.y, **{name: values for name, values in given.items() if values})
        _finite(self.x, self.y, self.x_low, self.x_high, self.y_low, self.y_high)


@dataclass(frozen=True)
class Reference:
    """A straight line through a whole panel, e.g. the budget at which values are compared: `along` is the axis that it stands on."""

    at: float
    name: str
    along: str = "x"

    def __post_init__(self) -> None:
        _finite((self.at,))


@dataclass(frozen=True)
class LinePanel:
    """Lines with bands, and points upon them."""

    title: str
    x: PlotAxis
    y: PlotAxis
    curves: Sequence[Curve] = ()
    marks: Sequence[PointGroup] = ()
    references: Sequence[Reference] = ()


@dataclass(frozen=True)
class PointPanel:
    """Points with intervals, and lines that join some of them (`curves`), e.g. a front."""

    title: str
    x: PlotAxis
    y: PlotAxis
    points: Sequence[PointGroup] = ()
    curves: Sequence[Curve] = ()
    references: Sequence[Reference] = ()


@dataclass(frozen=True)
class BarStack:
    """One part of every bar.

    Args:
        name: of the part.
        values: (n_bars,) how long it is; None where that is unknown.
        low, high: (n_bars,) ends of intervals, or empty.
    """

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()

    def __post_init__(self) -> None:
        _alike(len(self.values), self.values, **{name: values for name, values in (("low", self.low), ("high", self.high)) if values})
        _finite(self.values, self.low, self.high)


@dataclass(frozen=True)
class BarPanel:
    """Bars, each of parts that lie one upon the other."""

    title: str
    bars: PlotAxis
    value: PlotAxis
    stacks: Sequence[BarStack] = ()


@dataclass(frozen=True)
class Span:
    """A stretch of time on a lane.

    Args:
        lane: number of its lane, from 0.
        begin, end: on the time axis.
        kind: what was done, one of the panel's kinds.
        text: what it is, for people.
    """

    lane: int
    begin: float
    end: float
    kind: str
    text: str = ""

    def __post_init__(self) -> None:
        _finite((self.begin, self.end))


@dataclass(frozen=True)
class SpanPanel:
    """A time line: lanes on which stretches of time lie.

    Args:
        lanes: their names.
        time: the axis.
        kinds: what stretches stand for, in the order of a legend.
        spans: in order of begin on each lane.
    """

    title: str
    lanes: Sequence[str]
    time: PlotAxis
    kinds: Sequence[str]
    spans: Sequence[Span] = ()


@dataclass(frozen=True)
class MatrixPanel:
    """A table of cells by colour.

    Args:
        rows, columns: names.
        values: (n_rows, n_columns) numbers that colours stand for; None for an empty cell.
        texts: (n_rows, n_columns) what is written in each.
        value: what the numbers mean.
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]
    texts: Sequence[Sequence[str]]
    value: PlotAxis


@dataclass(frozen=True)
class ParallelAxis:
    """One of several axes that stand side by side: `ticks` are (n,) places from 0 to 1, `labels` what is written there."""

    title: str
    ticks: Sequence[float]
    labels: Sequence[str]


@dataclass(frozen=True)
class ParallelLine:
    """A configuration across all axes.

    Args:
        name: of the configuration.
        places: (n_axes,) from 0 to 1; None where it has no value there.
        value: by which it is coloured; None where nothing was measured.
        text: its values, for people.
        kind: what became of it, e.g. `completed`.
    """

    name: str
    places: Sequence[float | None]
    value: float | None
    text: str = ""
    kind: str = "completed"


@dataclass(frozen=True)
class ParallelPanel:
    """Configurations as lines across axes that stand side by side; `value` says what colours stand for."""

    title: str
    axes: Sequence[ParallelAxis]
    value: PlotAxis
    lines: Sequence[ParallelLine] = ()


@dataclass(frozen=True)
class TablePanel:
    """A table; `units` are those of its columns, empty ones where they have none."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]] = ()
    units: Sequence[str] = ()


FigurePanel: TypeAlias = LinePanel | PointPanel | BarPanel | SpanPanel | MatrixPanel | ParallelPanel | TablePanel


@dataclass(frozen=True)
class Figure:
    """One figure.

    Args:
        key: what it is called in files and addresses, e.g. `best_so_far_wallclock`.
        title: for people.
        panels: side by side or one below the other; none where there is nothing to draw, and then `notes` say why.
        notes: sentences below it: what is shown, and what is left out.
        names: short name -> whole, of those that were shortened.
    """

    key: str
    title: str
    panels: Sequence[FigurePanel] = ()
    notes: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def as_document(figures: Sequence[Figure]) -> dict[str, Any]:
    """Return figures as one document of JSON types: the content of figures.json."""
    return {"schema_version": SCHEMA_VERSION, "figures": [_plain(figure) for figure in figures]}


def as_json(figures: Sequence[Figure]) -> str:
    """Return the same as text; raises `ValueError` where a number is not finite, as no JSON parser reads that."""
    return strict_json.dumps(as_document(figures))


def _plain(value: Any) -> Any:
    if isinstance(value, (str, int, float, bool)) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        found = {name: _plain(item) for name, item in vars(value).items()}
        return {"panel": type(value).__name__.removesuffix("Panel").lower(), **found} if isinstance(value, FigurePanel) else found
    return str(value)


def _alike(count: int, y: Sequence[Any], **others: Sequence[Any]) -> None:
    wrong = {name: len(values) for name, values in {"y": y, **others}.items() if len(values) != count}
    if wrong:
        raise ValueError(f"{count} places, but {wrong}")


def _finite(*columns: Sequence[Any]) -> None:
    for values in columns:
        for value in values:
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{value} cannot be drawn: what is not known is left out, or None")
