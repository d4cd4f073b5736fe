"""Bars, stretches of time and matrices as traces: all are bars, which are drawn without WebGL."""

from __future__ import annotations

import pytest

from benchmarking.figures.data import BarPanel, BarStack, MatrixPanel, PlotAxis, Span, SpanPanel
from benchmarking.page.draw_bars import draw_matrix, draw_spans, draw_stacked_bars
from benchmarking.page.palette import styles

METHODS = PlotAxis("method", categories=("RS", "TPE"))


def test_stacked_bars_lie_downwards_with_their_values_and_intervals():
    panel = BarPanel("p", METHODS, PlotAxis("cost", "USD"), (BarStack("run", (1.0, 3.0), (0.5, 2.0), (2.0, 3.5)),))
    (trace,), layout = draw_stacked_bars(panel, styles(["run"], []))
    assert (trace["orientation"], trace["x"], trace["y"]) == ("h", [1.0, 3.0], [0, 1])
    assert (trace["error_x"]["array"], trace["error_x"]["arrayminus"]) == ([1.0, 0.5], [0.5, 1.0])
    assert layout["xaxis"]["title"]["text"] == "cost (USD)"
    assert (layout["yaxis"]["ticktext"], layout["yaxis"]["range"], layout["barmode"]) == (["RS", "TPE"], [1.5, -0.5], "stack")
    assert layout["showlegend"] is False


def test_parts_of_a_bar_are_told_apart_by_patterns_too_and_a_part_alone_has_none():
    parts = (BarStack("failed", (1.0, None)), BarStack("completed", (2.0, 1.0)))
    several, layout = draw_stacked_bars(BarPanel("p", METHODS, PlotAxis("cost"), parts), styles(["failed", "completed"], []))
    assert [trace["marker"].get("pattern", {}).get("shape", "") for trace in several] == ["x", ""]
    assert several[0]["x"] == [1.0, None]
    assert layout["showlegend"] is True
    (alone,), layout = draw_stacked_bars(BarPanel("p", METHODS, PlotAxis("cost"), parts[:1]), styles(["failed"], []))
    assert "pattern" not in alone["marker"]
    assert (alone["name"], layout["showlegend"]) == ("failed", True)


def test_an_interval_that_is_not_known_has_no_length():
    panel = BarPanel("p", METHODS, PlotAxis("share"), (BarStack("s", (1.0, None), (0.5, None), (1.5, None)),))
    (trace,), _ = draw_stacked_bars(panel, styles(["s"], []))
    assert (trace["error_x"]["array"], trace["error_x"]["arrayminus"]) == ([0.5, 0], [0.5, 0])


def test_stretches_of_time_lie_on_their_lanes_and_idle_time_stands_back():
    spans = (Span(0, 0.0, 1.0, "run", "trial 3"), Span(1, 1.0, 2.5, "idle"))
    panel = SpanPanel("l", ("worker 1", "worker 2"), PlotAxis("time", "s"), ("start-up", "run", "idle"), spans)
    (run, idle), layout = draw_spans(panel, styles(panel.kinds, []))
    assert (run["base"], run["x"], run["y"], run["text"]) == ([0.0], [1.0], [0], ["trial 3 0 to 1"])
    assert (idle["base"], idle["x"], idle["y"]) == ([1.0], [1.5], [1])
    assert "pattern" not in run["marker"]
    assert idle["marker"]["pattern"]["fillmode"] == "replace"
    assert layout["yaxis"]["ticktext"] == ["worker 1", "worker 2"]


def test_cells_of_a_matrix_are_shaded_between_the_least_and_the_greatest():
    panel = MatrixPanel("m", ("a", "b"), ("c", "d"), ((0.0, 1.0), (0.5, None)), (("low", "high"), ("mid", "")), PlotAxis("share"))
    (first, second), layout = draw_matrix(panel)
    assert first["marker"]["color"] == ["rgb(214,120,60)", "rgb(88,150,205)"]
    assert second["marker"]["color"] == ["rgb(240,240,240)", "rgba(128,136,144,0.12)"]
    assert first["base"] == [-0.5, 0.5]
    assert second["hovertext"] == ["b, c: mid", "b, d: "]
    assert (layout["xaxis"]["side"], layout["showlegend"]) == ("top", False)


@pytest.mark.parametrize("values", [((None,),), ((2.0,),)])
def test_a_matrix_of_one_value_or_none_is_drawn(values):
    (trace,), _ = draw_matrix(MatrixPanel("m", ("a",), ("b",), values, (("t",),), PlotAxis("share")))
    assert trace["marker"]["color"] == ["rgba(128,136,144,0.12)" if values[0][0] is None else "rgb(240,240,240)"]
