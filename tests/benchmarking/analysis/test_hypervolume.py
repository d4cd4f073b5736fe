"""Hypervolumes against a count of unit cubes, inclusion and exclusion, and values worked out by hand."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from benchmarking.analysis.hypervolume import hypervolume, hypervolume_so_far, ideal_point, reference_point

MODES = [{"a": "min", "b": "min"}, {"a": "min", "b": "max"}, {"a": "min", "b": "max", "c": "min"}, {"a": "max", "b": "max", "c": "max"}]


def cubes(points, reference, objectives):
    """Count whole unit cubes between points and reference, of whole numbers."""
    signs = [1 if mode == "min" else -1 for mode in objectives.values()]
    known = [[sign * point[name] for sign, name in zip(signs, objectives, strict=True)] for point in points]
    bound = [sign * reference[name] for sign, name in zip(signs, objectives, strict=True)]
    low = [min([bound[k], *(point[k] for point in known)]) for k in range(len(bound))]
    cells = itertools.product(*(range(int(low[k]), int(bound[k])) for k in range(len(bound))))
    return sum(any(all(point[k] <= cell[k] for k in range(len(bound))) for point in known) for cell in cells)


@pytest.mark.parametrize("objectives", MODES)
def test_it_is_the_number_of_unit_cubes(objectives):
    source = random.Random(len(objectives))
    reference = {name: 6.0 if mode == "min" else -6.0 for name, mode in objectives.items()}
    for _ in range(40):
        points = [{name: float(source.randint(-8, 8)) for name in objectives} for _ in range(source.randrange(9))]
        assert hypervolume(points, reference, objectives) == cubes(points, reference, objectives)


def test_it_is_what_inclusion_and_exclusion_give():
    source = random.Random(3)
    objectives = {"a": "min", "b": "min", "c": "min"}
    points = [{name: source.random() for name in objectives} for _ in range(8)]
    total = 0.0
    for size in range(1, 9):
        for chosen in itertools.combinations(points, size):
            total += (-1) ** (size + 1) * math.prod(1.0 - max(point[name] for point in chosen) for name in objectives)
    assert hypervolume(points, dict.fromkeys(objectives, 1.0), objectives) == pytest.approx(total, rel=1e-12)


def test_by_hand():
    """Steps at (1, 3), (2, 2) and (3, 1) below (4, 4): 3 + 2 + 1."""
    points = [{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 2.0}, {"a": 3.0, "b": 1.0}, {"a": 5.0, "b": 0.0}, {"a": 3.0, "b": 3.0}]
    objectives = {"a": "min", "b": "min"}
    assert hypervolume(points, {"a": 4.0, "b": 4.0}, objectives) == 6.0
    assert hypervolume([], {"a": 4.0, "b": 4.0}, objectives) == 0.0
    # Unknown money is never free.
    assert hypervolume([{"a": 0.0, "b": None}, {"a": 0.0, "b": math.nan}], {"a": 4.0, "b": 4.0}, objectives) == 0.0
    with pytest.raises(ValueError, match="of 4 objectives"):
        hypervolume([], dict.fromkeys("abcd", 1.0), dict.fromkeys("abcd", "min"))


def test_it_grows_with_each_result_that_adds_something():
    objectives = {"a": "min", "b": "max"}
    results = [
        (3.0, {"a": 1.0, "b": 1.0}),
        (1.0, {"a": 9.0, "b": 9.0}),
        (2.0, {"a": 2.0, "b": 2.0}),
        (4.0, {"a": 3.0, "b": 1.0}),
        (5.0, {"a": None, "b": 3.0}),
        (6.0, {"a": 0.0, "b": 3.0}),
    ]
    curve = hypervolume_so_far(results, {"a": 4.0, "b": 0.0}, objectives, 7.0)
    assert (curve.at, curve.values, curve.end) == ((1.0, 2.0, 3.0, 6.0), (0.0, 4.0, 5.0, 12.0), 7.0)
    assert curve(0.5) is None
    for x, value in zip(curve.at, curve.values, strict=True):
        assert value == hypervolume([point for at, point in results if at <= x], {"a": 4.0, "b": 0.0}, objectives)


def test_the_reference_lies_a_tenth_of_the_range_beyond_the_worst():
    objectives = {"a": "min", "b": "max"}
    points = [{"a": 1.0, "b": 10.0}, {"a": 3.0, "b": 20.0}, {"a": 99.0, "b": None}]
    assert reference_point(points, objectives) == {"a": pytest.approx(3.2), "b": pytest.approx(9.0)}
    assert reference_point([{"a": 2.0, "b": 0.0}], objectives) == {"a": pytest.approx(2.2), "b": pytest.approx(-0.1)}
    assert reference_point([{"a": None, "b": 1.0}], objectives) is None


def test_the_ideal_point_has_the_best_of_each_objective():
    points = [{"a": 1.0, "b": 5.0}, {"a": 3.0, "b": 9.0}, {"a": 0.1, "b": None}]
    assert ideal_point(points, {"a": "min", "b": "max"}) == {"a": 1.0, "b": 9.0}
