"""Domains as quantile functions, by numbers; what a definition may say of them, by message."""

import itertools
import math
import random
from collections import Counter

import pytest

from definitions.errors import UserError
from definitions.space import KINDS, Choice, Constant, FiniteRange, Interval, NearestOrdinal, SearchSpace, parse_domain

QUANTILES = (0.0, 0.25, 0.5, 0.75, 1 - 2**-53)


def values_at(spec, quantiles=QUANTILES):
    return [parse_domain(spec).at(u) for u in quantiles]


def shares(spec, count=20_000):
    source = random.Random(3)
    domain = parse_domain(spec)
    found = Counter(domain.at(source.random()) for _ in range(count))
    return {value: found[value] / count for value in sorted(found)}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (7, [7] * 5),
        ({"choice": ["a", "b", "c", "d"]}, ["a", "b", "c", "d", "d"]),
        ({"ordinal": [1, 2]}, [1, 1, 2, 2, 2]),
        ({"uniform": [-1, 3]}, [-1, 0, 1, 2, 3]),
        ({"loguniform": [1e-4, 1]}, [1e-4, 1e-3, 1e-2, 1e-1, 1]),
        ({"reverseloguniform": [0, 0.9999]}, [0, 0.9, 0.99, 0.999, 0.9999]),
        ({"randint": [1, 4]}, [1, 2, 3, 4, 4]),
        ({"lograndint": [1, 1000]}, [1, 3, 22, 150, 1000]),
        ({"quniform": [0, 1, 0.2]}, [0, 0.2, 0.6, 0.8, 1]),
        ({"qrandint": [8, 32, 8]}, [8, 16, 24, 32, 32]),
        ({"qlograndint": [8, 64, 8]}, [8, 8, 16, 32, 64]),
        ({"finrange": [0, 1, 5]}, [0, 0.25, 0.5, 0.75, 1]),
        ({"logfinrange": [1, 1000, 4]}, [1, 10, 100, 1000, 1000]),
        ({"logordinal": [1, 10, 100]}, [1, 1, 10, 100, 100]),
    ],
)
def test_quantiles(spec, expected):
    assert values_at(spec) == pytest.approx(expected) if not isinstance(expected[0], str) else values_at(spec) == expected


@pytest.mark.parametrize("spec", [{"quniform": [0.1, 0.7, 0.1]}, {"qloguniform": [0.1, 0.9, 0.1]}])
def test_multiples_of_a_decimal_quantum_are_written_short(spec):
    assert all(len(repr(value)) == 3 for value in parse_domain(spec).grid(0))


