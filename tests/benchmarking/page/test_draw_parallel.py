"""Parallel coordinates as lines: which are in front, what tells fifths apart, and where words stand."""

from __future__ import annotations

from benchmarking.figures.data import ParallelAxis, ParallelLine, ParallelPanel, PlotAxis
from benchmarking.page.draw_parallel import draw_parallel

AXES = (ParallelAxis("rate", (0.0, 1.0), ("0.001", "0.1")), ParallelAxis("width", (0.5,), ("<64>",)))


def panel(values, better="min"):
    lines = tuple(ParallelLine(f"c{at}", (at / 10, 0.5), value, f"rate={at}") for at, value in enumerate(values))
    return ParallelPanel("p", AXES, PlotAxis("loss", better=better), lines)


def test_the_best_fifth_is_named_first_and_drawn_last_and_the_others_are_seen_through():
    traces, layout = draw_parallel(panel([float(at) for at in range(10)]))
    assert [trace["name"] for trace in traces] == [
        "last fifth: 8.000 to 9.000",
        "fourth fifth: 6.000 to 7.000",
        "middle fifth: 4.000 to 5.000",
        "second fifth: 2.000 to 3.000",
        "best fifth: loss 0 to 1.000",
    ]
    assert layout["legend"]["traceorder"] == "reversed"
    assert ["opacity" in trace for trace in traces] == [True] * 4 + [False]
    assert len({(trace["line"]["color"], trace["line"]["dash"], trace["line"]["width"]) for trace in traces}) == 5


def test_more_may_be_better():
    traces, _ = draw_parallel(panel([float(at) for at in range(5)], "max"))
    assert traces[-1]["name"] == "best fifth: loss 4.000 to 4.000"


def test_lines_of_one_trace_are_parted_and_a_place_that_is_not_known_is_a_gap():
    lines = (ParallelLine("a", (0.0, None), 1.0), ParallelLine("b", (0.2, 0.5), 2.0), ParallelLine("c", (0.3, 0.4), None, kind="failed"))
    without, measured = draw_parallel(ParallelPanel("p", AXES, PlotAxis("loss"), lines))[0]
    assert (without["name"], measured["name"]) == ("without a value", "all: loss 1.000 to 2.000")
    assert measured["x"] == [0, 1, None, 0, 1, None]
    assert measured["y"] == [0.0, None, None, 0.2, 0.5, None]
    assert measured["connectgaps"] is False


def test_words_stand_at_their_axes_those_of_the_last_before_it():
    _, layout = draw_parallel(panel([1.0]))
    assert (layout["xaxis"]["tickvals"], layout["xaxis"]["ticktext"]) == ([0, 1], ["rate", "width"])
    assert [(note["text"], note["x"], note["y"], note["xanchor"]) for note in layout["annotations"]] == [
        ("0.001", 0, 0.0, "left"),
        ("0.1", 0, 1.0, "left"),
        ("&lt;64&gt;", 1, 0.5, "right"),
    ]
    assert [shape["x0"] for shape in layout["shapes"]] == [0, 1]
