"""Random search, and its even simpler kin: the grid and the list."""

import itertools
import time
from collections import Counter

import pytest

from benchmarking.controller.method import MOST_PLANNED, MethodContext
from benchmarking.methods.grid import Grid
from benchmarking.methods.listed import Listed
from benchmarking.methods.random_search import RandomSearch
from benchmarking.methods.registry import build_method
from definitions.errors import UserError
from definitions.space import SearchSpace
from tests.benchmarking.experiments import definition

SMALL = {"a": {"choice": ["x", "y", "z"]}, "b": {"finrange": [0.0, 1.0, 4]}, "c": 7, "d": {"ordinal": [1, 2]}}


def context(space=None, configurations=(), seed=0, **arguments):
    parsed = None if space is None else SearchSpace.parse(space)
    return MethodContext(parsed, tuple(configurations), {"loss": "min"}, None, seed, arguments, region="us-east-1")


def suggestions(method, limit=10**6):
    found = []
    while len(found) < limit and (suggestion := method.suggest()) is not None:
        assert suggestion.resume is None
        assert suggestion.checkpoint_from is None
        found.append(dict(suggestion.configuration))
    return found


def frozen(configurations):
    return {tuple(sorted(configuration.items())) for configuration in configurations}


@pytest.mark.parametrize(
    "space",
    [SMALL, {"n": {"randint": [-3, 20]}, "m": {"choice": [True, 1]}}, {"n": {"lograndint": [1, 40]}}, {"q": {"quniform": [0, 1, 0.25]}}],
)
def test_rs_exhausts_a_finite_space_without_repetition(space):
    method = RandomSearch(context(space))
    found = suggestions(method)
    size = SearchSpace.parse(space).size
    assert len(found) == size
    assert len({repr(sorted(configuration.items())) for configuration in found}) == size
    assert all(list(configuration) == list(space) for configuration in found)
    assert method.suggest() is None


@pytest.mark.parametrize("space", [SMALL, {"n": {"randint": [0, 500]}}, {"u": {"loguniform": [1e-4, 1.0]}}])
def test_rs_is_repeatable_by_seed(space):
    first, again, other = (suggestions(RandomSearch(context(space, seed=seed)), 20) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_rs_draws_every_combination_of_a_flat_space_equally_often():
    counts = Counter(tuple(RandomSearch(context(SMALL, seed=seed)).suggest().configuration.values()) for seed in range(4800))
    assert len(counts) == 24
    statistic = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert statistic < 49.7  # 99.9 % quantile of chi squared with 23 degrees of freedom


def test_rs_orders_are_equally_likely():
    space = {"a": {"choice": [0, 1, 2]}}
    counts = Counter(tuple(c["a"] for c in suggestions(RandomSearch(context(space, seed=seed)))) for seed in range(3000))
    assert set(counts) == set(itertools.permutations(range(3)))
    assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 20.5  # 99.9 %, 5 degrees of freedom


def test_rs_draws_integers_between_their_bounds_equally_often():
    counts = Counter(RandomSearch(context({"n": {"randint": [1, 10]}}, seed=seed)).suggest().configuration["n"] for seed in range(3000))
    assert set(counts) == set(range(1, 11))
    assert sum((count - 300) ** 2 / 300 for count in counts.values()) < 27.9  # 99.9 %, 9 degrees of freedom


def test_rs_draws_all_keys_of_a_space_beyond_the_precision_of_floats():
    keys = [f"k{i}" for i in range(80)]  # 2**80 combinations
    found = suggestions(RandomSearch(context({key: {"choice": [0, 1]} for key in keys})), 200)
    ones = [sum(configuration[key] for configuration in found) for key in keys]
    assert min(ones) > 65  # five standard deviations below 100
    assert max(ones) < 135


def test_grid_has_every_combination_the_last_key_varying_fastest():
    grid = Grid(context({"a": {"choice": ["x", "y"]}, "u": {"uniform": [0.0, 1.0]}}, points=3))
    assert grid.finite
    assert [tuple(c.values()) for c in suggestions(grid)] == [("x", 0.0), ("x", 0.5), ("x", 1.0), ("y", 0.0), ("y", 0.5), ("y", 1.0)]


def test_grid_cuts_a_log_scale_into_equal_ratios_five_by_default():
    values = [c["lr"] for c in suggestions(Grid(context({"lr": {"loguniform": [1e-4, 1.0]}})))]
    assert values == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1, 1.0])
    assert (values[0], values[-1]) == (1e-4, 1.0)


def test_grid_lists_all_of_a_finite_dimension_whatever_the_points():
    assert [c["n"] for c in suggestions(Grid(context({"n": {"randint": [2, 5]}}, points=2)))] == [2, 3, 4, 5]


@pytest.mark.parametrize("points", [0, -1, 2.5, "3", True])
def test_grid_refuses_points_that_are_no_count(points):
    with pytest.raises(UserError, match="points"):
        build_method("GRID", definition(), 0, {"points": points}, region="us-east-1")


def test_listed_follows_the_list():
    listed = [{"a": 2}, {"a": 1}, {"a": 2}]
    method = Listed(context(configurations=listed))
    assert method.finite
    assert suggestions(method) == listed


@pytest.mark.parametrize("method", [RandomSearch, Grid])
def test_searching_needs_a_space(method):
    with pytest.raises(UserError, match=r"needs a definition with a `space`[\s\S]*use LISTED"):
        method(context(configurations=[{"a": 1}]))


def test_listed_needs_trials():
    with pytest.raises(UserError, match=r"needs a definition with `trials`[\s\S]*use RS or GRID"):
        Listed(context(SMALL))


def test_none_of_them_waits_for_results():
    assert all(kind.independent and not kind.hears_levels for kind in (RandomSearch, Grid, Listed))
    assert not RandomSearch.finite


def test_what_depends_on_no_result_and_ends_is_planned_whole_and_nothing_else():
    assert [dict(one.configuration) for one in RandomSearch(context(SMALL)).plan()] == suggestions(RandomSearch(context(SMALL)))
    assert len(Grid(context({"u": {"uniform": [0, 1]}, "n": {"choice": [1, 2, 3]}}, points=4)).plan()) == 12
    assert [one.configuration["a"] for one in Listed(context(configurations=[{"a": 1}, {"a": 2}])).plan()] == [1, 2]
    assert RandomSearch(context({"u": {"uniform": [0, 1]}})).plan() is None
    started = time.process_time()
    assert RandomSearch(context({"n": {"randint": [1, 10**9]}})).plan() is None
    assert time.process_time() - started < 1.0
    assert Grid(context({"n": {"randint": [1, MOST_PLANNED]}})).plan() is not None
    assert Grid(context({"n": {"randint": [0, MOST_PLANNED]}})).plan() is None
    assert build_method("TPE", definition(), 0, {}, region="us-east-1").plan() is None
