"""How often verdicts and intervals are wrong where the truth is known; `tests/performance/studies_statistics.py` counts more of them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarking.analysis.intervals import mean_interval
from tests.benchmarking.comparison.simulated_studies import DISTRIBUTIONS, found_better, found_sooner

_LUCK = 3.0
"""Standard errors that a share of few draws may be off."""


@pytest.mark.parametrize(("seeds", "benchmarks"), [((8,), 1), ((8, 10, 12), 1), ((8,), 3)])
def test_of_studies_without_a_difference_at_most_one_in_twenty_says_better(seeds, benchmarks):
    studies = 40
    wrong = sum(any(found_better(DISTRIBUTIONS["normal"][0], number, seeds, benchmarks=benchmarks)) for number in range(studies))
    assert wrong / studies <= 0.05 + _LUCK * (0.05 * 0.95 / studies) ** 0.5


@pytest.mark.parametrize("open_gate", [False, True])
def test_of_studies_without_a_difference_at_most_one_in_twenty_says_sooner_also_where_it_is_asked_of_all(open_gate):
    studies = 40
    wrong = sum(found_sooner(DISTRIBUTIONS["t3"][0], number, 12, open_gate=open_gate) for number in range(studies))
    assert wrong / studies <= 0.05 + _LUCK * (0.05 * 0.95 / studies) ** 0.5


def test_of_studies_with_a_large_difference_some_say_sooner():
    assert sum(found_sooner(DISTRIBUTIONS["normal"][0], number, 8, ahead=2.0) for number in range(20)) >= 6


def test_of_studies_with_a_large_difference_most_say_so():
    assert sum(any(found_better(DISTRIBUTIONS["normal"][0], number, (8,), ahead=2.0)) for number in range(20)) >= 16


@pytest.mark.parametrize("n", [5, 8])
@pytest.mark.parametrize(("name", "least", "most"), [("normal", 0.93, 0.97), ("t3", 0.93, 0.97), ("lognormal", 0.88, 1.0)])
def test_intervals_cover_the_mean_as_often_as_they_say(name, n, least, most):
    draw, mean = DISTRIBUTIONS[name]
    generator = np.random.default_rng(11)
    draws = 400
    covered = sum(not mean_interval([*draw(generator, n)]).excludes(mean) for _ in range(draws)) / draws
    luck = _LUCK * (0.05 * 0.95 / draws) ** 0.5
    assert least - luck <= covered <= most + luck
