"""Configurations as vectors and back."""

from __future__ import annotations

import random

import pytest

from benchmarking.methods.searchers.encoding import Encoding
from definitions.space import SearchSpace

ALL_DOMAINS = {
    "a": {"choice": ["x", None, True, 1]}, "b": {"uniform": [0, 3]}, "c": {"loguniform": [1e-4, 1]}, "d": {"randint": [1, 7]},
    "e": {"lograndint": [1, 1000]}, "f": {"reverseloguniform": [0, 0.99]}, "g": {"quniform": [0, 1, 0.1]},
    "h": {"qloguniform": [1, 100, 3]},
    "i": {"finrange": [0, 1, 5]}, "j": {"logfinrange": [1, 512, 9, True]}, "k": {"ordinal": ["s", "m", "l"]}, "l": {"nnordinal": [1, 2, 8]},
    "m": {"logordinal": [1, 2, 8]}, "n": 5, "o": {"choice": [3]}, "p": {"qrandint": [0, 30, 5]}, "q": {"qlograndint": [4, 64, 4]},
}  # fmt: skip


def test_every_domain_comes_back_from_its_encoding():
    space = SearchSpace.parse(ALL_DOMAINS)
    encoding = Encoding(space)
    source = random.Random(3)
    for _ in range(50):
        point = space.sample(source)
        back = encoding.configuration(encoding.marks(point))
        assert list(back) == list(point)
        for key, value in point.items():
            assert back[key] == (pytest.approx(value) if isinstance(value, float) else value), key
            assert isinstance(back[key], bool) == isinstance(value, bool)
        vector = encoding.vector(point)
        assert len(vector) == encoding.width
        assert all(0 <= part <= 1 for part in vector)
