"""Looks at a study before it was extended: counted from study.json, and paid for."""

from __future__ import annotations

import pytest

from benchmarking.comparison.looks import level_after
from benchmarking.comparison.question import ComparisonQuestion
from benchmarking.comparison.sentences import looked
from tests.benchmarking.comparison.made_runs import compared, several


def test_the_level_is_below_pococks_for_as_many_looks():
    # Pocock 1977, table 1: nominal levels of a constant boundary, 5 % in all.
    for looks, pocock in {2: 0.0294, 3: 0.0221, 4: 0.0182, 5: 0.0158}.items():
        assert level_after(looks - 1, 0.05) < pocock


def test_all_later_looks_together_take_half_a_level():
    assert level_after(0, 0.05) == 0.05
    assert [level_after(looks, 0.06) for looks in (1, 2, 3)] == pytest.approx([0.01, 0.005, 0.003])
    assert sum(level_after(looks, 1.0) for looks in range(1, 10_000)) == pytest.approx(0.5, abs=1e-3)


def test_a_look_widens_intervals_and_can_take_a_verdict_away_and_is_said():
    runs = [*several("RS", [2.0, 2.2, 1.8, 2.1, 1.9, 2.05]), *several("TPE", [1.0, 1.1, 0.9, 1.05, 0.95, 1.01])]
    once, again = (compared(runs, ComparisonQuestion(looks=looks)) for looks in (0, 1))
    assert (once.rows[1].final.word, again.rows[1].final.word) == ("better", "not decided")
    assert (once.confidence, again.confidence) == pytest.approx((0.95, 1 - 0.05 / 6))
    assert again.rows[1].final.contrast.bounds[0] < once.rows[1].final.contrast.bounds[0]
    assert looked(ComparisonQuestion()) == []
    assert looked(ComparisonQuestion(looks=2))[0].startswith(
        "This study was looked at 2 times and then extended, so that each comparison is judged at 0.42 % instead of 5 %"
    )
