"""Tests of single values from anywhere."""

from typing import Any

import numpy as np
import pytest

from definitions.scalars import is_number, mean, plain


@pytest.mark.parametrize("value", [0, -1.5, 10**300])
def test_finite_numbers_are_numbers(value: Any) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), 10**400, "1", None])
def test_what_a_float_cannot_hold_or_is_no_number_is_none(value: Any) -> None:
    assert not is_number(value)


def test_a_numpy_scalar_becomes_the_python_value() -> None:
    assert type(plain(np.int64(3))) is int
    assert plain("text") == "text"


def test_the_mean_does_not_lose_small_values_beside_large_ones() -> None:
    assert mean([1e16, 1.0, -1e16]) == pytest.approx(1 / 3)
    assert mean([]) is None
