"""Importance of parameters against functions whose shares of variance are known, and integrals against a fine grid."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarking.analysis.fanova import importances, variance_shares
from benchmarking.analysis.forest import grow_forest


def shares(function, n=600, parameters=3):
    points = np.random.default_rng(0).random((n, parameters))
    return {one.parameters: one for one in importances(points, function(points.T))}


def test_a_sum_has_the_shares_of_its_squared_coefficients():
    """The variance of c * u is c ** 2 / 12: 4 : 1 : 0."""
    found = shares(lambda x: 2 * x[0] + x[1])
    assert found[0,].share == pytest.approx(0.8, abs=0.03)
    assert found[1,].share == pytest.approx(0.2, abs=0.03)
    assert found[2,].share < 0.01
    assert sum(one.share for one in found.values()) == pytest.approx(1.0, abs=0.03)
    assert found[0,].low < found[0,].share < found[0,].high


def test_a_product_about_the_middle_is_all_interaction():
    found = shares(lambda x: (x[0] - 0.5) * (x[1] - 0.5), n=1500)
    assert found[0, 1].share > 0.85
    assert found[0,].share < 0.1
    assert found[1,].share < 0.1


def test_integrals_over_leaves_are_those_of_a_fine_grid():
    generator = np.random.default_rng(1)
    points = generator.random((80, 2))
    # Ends on multiples of 1/64, so that the middles of a grid of cells give exact means.
    points = (np.floor(points * 64) + 0.5) / 64
    (leaves,) = grow_forest(points, np.sin(5 * points[:, 0]) + points[:, 0] * points[:, 1], generator, 1)
    middles = (np.arange(256) + 0.5) / 256
    grid = np.stack(np.meshgrid(middles, middles, indexing="ij"), axis=-1).reshape(-1, 1, 2)
    inside = ((grid > leaves.lower) & (grid <= leaves.upper)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()  # the leaves fill the square, and none lies over another
    seen = leaves.values[inside.argmax(axis=1)].reshape(256, 256)
    alone = [seen.mean(axis=1).var(), seen.mean(axis=0).var()]
    expected = [*alone, seen.var() - sum(alone)]
    assert variance_shares(leaves, [(0,), (1,), (0, 1)]) == pytest.approx([one / seen.var() for one in expected], rel=1e-9)


def test_too_little_says_nothing():
    points = np.random.default_rng(0).random((19, 2))
    assert importances(points, points[:, 0]) == []
    assert importances(np.random.default_rng(0).random((50, 2)), np.ones(50)) == []
    assert importances(np.empty((50, 0)), np.arange(50.0)) == []


def test_what_lies_outside_of_the_cube_has_no_part():
    """A parameter that half of the points have not, marked by -0.5: where it is, it explains all."""
    generator = np.random.default_rng(2)
    points = generator.random((800, 2))
    absent = generator.random(800) < 0.5
    values = np.where(absent, 100.0, points[:, 0])
    points[absent, 0] = -0.5
    found = {one.parameters: one.share for one in importances(points, values)}
    assert found[0,] > 0.9
