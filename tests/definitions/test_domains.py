"""What a dimension of a search space says of itself, so that nobody has to ask of which kind it is."""

import pytest

from definitions.domains import FiniteRange
from definitions.space import parse_domain

CHOICE, ORDINAL = {"choice": ["b", "a", "c"]}, {"ordinal": ["s", "m", "l"]}
WHOLE, STEPS, RANGE, NEAREST = {"randint": [1, 9]}, {"quniform": [0.0, 1.0, 0.25]}, {"logfinrange": [1, 100, 3]}, {"nnordinal": [1, 2, 8]}
REAL, LOG = {"uniform": [0.0, 10.0]}, {"loguniform": [0.01, 100.0]}


@pytest.mark.parametrize(
    ("spec", "listed", "even", "ordered"),
    [
        (5, True, True, True),
        (CHOICE, True, True, False),
        (ORDINAL, True, True, True),
        (NEAREST, False, False, True),
        (RANGE, False, True, True),
        (WHOLE, False, False, True),
        (REAL, False, False, True),
    ],
)
def test_what_its_values_are_like(spec, listed, even, ordered):
    domain = parse_domain(spec)
    assert (domain.is_listed, domain.is_even, domain.is_ordered) == (listed, even, ordered)


@pytest.mark.parametrize(
    ("spec", "value", "factor", "expected"),
    [
        (REAL, 5.0, 1.2, 6.0),
        (REAL, 9.0, 1.2, 10.0),
        (WHOLE, 5, 1.2, 6),
        (WHOLE, 2, 1.2, 3),  # 2.4 rounds back to 2, and a factor still means a step
        (WHOLE, 1, 0.8, 1),
        (WHOLE, 9, 0.8, 7),
        (STEPS, 0.5, 1.2, 0.75),
        (ORDINAL, "m", 0.8, "s"),
        (ORDINAL, "l", 1.2, "l"),
        (RANGE, 10.0, 1.2, 100.0),
        (NEAREST, 2, 0.8, 1),
        (5, 5, 1.2, 5),
    ],
)
def test_a_value_times_a_factor(spec, value, factor, expected):
    assert parse_domain(spec).scaled(value, factor) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("spec", "value", "u"),
    [(REAL, 2.5, 0.25), (LOG, 1.0, 0.5), (WHOLE, 1, 0.5 / 9), (WHOLE, 9, 8.5 / 9), (ORDINAL, "m", 0.5), (RANGE, 1, 1 / 6), (7, 7, 0.5)],
)
def test_the_quantile_is_in_the_middle_of_those_that_yield_the_value(spec, value, u):
    domain = parse_domain(spec)
    assert domain.quantile(value) == pytest.approx(u, abs=1e-5)
    assert domain.at(domain.quantile(value)) == pytest.approx(value)


def test_a_value_that_is_none_of_the_domains_has_no_quantile():
    with pytest.raises(ValueError, match="'x' is none of"):
        parse_domain(ORDINAL).quantile("x")


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (FiniteRange(2.0, 8.0, 1), (2.0,)),
        (FiniteRange(2.0, 8.0, 3), (2.0, 5.0, 8.0)),
        (FiniteRange(1, 100, 3, "log", integer=True), (1, 10, 100)),
        (FiniteRange(1, 2, 5, integer=True), (1, 2)),
    ],
)
def test_a_finite_range_has_its_values_and_of_one_point_the_lower_end(domain, values):
    assert domain.grid(0) == pytest.approx(values)
    assert domain.size == len(values)
