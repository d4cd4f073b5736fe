"""Random configurations of a space: the same for all who have the seed, none twice."""

import itertools
import random

import pytest

from benchmarking.methods.draws import draws, permutation
from definitions.space import SearchSpace

LARGE = SearchSpace.parse({f"k{i}": {"choice": list(range(10))} for i in range(12)})


def test_a_trillion_combinations_are_not_listed(monkeypatch):
    monkeypatch.setattr(SearchSpace, "grid", lambda *_: pytest.fail("the space is listed"))
    source = permutation(LARGE, random.Random(0))
    found = list(itertools.islice(source, 2000))
    assert len({tuple(one.values()) for one in found}) == 2000
    # All that is kept: one exchanged position for each draw.
    assert len(source.gi_frame.f_locals["moved"]) <= 2000
    assert len(list(itertools.islice(draws(LARGE, 0), 5))) == 5


def test_draws_are_of_their_seed():
    space = SearchSpace.parse({"lr": {"loguniform": [1e-4, 1.0]}})
    first, again, other = ([*itertools.islice(draws(space, seed), 4)] for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_what_is_drawn_unevenly_is_drawn_once_and_comes_to_an_end():
    space = SearchSpace.parse({"n": {"lograndint": [1, 40]}, "m": {"choice": ["a", "b"]}})
    found = [*draws(space, 0)]
    assert len(found) == len({tuple(one.values()) for one in found}) == 80
