"""The identity of a configuration is its content."""

import pytest

from definitions.configuration import configuration_id


def test_the_hash_is_pinned_so_that_old_results_stay_readable():
    assert configuration_id({"batch_size": 32, "learning_rate": 0.1, "mode": "file"}) == PINNED


def test_order_does_not_matter():
    assert configuration_id({"a": 1, "b": 2}) == configuration_id({"b": 2, "a": 1})


@pytest.mark.parametrize("other", [{"a": 2}, {"a": "1"}, {"a": True}, {"a": None}, {"b": 1}, {"a": 1, "b": None}, {}])
def test_different_content_differs(other):
    assert configuration_id({"a": 1}) != configuration_id(other)


def test_twelve_hexadecimal_digits_also_for_infinite_values():
    for value in (float("nan"), float("inf"), "größe", None):
        found = configuration_id({"x": value})
        assert len(found) == 12
        assert int(found, 16) >= 0
    assert configuration_id({"x": float("nan")}) == configuration_id({"x": float("nan")})
    assert configuration_id({"x": float("inf")}) != configuration_id({"x": float("-inf")})


PINNED = "0b47432b6142"
