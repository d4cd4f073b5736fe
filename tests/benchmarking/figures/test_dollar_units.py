from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarking.figures.data import PlotAxis
from benchmarking.figures.dollar_units import dollar_unit, in_dollars_of
from tests.benchmarking.comparison.made_runs import several


@pytest.mark.parametrize(
    ("kinds", "unit"),
    [
        ([], "USD"),
        (["", ""], "USD"),
        (["real", "real"], "USD"),
        (["nominal", ""], "nominal USD"),
        (["emulated"], "emulated USD"),
        (["real", "nominal"], "nominal and real USD"),
    ],
)
def test_dollars_that_are_not_all_real_are_called_by_their_kind(kinds, unit):
    assert dollar_unit(kinds) == unit


def test_an_axis_of_something_else_stays_as_it_is():
    runs = [replace(run, facts={"dollars": "nominal"}) for run in several("RS", [1.0])]
    assert in_dollars_of(PlotAxis("cost", "USD"), runs).unit == "nominal USD"
    assert in_dollars_of(PlotAxis("time", "s"), runs).unit == "s"
