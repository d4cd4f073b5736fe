"""Axes, references and labels as plotly takes them."""

from __future__ import annotations

import math

import pytest

from benchmarking.figures.data import PlotAxis, Reference
from benchmarking.page.layouts import axis_layout, axis_title, common_layout, label, reference_lines

TRIALS = PlotAxis("trials")


def test_a_label_is_text_however_it_looks_and_fits():
    assert label("<b>a</b> & b") == "&lt;b&gt;a&lt;/b&gt; &amp; b"
    assert label("x" * 100) == "x" * 47 + "\u2026"
    assert label("x" * 100, 10) == "x" * 9 + "\u2026"
    assert label("a\u0000b") == "a\ufffdb"


@pytest.mark.parametrize(
    ("axis", "title"),
    [
        (PlotAxis("cost", "nominal USD", better="min"), "cost (nominal USD, less is better)"),
        (PlotAxis("accuracy", better="max"), "accuracy (more is better)"),
        (PlotAxis("time", "s"), "time (s)"),
        (PlotAxis("a<b"), "a&lt;b"),
    ],
)
def test_a_title_has_the_unit_and_which_end_is_the_better_one(axis, title):
    assert axis_title(axis) == title


def test_small_dollars_are_written_out_and_small_seconds_as_powers_of_ten():
    forms = [axis_layout(PlotAxis("x", unit))["exponentformat"] for unit in ("USD", "nominal USD", "s")]
    assert forms == ["none", "none", "e"]


def test_names_stand_at_whole_numbers_and_a_range_of_a_logarithmic_axis_is_one_of_powers():
    named = axis_layout(PlotAxis("method", categories=("RS", "x" * 30)))
    assert (named["tickvals"], named["ticktext"], named["range"]) == ([0, 1], ["RS", "x" * 23 + "\u2026"], [-0.5, 1.5])
    assert axis_layout(PlotAxis("loss", shown=(0.1, 10.0)))["range"] == [0.1, 10.0]
    logarithmic = axis_layout(PlotAxis("loss", log=True, shown=(0.1, 10.0)), side="top")
    assert (logarithmic["type"], logarithmic["range"], logarithmic["side"]) == ("log", [-1.0, 1.0], "top")


@pytest.mark.parametrize(("better", "end"), [("min", (1, "top")), ("max", (0, "bottom")), ("", (0, "bottom"))])
def test_names_of_references_stand_where_curves_are_least(better, end):
    found = reference_lines([Reference(20.0, "compared here"), Reference(0.9, "target", "y")], TRIALS, PlotAxis("acc", better=better))
    upright, lying = found["annotations"]
    assert (upright["x"], upright["y"], upright["yanchor"]) == (20.0, *end)
    assert (lying["x"], lying["xanchor"], lying["y"]) == (0, "left", 0.9)
    assert [(shape["x0"], shape["x1"], shape["y0"], shape["y1"]) for shape in found["shapes"]] == [(20.0, 20.0, 0, 1), (0, 1, 0.9, 0.9)]


def test_on_a_logarithmic_axis_words_stand_at_the_power_and_what_is_not_positive_nowhere():
    found = reference_lines([Reference(100.0, "a", "y"), Reference(0.0, "b", "y")], TRIALS, PlotAxis("loss", log=True))
    assert ([note["y"] for note in found["annotations"]], [shape["y0"] for shape in found["shapes"]]) == ([math.log10(100)], [100.0])


def test_a_drawing_lets_the_page_shine_through():
    layout = common_layout({}, {}, legend=False, bargap=0.3)
    assert (layout["paper_bgcolor"], layout["showlegend"], layout["bargap"], layout["height"]) == ("rgba(0,0,0,0)", False, 0.3, 320)
