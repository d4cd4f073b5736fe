"""Where a value stands among the finitely many of a domain."""

import pytest

from definitions.finite_values import index_of, middle_quantile, stepped


def test_true_is_not_one_and_rounding_is_forgiven():
    values = [0, True, 1, "a", 0.30000000000000004, None]
    assert [index_of(values, value) for value in (0, True, 1, "a", 0.3, None, 1.0)] == [0, 1, 2, 3, 4, 5, 2]
    assert index_of([1.0, 1.0 + 1e-12], 1.0 + 1e-12) == 1  # the very one before one that is near
    assert index_of([0.0], 1e-13) == 0
    with pytest.raises(ValueError, match=r"'b' is none of \['a'\]"):
        index_of(["a"], "b")
    with pytest.raises(ValueError, match="is none of"):
        index_of([1.0], 1.001)


@pytest.mark.parametrize(("factor", "value", "expected"), [(1.2, 2, 4), (0.8, 2, 1), (1.0, 2, 2), (1.2, 8, 8), (0.8, 1, 1)])
def test_a_step_goes_to_the_neighbour_and_stays_at_the_ends(factor, value, expected):
    assert stepped([1, 2, 4, 8], value, factor) == expected


def test_the_middle_of_the_quantiles_that_yield_a_value():
    values = ["a", "b", "c", "d"]
    found = [middle_quantile(values, lambda quantile: values[min(int(quantile * 4), 3)], value) for value in values]
    assert found == pytest.approx([0.125, 0.375, 0.625, 0.875], abs=1e-5)


def test_values_of_uneven_weight_have_uneven_middles():
    def at(quantile):
        return 1 if quantile < 0.9 else 2

    assert middle_quantile([1, 2], at, 1) == pytest.approx(0.45, abs=1e-5)
    assert middle_quantile([1, 2], at, 2) == pytest.approx(0.95, abs=1e-5)


def test_values_without_a_hash_and_values_that_are_equal_to_others_have_their_own_middles():
    values = [[1], {"a": 1}, True, 1, "1"]
    middles = [middle_quantile(values, lambda u: values[int(5 * u)], value) for value in values]
    assert middles == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9], abs=1e-5)
