"""Tables: rounded for people, exact for sorting and for the CSV."""

from __future__ import annotations

from benchmarking.page.tables import Column, SortableTable, render_table, table_of

WIDE = SortableTable(
    "c", [Column("m", "method"), Column("v", "value", ("low", "high"), "a hint")], [{"m": "RS", "v": 0.123456789, "low": 0.1, "high": 0.2}]
)


def test_a_cell_shows_a_rounded_number_and_keeps_it_whole():
    text = render_table(WIDE)
    assert '<td class="number" data-value="0.123456789">0.1235 <span class="interval">(0.1000 to 0.2000)</span></td>' in text
    assert '<th scope="col" aria-sort="none" data-key="v" class="number"><button type="button" title="a hint">value</button></th>' in text
    assert "<td>RS</td>" in text


def test_what_is_absent_is_a_dash_that_sorts_as_absent():
    text = render_table(table_of("c", [{"a": 1.5, "b": "x"}, {"a": None, "b": ""}]))
    assert '<td class="number" data-value="">-</td>' in text
    assert '<td data-value="">-</td>' in text


def test_a_long_text_is_cut_but_in_a_table_that_stands_for_a_csv():
    rows = [{"a": "x" * 10_000}]
    assert "x" * 200 not in render_table(table_of("c", rows))
    assert "x" * 10_000 in render_table(SortableTable("c", [Column("a", "a")], rows, "compare"))


def test_columns_come_in_the_order_in_which_rows_have_them():
    assert [column.key for column in table_of("c", [{"b": 1}, {"a": 1, "b": 2}]).columns] == ["b", "a"]