def test_a_quantised_value_stays_a_multiple_at_bounds_that_are_none():
    domain = parse_domain({"quniform": [0.12, 1.0, 0.1]})
    assert domain.at(0.0) == 0.2
    assert domain.size == 9
    assert domain.grid(0) == (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_whole_numbers_are_equally_likely_bounds_included():
    assert shares({"randint": [1, 4]}) == pytest.approx(dict.fromkeys((1, 2, 3, 4), 0.25), abs=0.01)
    assert shares({"qrandint": [10, 30, 10]}) == pytest.approx(dict.fromkeys((10, 20, 30), 1 / 3), abs=0.01)


def test_log_whole_numbers_have_the_share_of_their_surroundings_on_the_log_scale():
    width = math.log(4.5 / 0.5)
    expected = {k: math.log((k + 0.5) / (k - 0.5)) / width for k in (1, 2, 3, 4)}
    assert shares({"lograndint": [1, 4]}) == pytest.approx(expected, abs=0.01)


def test_nearest_ordinals_have_the_share_of_the_line_that_is_nearest():
    # The line reaches half a mean distance (0.75) beyond the ends: from 0.25 to 4.75.
    assert shares({"nnordinal": [1, 2, 4]}) == pytest.approx({1: 1.25 / 4.5, 2: 1.5 / 4.5, 4: 1.75 / 4.5}, abs=0.01)
    assert shares({"logordinal": [1, 10, 100]}) == pytest.approx(dict.fromkeys((1, 10, 100), 1 / 3), abs=0.01)
    assert parse_domain({"nnordinal": [5]}).at(0.9) == 5


def test_uniform_samples_have_the_moments_of_their_distribution():
    source = random.Random(1)
    drawn = [parse_domain({"loguniform": [1e-3, 1e3]}).at(source.random()) for _ in range(20_000)]
    logs = [math.log10(value) for value in drawn]
    assert sum(logs) / len(logs) == pytest.approx(0, abs=0.03)
    assert sum(x * x for x in logs) / len(logs) == pytest.approx(6**2 / 12, rel=0.02)


@pytest.mark.parametrize(
    ("spec", "size"),
    [
        (None, 1),
        ({"choice": [1, "a", None]}, 3),
        ({"randint": [0, 9]}, 10),
        ({"uniform": [0, 1]}, None),
        ({"uniform": [1, 1]}, 1),
        ({"quniform": [0, 0.7, 0.1]}, 8),
        ({"qrandint": [1, 10, 3]}, 3),
        ({"finrange": [0, 1, 11]}, 11),
        ({"logfinrange": [1, 4, 10, True]}, 4),
        ({"finrange": [2, 5, 1]}, 1),
    ],
)
def test_sizes_and_grids_agree(spec, size):
    domain = parse_domain(spec)
    assert domain.size == size
    if size is not None:
        assert len(domain.grid(2)) == size
        assert all(domain.contains(value) for value in domain.grid(2))


def test_grids_of_intervals_reach_both_bounds():
    assert parse_domain({"loguniform": [0.001, 10]}).grid(5) == pytest.approx((0.001, 0.01, 0.1, 1, 10))
    assert parse_domain({"loguniform": [0.001, 10]}).grid(5)[-1] == 10
    assert parse_domain({"uniform": [0, 4]}).grid(1) == (2.0,)
    assert parse_domain({"uniform": [3, 3]}).grid(4) == (3.0,)


@pytest.mark.parametrize("points", [2, 5, 9])
def test_samples_are_always_in_their_domain(points):
    specs = [
        {"uniform": [-0.3, 0.1]},
        {"loguniform": [1e-9, 1e9]},
        {"reverseloguniform": [0.1, 0.999]},
        {"lograndint": [1, 7]},
        {"qloguniform": [0.3, 4.1, 0.3]},
        {"qreverseloguniform": [0.1, 0.9, 0.05]},
        {"logfinrange": [0.1, 3, points]},
        {"nnordinal": [1, 2.5, 99]},
    ]
    for spec in specs:
        domain = parse_domain(spec)
        for u in [k / 97 for k in range(97)] + [1 - 2**-53]:
            assert domain.contains(domain.at(u)), (spec, u)


@pytest.mark.parametrize(
    ("spec", "inside", "outside"),
    [
        ({"choice": [1, "1", None]}, [1, 1.0, "1", None], [True, 2, "None"]),
        ({"choice": [True, 0]}, [True, 0], [1, False]),
        ({"uniform": [0, 1]}, [0, 1, 0.5], [-1e-9, True, "0.5", None, math.nan, math.inf]),
        ({"randint": [1, 3]}, [1, 3, 2.0], [0, 2.5, True, math.inf, math.nan]),
        ({"quniform": [0, 1, 0.1]}, [0.3, 0.1 + 0.2, 1], [0.35, 1.1]),
        ({"qrandint": [0, 10, 5]}, [0, 5], [4, 15]),
        ({"finrange": [0, 1, 3]}, [0, 0.5, 1], [0.4, False]),
        (5, [5, 5.0], [6, True, "5"]),
    ],
)
def test_membership(spec, inside, outside):
    domain = parse_domain(spec)
    assert [value for value in inside if not domain.contains(value)] == []
    assert [value for value in outside if domain.contains(value)] == []


EXAMPLES = {
    "choice": [1, "a", None, True],
    "ordinal": ["s", "m"],
    "nnordinal": [1, 2.5],
    "logordinal": [1, 10],
    "uniform": [0.0, 1.0],
    "loguniform": [0.1, 1.0],
    "reverseloguniform": [0.0, 0.9],
    "randint": [1, 3],
    "lograndint": [1, 3],
    "quniform": [0.0, 1.0, 0.5],
    "qloguniform": [0.5, 1.0, 0.5],
    "qreverseloguniform": [0.0, 0.5, 0.5],
    "qrandint": [2, 4, 2],
    "qlograndint": [2, 4, 2],
    "finrange": [0.0, 1.0, 3],
    "logfinrange": [1.0, 9.0, 3, True],
}


def test_every_kind_reads_what_it_writes():
    assert set(EXAMPLES) == set(KINDS)
    for kind, values in EXAMPLES.items():
        domain = parse_domain({kind: values})
        assert domain.spec() == {kind: values}
        assert parse_domain(domain.spec()) == domain


def test_what_the_kinds_become():
    assert parse_domain("x") == Constant("x")
    assert parse_domain({"ordinal": [1, 2]}) == Choice((1, 2), ordered=True)
    assert parse_domain({"lograndint": [1.0, 1e2]}) == Interval(1, 100, "log", True)
    assert parse_domain({"logfinrange": [1, 8, 4, True]}) == FiniteRange(1.0, 8.0, 4, "log", True)
    assert parse_domain({"logordinal": [1, 2]}) == NearestOrdinal((1, 2), "log")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ([1, 2], "space.x: [1, 2] is no domain\n  a list of values is written {choice: [...]}"),
        ({"choise": [1]}, "space.x: there is no domain kind 'choise'\n  did you mean 'choice'?"),
        ({"choice": 3}, "space.x: choice needs a list\n  3 was given"),
        ({"choice": []}, "space.x: choice is empty\n  there is nothing to choose from\n  list at least one value"),
        (
            {"choice": [[1, {"a": b"x"}]]},
            "space.x: b'x' is no value\n  values are numbers, text, true/false, null, and lists and mappings of these",
        ),
        ({"choice": [1, 1.0]}, "space.x: choice lists a value twice\n  values: [1, 1.0]\n  list each value once"),
        ({"uniform": [1]}, "space.x: uniform needs [lower, upper], all numbers\n  [1] was given"),
        ({"uniform": [True, 2]}, "space.x: uniform needs [lower, upper], all numbers\n  [True, 2] was given"),
        ({"uniform": [[1], 2]}, "space.x: uniform needs [lower, upper], all numbers\n  [[1], 2] was given"),
        ({"uniform": [0, math.inf]}, "space.x: uniform needs [lower, upper], all numbers\n  [0, inf] was given"),
        ({"uniform": [2, 1]}, "space.x: uniform from 2 to 1 is empty\n  the lower bound must not exceed the upper one"),
        ({"loguniform": [0, 1]}, "space.x: loguniform starts at 0\n  a log scale needs a lower bound above 0"),
        ({"logfinrange": [0, 1, 3]}, "space.x: logfinrange starts at 0\n  a log scale needs a lower bound above 0"),
        ({"reverseloguniform": [0, 1]}, "space.x: reverseloguniform goes from 0 to 1\n  a reverse-log scale needs bounds in [0, 1)"),
        ({"randint": [1, 2.5]}, "space.x: randint needs whole numbers\n  1, 2.5 were given"),
        ({"qrandint": [1, 4, 0.5]}, "space.x: qrandint needs whole numbers\n  1, 4, 0.5 were given"),
        ({"quniform": [0, 1, 0]}, "space.x: quniform needs a quantum above 0\n  0 was given"),
        ({"quniform": [0, 1]}, "space.x: quniform needs [lower, upper, quantum], all numbers\n  [0, 1] was given"),
        ({"quniform": [0.11, 0.19, 0.1]}, "space.x: quniform from 0.11 to 0.19 is empty\n  no multiple of 0.1 lies between the bounds"),
        ({"finrange": [0, 1, 2.5]}, "space.x: finrange needs a whole number of points\n  2.5 was given"),
        ({"finrange": [0, 1, True]}, "space.x: finrange needs [lower, upper, points], all numbers\n  [0, 1, True] was given"),
        ({"finrange": [0, 1, 3, 1]}, "space.x: finrange needs [lower, upper, points], all numbers\n  [0, 1, 3, 1] was given"),
        (
            {"nnordinal": [2, 1]},
            "space.x: nnordinal needs ascending numbers\n  [2, 1] was given\n  for other ordered values write {ordinal: [...]}",
        ),
        ({"logordinal": [0, 1]}, "space.x: logordinal starts at 0\n  a log scale needs numbers above 0"),
    ],
)
def test_what_is_no_domain(spec, message):
    with pytest.raises(UserError) as caught:
        parse_domain(spec, "x")
    assert str(caught.value) == message


