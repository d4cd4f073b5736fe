"""Which configurations canaries run on."""

import pytest

from benchmarking.controller.method import MethodContext, allow
from benchmarking.methods.candidates import candidates
from definitions.space import SearchSpace


def context(space=None, configurations=(), seed=0):
    return MethodContext(
        None if space is None else SearchSpace.parse(space), tuple(configurations), {"cost_usd": "min"}, None, seed, region="us-east-1"
    )


def numbers(count):
    return context({"n": {"randint": [1, count]}})


def odd(configuration):
    return "it is odd" if configuration["n"] % 2 else None


@pytest.mark.parametrize(("size", "taken"), [(1000, 1000), (1001, 8)])
def test_a_space_of_a_thousand_is_taken_whole_and_of_a_larger_one_eight(size, taken):
    found = candidates(numbers(size), None, allow)
    assert len({one["n"] for one in found}) == len(found) == taken


def test_a_whole_space_is_in_its_order_without_what_cannot_run():
    assert [one["n"] for one in candidates(numbers(9), None, odd)] == [2, 4, 6, 8]
    assert [one["n"] for one in candidates(numbers(9), 4, odd)] == [2, 4, 6, 8]


def test_a_part_of_a_small_space_is_a_seeded_sample():
    first, again, other = (candidates(context({"n": {"randint": [1, 50]}}, seed=seed), 5, odd) for seed in (1, 1, 2))
    assert first == again != other
    assert len(first) == len({one["n"] for one in first}) == 5
    assert all(one["n"] % 2 == 0 for one in first)
    assert [one["n"] for one in first] != [2, 4, 6, 8, 10]


def test_of_a_space_without_end_as_many_as_asked_for():
    assert len(candidates(context({"u": {"uniform": [0, 1]}}), 3, allow)) == 3
    assert len(candidates(context({"u": {"uniform": [0, 1]}}), None, allow)) == 8


def test_where_nothing_may_run_looking_comes_to_an_end():
    asked = []
    assert candidates(context({"u": {"uniform": [0, 1]}}), 2, lambda one: asked.append(one) or "no") == []
    assert len(asked) == 400


def test_of_a_list_the_first_that_run_each_once():
    listed = [{"n": n} for n in (3, 2, 2, 6, 4)]
    assert candidates(context(configurations=listed), None, odd) == [{"n": 2}, {"n": 6}, {"n": 4}]
    assert candidates(context(configurations=listed), 2, odd) == [{"n": 2}, {"n": 6}]


def test_without_space_and_list_there_are_none():
    assert candidates(context(), None, allow) == []
