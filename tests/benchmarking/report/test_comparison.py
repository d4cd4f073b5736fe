"""The numbers of the verdict, a row for each configuration."""

from __future__ import annotations

import pytest

from benchmarking.analysis.verdict import Measured, judge
from benchmarking.report.comparison import comparison_rows


def measured(*values):
    return [Measured(number, {"x": number * 10, "fixed": 1}, list(some)) for number, some in enumerate(values)]


def test_nothing_measured_has_no_rows():
    assert list(comparison_rows(judge([], "min"), "loss", ["x"])) == []


def test_the_leader_comes_first_and_the_others_say_by_how_much_it_leads():
    leader, other = comparison_rows(judge(measured([2.0, 2.0], [1.0, 1.0]), "min"), "loss", ["x"])
    assert leader == {
        "config": 1,
        "x": 10,
        "loss": 1.0,
        "n": 2,
        **dict.fromkeys(("factor", "difference", "low", "high", "decided", "verdict", "p")),
    }
    assert (other["config"], other["loss"], other["n"], other["decided"]) == (0, 2.0, 2, True)
    assert [other[key] for key in ("factor", "difference", "low", "high")] == pytest.approx([2.0, 1.0, 2.0, 2.0])


def test_measured_once_decides_nothing():
    _, other = comparison_rows(judge(measured([2.0], [1.0]), "min"), "loss", [])
    assert (other["low"], other["high"], other["decided"]) == (None, None, False)


def test_values_that_are_not_positive_are_compared_by_their_difference():
    _, other = comparison_rows(judge(measured([-1.0, -1.2], [3.0, 3.2]), "max"), "score", ["x"])
    assert other["factor"] is None
    assert other["difference"] == pytest.approx(4.2)
    # pooled deviation 0.1414 with 2 degrees of freedom, t = 4.303: half an interval is 4.303 * 0.1414 * sqrt(1/2 + 1/2)
    assert (other["low"], other["high"]) == (pytest.approx(4.2 - 0.6085, abs=1e-3), pytest.approx(4.2 + 0.6085, abs=1e-3))
