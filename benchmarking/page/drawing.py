"""What stands on the page: sections of sentences, tables and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarking.page.tables import SortableTable


@dataclass(frozen=True)
class Drawing:
    """A figure as it is drawn.

    Args:
        identity: letters, digits and hyphens; its place on the page and the name of its picture.
        title: a few words.
        about: what is seen, and how to read it; for screen readers the description of the picture.
        traces: of plotly, all drawn as SVG.
        layout: of plotly.
        table: the numbers that are drawn; None where a table of the section has them.
        wide: whether it takes the whole width.
    """

    identity: str
    title: str
    about: str
    traces: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]
    table: SortableTable | None = None
    wide: bool = False


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Args:
        identity: its anchor.
        title: its heading.
        notes: sentences below the heading.
        tables: in order; `folded` those that are seen when asked for.
        terms: words of the tables, and what they mean.
        drawings: in order.
        closed: whether the drawings are seen when asked for.
    """

    identity: str
    title: str
    notes: Sequence[str] = field(default_factory=tuple)
    tables: Sequence[SortableTable] = field(default_factory=tuple)
    terms: Sequence[tuple[str, str]] = field(default_factory=tuple)
    folded: Sequence[SortableTable] = field(default_factory=tuple)
    drawings: Sequence[Drawing] = field(default_factory=tuple)
    closed: bool = False


@dataclass(frozen=True)
class Page:
    """A report.

    Args:
        title: its heading.
        about: what it holds, in a sentence.
        verdicts: sentences.
        warnings: what the reader has to know first.
        sections: in order.
        advice: what to do where verdicts cannot be decided; empty for none.
    """

    title: str
    about: str
    verdicts: Sequence[str]
    warnings: Sequence[str]
    sections: Sequence[Section]
    advice: str = ""
