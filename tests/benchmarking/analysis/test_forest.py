"""A forest against splits that are gone through one by one, scikit-learn's trees, and functions that it must find."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarking.analysis.forest import grow_forest


class EveryPointOnce:
    """Draws each point once for each tree, and no parameter before another."""

    def multinomial(self, n, shares, size):
        return np.ones((size, n), dtype=int)

    def random(self, shape):
        return np.zeros(shape)


def predicted(leaves, points):
    inside = ((points[:, None, :] > leaves.lower) & (points[:, None, :] <= leaves.upper)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    return leaves.values[inside.argmax(axis=1)]


def best_first_split(points, values):
    """The threshold that leaves the least squares, by trying all."""
    found = []
    for axis in range(points.shape[1]):
        ordered = np.unique(points[:, axis])
        for at in (ordered[1:] + ordered[:-1]) / 2:
            parts = [values[points[:, axis] <= at], values[points[:, axis] > at]]
            if min(map(len, parts)) >= 2:
                found.append((sum(((part - part.mean()) ** 2).sum() for part in parts), axis, at))
    return min(found)[1:]


@pytest.mark.parametrize("seed", range(5))
def test_the_first_split_is_the_one_that_leaves_the_least_squares(seed):
    generator = np.random.default_rng(seed)
    points, values = generator.random((30, 3)), generator.normal(size=30)
    (leaves,) = grow_forest(points, values, EveryPointOnce(), 1)
    axis, at = best_first_split(points, values)
    # It is an end of every leaf, or the leaf lies wholly on one side of it.
    assert ((leaves.upper[:, axis] <= at + 1e-12) | (leaves.lower[:, axis] >= at - 1e-12)).all()
    assert (np.isclose(leaves.upper[:, axis], at) | np.isclose(leaves.lower[:, axis], at)).any()


class DrawsTheFirst(EveryPointOnce):
    """Draws the parameters of each node in their order."""

    def random(self, shape):
        return np.broadcast_to(np.arange(shape[1], dtype=float), shape)


def test_a_node_is_split_by_those_parameters_alone_that_are_drawn():
    generator = np.random.default_rng(1)
    points = generator.random((40, 2))
    # The second parameter alone says anything, and is drawn for no node.
    values = np.where(points[:, 1] > 0.5, 1.0, 0.0)
    (drawn,) = grow_forest(points, values, DrawsTheFirst(), 1, features=1)
    assert (np.isclose(drawn.lower[:, 1], 0.0) & np.isclose(drawn.upper[:, 1], 1.0)).all()
    (every,) = grow_forest(points, values, DrawsTheFirst(), 1)
    assert len(every.values) == 2
    assert (np.isclose(every.lower[:, 0], 0.0) & np.isclose(every.upper[:, 0], 1.0)).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_is_the_one_that_scikit_learn_grows(seed):
    tree = pytest.importorskip("sklearn.tree")
    generator = np.random.default_rng(seed)
    points, values = generator.random((200, 3)), generator.normal(size=200)
    (leaves,) = grow_forest(points, values, EveryPointOnce(), 1)
    theirs = tree.DecisionTreeRegressor(min_samples_leaf=2, random_state=0).fit(points, values)
    assert len(leaves.values) == theirs.get_n_leaves()
    # Where two parameters part the points of a node alike either may be taken, so that the trees are told apart at the points alone.
    assert predicted(leaves, points) == pytest.approx(theirs.predict(points))


def test_leaves_have_the_mean_of_the_points_that_the_tree_drew_and_two_different_ones_at_least():
    points, values = np.asarray([[0.1], [0.2], [0.3], [0.9]]), np.asarray([1.0, 1.0, 4.0, 8.0])
    (leaves,) = grow_forest(points, values, EveryPointOnce(), 1)
    assert leaves.upper[:, 0].tolist() == pytest.approx([0.25, 1.0])
    assert leaves.values.tolist() == pytest.approx([1.0, 6.0])


def test_what_matters_together_alone_is_found_although_no_first_split_gains_anything():
    points = np.asarray([[x, y] for x in (0.1, 0.2, 0.8, 0.9) for y in (0.1, 0.2, 0.8, 0.9)])
    values = ((points[:, 0] > 0.5) == (points[:, 1] > 0.5)).astype(float)
    (leaves,) = grow_forest(points, values, EveryPointOnce(), 1)
    assert predicted(leaves, points).tolist() == values.tolist()


def test_boxes_without_volume_are_no_leaves_and_the_others_fill_the_cube():
    """Half of the points lie at -0.5, outside: the leaf that holds them is none of the cube's."""
    generator = np.random.default_rng(4)
    points = generator.random((100, 2))
    points[:50, 0] = -0.5
    for leaves in grow_forest(points, np.where(points[:, 0] < 0, 9.0, points[:, 1]), generator, 8):
        volumes = (leaves.upper - leaves.lower).prod(axis=1)
        assert volumes.min() > 0
        assert volumes.sum() == pytest.approx(1.0)
        assert leaves.values.max() < 9.0


def test_values_that_are_alike_are_one_leaf_and_one_seed_gives_one_forest():
    points = np.random.default_rng(5).random((20, 2))
    (alike,) = grow_forest(points, np.full(20, 3.0), np.random.default_rng(0), 1)
    assert (alike.values.tolist(), alike.lower.tolist(), alike.upper.tolist()) == ([3.0], [[0.0, 0.0]], [[1.0, 1.0]])
    first, second = (grow_forest(points, points[:, 0], np.random.default_rng(6), 3, features=1) for _ in range(2))
    assert all((one.values == other.values).all() for one, other in zip(first, second, strict=True))
    assert len({one.values.tobytes() for one in first}) == 3  # each drew its own points
