"""Step curves of several seeds as one line with a band, by values that can be worked out."""

from __future__ import annotations

import pytest

from benchmarking.analysis.step_curves import StepCurve
from benchmarking.figures.bands import band, line, thinned


def test_a_line_begins_where_all_its_seeds_have_a_result_and_ends_where_the_first_ends():
    curves = [StepCurve((1.0, 4.0), (9.0, 3.0), 5.0), StepCurve((2.0,), (5.0,), 8.0), StepCurve((), (), 8.0)]
    drawn = band("RS", curves, lambda values: sum(values) / len(values), 0.95)
    assert drawn is not None
    assert (drawn.x, drawn.y) == ((2.0, 4.0, 5.0), (7.0, 4.0, 4.0))
    # Student's t of two values: 12.706 standard errors, of 2 and of 1.
    assert drawn.high[0] == pytest.approx(7 + 12.7062 * 2, rel=1e-4)
    assert drawn.low[2] == pytest.approx(4 - 12.7062 * 1, rel=1e-4)
    assert band("RS", [StepCurve((9.0,), (1.0,), 9.0), StepCurve((1.0,), (1.0,), 2.0)], max, 0.95) is None
    assert band("RS", [], max, 0.95) is None


def test_a_band_ends_where_values_can_lie():
    curves = [StepCurve((1.0,), (0.9,), 2.0), StepCurve((1.0,), (0.8,), 2.0)]
    drawn = band("RS", curves, max, 0.95, possible=(0.0, 1.0))
    assert (drawn.low[0], drawn.high[0]) == (pytest.approx(0.85 - 12.7062 * 0.05, rel=1e-4), 1.0)


def test_one_seed_is_a_line_without_a_band_up_to_its_end():
    drawn = band("RS", [StepCurve((1.0, 3.0), (5.0, 2.0), 4.0)], max, 0.95, until=3.5)
    assert (drawn.x, drawn.y, drawn.low) == ((1.0, 3.0, 3.5), (5.0, 2.0, 2.0), ())
    assert line("RS seed 0", StepCurve((1.0, 3.0), (5.0, 2.0), 4.0)).x == (1.0, 3.0, 4.0)
    assert line("RS seed 0", StepCurve((), (), 4.0)) is None


def test_places_are_thinned_evenly_and_keep_their_ends():
    assert thinned([float(number) for number in range(9)], 3) == [0.0, 4.0, 8.0]
    assert thinned([1.0, 2.0], 80) == [1.0, 2.0]