def test_two_kinds_at_once():
    with pytest.raises(UserError, match=r"a domain has one key, e.g. \{choice: \[1, 2\]\}"):
        parse_domain({"choice": [1], "uniform": [0, 1]}, "x")


class TestSearchSpace:
    space = SearchSpace.parse({"b": {"choice": [1, 2]}, "a": {"randint": [0, 2]}, "c": "fixed"})

    def test_size_is_the_product(self):
        assert self.space.size == 6
        assert SearchSpace.parse({"x": {"uniform": [0, 1]}, "y": 1}).size is None
        assert SearchSpace.parse({}).size == 1

    def test_the_grid_has_every_combination_once_in_the_order_of_the_definition(self):
        listed = [tuple(configuration.items()) for configuration in self.space.grid(1)]
        assert listed == [(("b", b), ("a", a), ("c", "fixed")) for b, a in itertools.product((1, 2), (0, 1, 2))]

    def test_a_sample_draws_each_dimension_once_in_order(self):
        class Counting:
            def __init__(self):
                self.numbers = iter((0.9, 0.5, 0.1))

            def random(self):
                return next(self.numbers)

        assert self.space.sample(Counting()) == {"b": 2, "a": 1, "c": "fixed"}

    def test_the_same_seed_samples_the_same(self):
        one, other = random.Random(7), random.Random(7)
        assert [self.space.sample(one) for _ in range(5)] == [self.space.sample(other) for _ in range(5)]

    def test_it_reads_what_it_writes(self):
        assert SearchSpace.parse(self.space.spec()) == self.space

    @pytest.mark.parametrize(
        ("configuration", "message"),
        [
            ({"b": 1, "a": 0}, "the configuration lacks 'c'\n  every key of the space needs a value"),
            ({"b": 1, "a": 0, "c": "fixed", "bb": 1}, "configuration key 'bb' is not in the space\n  did you mean 'b'?"),
            ({"b": 3, "a": 0, "c": "fixed"}, "b = 3 is out of range\n  its domain is {'choice': [1, 2]}"),
        ],
    )
    def test_check(self, configuration, message):
        with pytest.raises(UserError) as caught:
            self.space.check(configuration)
        assert str(caught.value) == message

    def test_every_point_of_the_grid_passes_the_check(self):
        for configuration in self.space.grid(3):
            self.space.check(configuration)


def test_lists_mappings_and_null_are_values():
    domain = parse_domain({"choice": [None, [64, 64], {"depth": 2}, 3]})
    assert domain.size == 4
    assert domain.contains([64, 64])
    assert not domain.contains([64])
    assert [domain.at(u) for u in (0.0, 0.3, 0.6, 0.9)] == [None, [64, 64], {"depth": 2}, 3]
