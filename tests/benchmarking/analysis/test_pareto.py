import random

import pytest

from benchmarking.analysis.pareto import pareto_front


def brute_force(points, objectives):
    def better_or_equal(a, b):
        return all(a[k] <= b[k] if mode == "min" else a[k] >= b[k] for k, mode in objectives.items())

    known = [i for i, point in enumerate(points) if all(point.get(k) is not None for k in objectives)]
    return [
        i
        for i in known
        if not any(better_or_equal(points[j], points[i]) and any(points[j][k] != points[i][k] for k in objectives) for j in known)
    ]


@pytest.mark.parametrize("modes", [("min",), ("min", "max"), ("max", "max", "min")])
def test_against_brute_force_with_ties_and_unknown_values(modes):
    source = random.Random(len(modes))
    objectives = {f"o{k}": mode for k, mode in enumerate(modes)}
    for _ in range(100):
        points = [
            {name: source.choice([None, *map(float, range(-3, 4))] if source.random() < 0.9 else [1.5]) for name in objectives}
            for _ in range(source.randrange(25))
        ]
        assert pareto_front(points, objectives) == brute_force(points, objectives)


def test_a_case_by_hand():
    points = [
        {"cost": 1.0, "speed": 10.0},
        {"cost": 2.0, "speed": 20.0},
        {"cost": 2.0, "speed": 15.0},  # dominated by the one before
        {"cost": 1.0, "speed": 10.0},  # the first once more: neither beats the other
        {"cost": None, "speed": 99.0},
        {"speed": 99.0},
        {"cost": 3.0, "speed": 19.0},
    ]
    assert pareto_front(points, {"cost": "min", "speed": "max"}) == [0, 1, 3]


def test_no_points():
    assert pareto_front([], {"a": "min"}) == []
