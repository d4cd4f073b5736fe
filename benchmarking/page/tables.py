"""Tables that are sorted in the browser: what a person reads beside the value that it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarking.export.files import cell
from benchmarking.page.html import Html, element, joined, shortened
from benchmarking.report.text import shown


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        key: under which a row holds its value.
        label: its head.
        ends: keys of the two ends of an interval around the value; empty where it has none.
        hint: what it means, for who points at its head.
    """

    key: str
    label: str
    ends: tuple[str, str] | tuple[()] = ()
    hint: str = ""


@dataclass(frozen=True)
class SortableTable:
    """A table.

    Args:
        caption: what it shows.
        columns: from left to right.
        rows: (n_rows,) each a value by key; what is absent is None.
        csv_name: of the CSV whose cells these are, which are then kept whole however long; empty where they are of none.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    csv_name: str = ""


def table_of(caption: str, rows: Sequence[Mapping[str, Any]]) -> SortableTable:
    """Return a table with a column for each key of its rows, in the order in which they appear."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    return SortableTable(caption, [Column(key, key.replace("_", " ")) for key in keys], rows)


def render_table(table: SortableTable) -> Html:
    """Return a table as HTML: each head is a button that sorts, each cell keeps its exact value as CSV writes it."""
    numeric = {column.key for column in table.columns if _is_numeric([row.get(column.key) for row in table.rows])}
    heads = [
        element(
            "th",
            element("button", column.label, type="button", title=column.hint or None),
            scope="col",
            aria_sort="none",
            data_key=column.key,
            class_="number" if column.key in numeric else None,
        )
        for column in table.columns
    ]
    rows = [
        element("tr", *(_cell(row, column, column.key in numeric, bool(table.csv_name)) for column in table.columns)) for row in table.rows
    ]
    made = element(
        "table",
        element("caption", element("span", table.caption)),
        element("thead", element("tr", *heads)),
        element("tbody", joined(rows, "\n")),
        data_csv=table.csv_name or None,
    )
    # A wide table scrolls inside its own region, which the keyboard reaches.
    return element("div", made, class_="scroll", role="region", tabindex="0", aria_label=shortened(table.caption))


def _cell(row: Mapping[str, Any], column: Column, number: bool, exact: bool) -> Html:
    value = row.get(column.key)
    whole = cell(value)
    text = shown(value) if isinstance(value, (int, float, type(None))) else shortened(whole) or "-"
    bounds = [row.get(key) for key in column.ends]
    interval: tuple[Html, ...] = ()
    if value is not None and bounds and None not in bounds:
        interval = (Html(" "), element("span", f"({shown(bounds[0])} to {shown(bounds[1])})", class_="interval"))
    kept = whole if exact or number else shortened(whole)
    word = f"word {value.replace(' ', '-')}" if column.key == "verdict" and isinstance(value, str) else None
    return element("td", text, *interval, class_="number" if number else word, data_value=None if kept == text and not interval else kept)


def _is_numeric(values: Sequence[Any]) -> bool:
    there = [value for value in values if value is not None]
    return bool(there) and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in there)
