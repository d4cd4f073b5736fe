"""Parts that canaries cannot show: how far draws allow for them."""

import numpy as np
import pytest

from benchmarking.forecasting.model.unseen_terms import with_hidden_square, with_hidden_term


def test_a_rise_that_the_square_would_have_shown_leaves_no_room_for_it():
    # The same noise beside a rise ten times the base, or beside one that is lost in it.
    x, rng = np.array([0.01, 0.03, 0.1]), np.random.default_rng(0)
    full = np.full(4000, 1.0)
    sure = with_hidden_square(full, x, 0.1 + 10 * x, 1e-5, rng, chance=0.5, decades=4)
    unsure = with_hidden_square(full, x, 0.1 + 10 * x, 1e-2, rng, chance=0.5, decades=4)
    assert np.quantile(sure, 0.9) < 1.05
    assert np.quantile(unsure, 0.9) > 2


def test_a_square_that_is_seen_is_believed():
    x = np.array([0.01, 0.03, 0.1])
    y = 1.0 + 100 * x**2
    draws = with_hidden_square(np.full(4000, 2.0), x, y, 0.001, np.random.default_rng(0), chance=0.2, decades=4)
    # The law without it went on with the last slope; 1 at the largest canary is 100 in full, less the 10 that a line made of it.
    assert np.median(draws) == pytest.approx(92, rel=0.08)


def test_what_is_hidden_never_lowers_a_draw():
    rng = np.random.default_rng(0)
    draws = rng.uniform(1, 2, 1000)
    assert (with_hidden_term(draws, 1.0, 0.1, rng, chance=0.5, squares=0.5, decades=3) >= draws).all()
    assert (with_hidden_square(draws, np.array([0.01, 0.1]), np.array([1.0, 1.0]), 0.01, rng, chance=0.5, decades=3) >= draws).all()
