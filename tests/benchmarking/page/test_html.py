"""Nothing that was measured becomes markup."""

from __future__ import annotations

import json

import pytest

from benchmarking.page.html import Html, data_block, element, escaped, shortened


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
        ('a" onclick="x', "a&quot; onclick=&quot;x"),
        ("a&amp;b", "a&amp;amp;b"),
        ("null\u0000 bell\u0007 half \ud800 end", "null\ufffd bell\ufffd half \ufffd end"),
        ("\u00e9 \u4e2d\u6587 \U0001f600", "\u00e9 \u4e2d\u6587 \U0001f600"),
        (Html("<b>kept</b>"), "<b>kept</b>"),
    ],
)
def test_text_is_escaped_and_html_is_not(given, right):
    assert escaped(given) == right


def test_an_element_has_attributes_by_their_names_in_html():
    assert element("td", "a<b", class_="x", data_value='"', hidden=True, title=None) == (
        '<td class="x" data-value="&quot;" hidden>a&lt;b</td>'
    )
    assert element("br") == "<br>"


def test_a_block_of_data_cannot_be_left_and_reads_as_it_was():
    block = data_block("d", {"name": "</script><!-- & \ud800"})
    text = block.removeprefix('<script type="application/json" id="d">').removesuffix("</script>")
    assert "<" not in text
    assert json.loads(text) == {"name": "</script><!-- & \ufffd"}


def test_long_text_is_cut_with_a_mark():
    assert shortened("x" * 10_000, 10) == "x" * 9 + "\u2026"
    assert shortened("x" * 10, 10) == "x" * 10
