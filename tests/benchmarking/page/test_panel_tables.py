"""The numbers of each kind of panel as a table."""

from __future__ import annotations

import pytest

from benchmarking.figures.data import (
    BarPanel,
    BarStack,
    Curve,
    LinePanel,
    MatrixPanel,
    ParallelAxis,
    ParallelLine,
    ParallelPanel,
    PlotAxis,
    PointGroup,
    PointPanel,
    Span,
    SpanPanel,
    TablePanel,
)
from benchmarking.page.panel_tables import panel_table

TIME, LOSS = PlotAxis("time", "s"), PlotAxis("loss")


def shown(panel):
    """Heads, and rows without their keys."""
    table = panel_table(panel)
    return [column.label for column in table.columns], [[row[column.key] for column in table.columns] for row in table.rows]


@pytest.mark.parametrize(
    ("panel", "heads", "rows"),
    [
        (
            LinePanel("p", TIME, LOSS, (Curve("RS", (1.0, 2.0), (3.0, 2.0), (2.5, None), (3.5, None)),)),
            ["line", "time (s)", "loss", "low", "high"],
            [["RS", 1.0, 3.0, 2.5, 3.5], ["RS", 2.0, 2.0, None, None]],
        ),
        (
            LinePanel("p", TIME, LOSS, (Curve("RS", (1.0,), (3.0,)),), (PointGroup("stopped", (1.0,), (3.0,), kind="stopped"),)),
            ["line", "time (s)", "loss", "what"],
            [["RS", 1.0, 3.0, ""], ["stopped", 1.0, 3.0, "stopped"]],
        ),
        (
            PointPanel("p", TIME, LOSS, (PointGroup("a", (1.0,), (2.0,), y_low=(1.5,), y_high=(2.5,), texts=("trial 1",)),)),
            ["points", "time (s)", "loss", "loss low", "loss high", "what"],
            [["a", 1.0, 2.0, 1.5, 2.5, "trial 1"]],
        ),
        (
            BarPanel("p", PlotAxis("m", categories=("RS", "TPE")), TIME, (BarStack("run", (1.0, 2.0)), BarStack("idle", (0.5, None)))),
            ["", "run", "idle"],
            [["RS", 1.0, 0.5], ["TPE", 2.0, None]],
        ),
        (
            SpanPanel("p", ("worker 1",), TIME, ("run",), (Span(0, 0.0, 2.0, "run", "trial 0"),)),
            ["lane", "kind", "begin (s)", "end (s)", "what"],
            [["worker 1", "run", 0.0, 2.0, "trial 0"]],
        ),
        (
            MatrixPanel("p", ("RS",), ("TPE", "BO"), ((0.0, 1.0),), (("0, 0, 1", "1, 0, 0"),), PlotAxis("share")),
            ["", "TPE", "BO"],
            [["RS", "0, 0, 1", "1, 0, 0"]],
        ),
        (
            ParallelPanel("p", (ParallelAxis("x", (), ()),), LOSS, (ParallelLine("c", (0.1,), 2.0, "x=1"),)),
            ["configuration", "what became of it", "loss", "values"],
            [["c", "completed", 2.0, "x=1"]],
        ),
        (TablePanel("p", ("a", "b"), ((1, "x"),), ("s", "")), ["a (s)", "b"], [[1, "x"]]),
    ],
    ids=["lines with a band", "lines with marks", "points", "bars", "spans", "matrix", "parallel", "table"],
)
def test_a_panel_s_numbers_stand_under_heads_with_their_units(panel, heads, rows):
    assert shown(panel) == (heads, rows)


def test_of_very_many_the_first_stand_there_and_the_caption_says_where_all_are():
    table = panel_table(LinePanel("p", TIME, LOSS, (Curve("RS", tuple(map(float, range(1_401))), (1.0,) * 1_401),)))
    assert (table.caption, len(table.rows)) == ("Numbers of p: the first 400 of 1,401, all are in figures.json", 400)


def test_a_table_of_its_own_is_whole_and_has_its_title():
    table = panel_table(TablePanel("All forecasts", ("a",), tuple((number,) for number in range(500))))
    assert (table.caption, len(table.rows)) == ("All forecasts", 500)
