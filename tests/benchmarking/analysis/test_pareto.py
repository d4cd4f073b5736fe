import random

import pytest

from benchmarking.analysis.pareto import noisy_front, pareto_front


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


def test_what_is_not_finite_is_unknown_and_never_free():
    points = [{"cost": float("nan"), "loss": 0.1}, {"cost": float("-inf"), "loss": 0.1}, {"cost": 3.0, "loss": 0.2}]
    assert pareto_front(points, {"cost": "min", "loss": "min"}) == [2]


TWO = {"cost": "min", "speed": "max"}


def repeats(*values):
    return [{"cost": cost, "speed": speed} for cost, speed in values]


def test_what_is_far_ahead_is_on_the_front_and_what_is_far_behind_never():
    clear = [
        repeats((1.0, 10.0), (1.1, 10.1), (0.9, 9.9)),
        repeats((2.0, 20.0), (2.1, 20.1), (1.9, 19.9)),
        repeats((5.0, 5.0), (5.1, 5.1), (4.9, 4.9)),
    ]
    found = noisy_front(clear, TWO)
    assert [(one.on_front, one.probability, one.repeats) for one in found] == [(True, 1.0, 3), (True, 1.0, 3), (False, 0.0, 3)]
    assert found[1].values == {"cost": pytest.approx(2.0), "speed": pytest.approx(20.0)}
    # Student's t of three: 4.303 times 0.1 / sqrt(3).
    assert found[1].intervals["speed"].high == pytest.approx(20.0 + 4.30265 * 0.1 / 3**0.5, rel=1e-5)


def test_two_that_measured_alike_share_the_front():
    """One objective is the same, so the better one of two with equal means is a coin's toss."""
    noise = [-0.3, -0.1, 0.0, 0.1, 0.3]
    same = [repeats(*((1.0, 10.0 + value) for value in noise)) for _ in range(2)]
    found = noisy_front(same, TWO)
    assert [one.on_front for one in found] == [True, True]
    # Both are on it where they come out equal, which five repeats on so few values do.
    assert sum(one.probability for one in found) == pytest.approx(1.06, abs=0.06)
    assert abs(found[0].probability - 0.5) < 0.1


def test_one_repeat_has_no_interval_and_takes_the_noise_of_others():
    measured = [repeats((1.0, 10.0), (1.0, 10.4), (1.0, 9.6)), repeats((1.0, 9.9)), repeats((2.0, 1.0))]
    found = noisy_front(measured, TWO)
    assert found[1].intervals == {"cost": None, "speed": None}
    assert 0.25 < found[1].probability < 0.55
    assert (found[1].on_front, found[2].probability) == (False, 0.0)


def test_without_repeats_nobody_knows_how_sure_the_front_is():
    found = noisy_front([repeats((1.0, 10.0)), repeats((2.0, 1.0))], TWO)
    assert [(one.on_front, one.probability) for one in found] == [(True, None), (False, None)]
    assert noisy_front([], TWO) == []


def test_an_unknown_cost_is_no_point():
    measured = [repeats((None, 99.0), (None, 98.0)), repeats((1.0, 10.0), (None, 10.0))]
    found = noisy_front(measured, TWO)
    assert found[0] is None
    assert found[1].repeats == 1
