"""Lines with bands and points with intervals as traces."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.figures.data import Curve, LinePanel, PlotAxis, PointGroup, PointPanel
from benchmarking.page.draw_lines import draw_lines, draw_points
from benchmarking.page.palette import styles

KNOWN = styles(["RS", "TPE"], ["RS", "TPE"])
X, Y = PlotAxis("trials"), PlotAxis("loss", better="min")


def test_a_band_lies_below_its_line_and_is_filled_between_its_ends():
    low, high, line = draw_lines(LinePanel("p", X, Y, (Curve("RS", (1.0, 2.0), (3.0, 2.0), (2.0, 1.0), (4.0, 3.0), step=True),)), KNOWN)[0]
    assert (low["y"], high["y"], line["y"]) == ([2.0, 1.0], [4.0, 3.0], (3.0, 2.0))
    assert (low["fill"], high["fill"], line["line"]["shape"]) == ("none", "tonexty", "hv")
    assert high["fillcolor"] == KNOWN["RS"].faint(0.18)
    assert [trace["showlegend"] for trace in (low, high, line)] == [False, False, True]


def test_a_band_has_a_gap_where_its_ends_are_not_known():
    curve = Curve("RS", (1.0, 2.0, 3.0), (3.0, 2.0, 1.0), (2.0, None, 0.5), (4.0, None, 1.5))
    found = draw_lines(LinePanel("p", X, Y, (curve,)), KNOWN)[0]
    assert [trace["x"] for trace in found] == [[1.0], [1.0], [3.0], [3.0], (1.0, 2.0, 3.0)]


def test_seeds_of_a_method_have_one_colour_and_one_place_in_the_legend():
    curves = tuple(Curve(f"{name} seed {at}", (1.0,), (float(at),), group=name) for name in ("RS", "TPE") for at in (0, 1))
    traces, _ = draw_lines(LinePanel("p", X, Y, curves), KNOWN)
    assert [(trace["name"], trace["showlegend"], trace["line"]["color"]) for trace in traces] == [
        ("RS", True, KNOWN["RS"].colour),
        ("RS", False, KNOWN["RS"].colour),
        ("TPE", True, KNOWN["TPE"].colour),
        ("TPE", False, KNOWN["TPE"].colour),
    ]
    assert [trace["text"] for trace in traces][:2] == ["RS seed 0", "RS seed 1"]


def test_points_of_one_name_stand_beside_each_other_and_their_aggregate_aside():
    groups = (PointGroup("RS", ("RS", "RS"), (1.0, 1.0)), PointGroup("RS: mean", ("RS",), (1.0,), group="RS", kind="aggregate"))
    (seeds, mean), layout = draw_points(PointPanel("p", PlotAxis("method", categories=("RS",)), Y, groups), KNOWN)
    assert seeds["x"] == pytest.approx([-0.18, 0.18])
    assert mean["x"] == pytest.approx([0.3])
    assert (mean["marker"]["symbol"], seeds["marker"]["symbol"]) == ("diamond", KNOWN["RS"].symbol)
    # Their names stand on the axis.
    assert layout["showlegend"] is False


def test_points_among_numbers_have_intervals_both_ways_and_a_legend():
    group = PointGroup("RS", (1.0, 2.0), (3.0, 4.0), (0.5, None), (2.0, None), (2.5, 3.0), (3.5, 6.0), kind="front")
    (trace,), layout = draw_points(PointPanel("p", X, Y, (group,)), KNOWN)
    assert (trace["error_x"]["arrayminus"], trace["error_x"]["array"]) == ([0.5, 0.0], [1.0, 0.0])
    assert (trace["error_y"]["arrayminus"], trace["error_y"]["array"]) == ([0.5, 1.0], [0.5, 2.0])
    assert (trace["x"], trace["marker"]["symbol"], layout["showlegend"]) == ([1.0, 2.0], "star", True)
    (behind,), _ = draw_points(PointPanel("p", X, Y, (replace(group, kind="beaten"),)), KNOWN)
    assert behind["error_x"]["thickness"] < trace["error_x"]["thickness"]


def test_points_without_intervals_have_no_bars():
    (trace,), _ = draw_points(PointPanel("p", X, Y, (PointGroup("RS", (1.0,), (2.0,)),)), KNOWN)
    assert {"error_x", "error_y"} & trace.keys() == set()
