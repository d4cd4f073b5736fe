"""Aggregates over benchmarks against scipy and by hand."""

from __future__ import annotations

import pytest
from scipy import stats

from benchmarking.analysis.across_benchmarks import (
    aggregates,
    cliques,
    common_scores,
    friedman_p,
    interquartile_mean,
    mean_ranks,
    normalised,
    performance_profile,
    probability_of_improvement,
    wilcoxon_ps,
)

TWO = {"a": {"x": [1.0, 0.5], "y": [0.0, 0.5]}, "b": {"x": [0.2, 0.4], "y": [0.6, 0.8]}}


def six() -> dict[str, dict[str, list[float]]]:
    """Six benchmarks on which x beats y and z always, and y and z take turns."""
    found = {}
    for number in range(6):
        y, z = (0.4, 0.5) if number % 2 else (0.5, 0.4)
        found[f"b{number}"] = {"z": [z + 0.001 * number], "x": [0.9 + 0.001 * number], "y": [y]}
    return found


def test_scores_go_from_the_worst_to_the_best_value_seen():
    found = normalised({"a": {"x": [10.0, 20.0], "y": [30.0]}, "b": {"x": [1.0], "y": [1.0]}}, {"a": "min", "b": "max"})
    assert found == {"a": {"x": [1.0, 0.5], "y": [0.0]}, "b": {"x": [1.0], "y": [1.0]}}


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0, 100.0], list(map(float, range(16))), [5.0, 1.0, 2.0, 8.0, 9.0, 4.0, 3.0, 7.0]])
def test_the_interquartile_mean_is_the_trimmed_one_of_scipy(values):
    assert interquartile_mean(values) == pytest.approx(stats.trim_mean(values, 0.25))


def test_a_value_at_the_quartile_counts_in_part():
    # Of five values a quarter is one and a quarter: 2 and 4 weigh 0.75 each (as in the usual worked example).
    assert interquartile_mean([1.0, 2.0, 3.0, 4.0, 50.0]) == pytest.approx((0.75 * 2 + 3 + 0.75 * 4) / 2.5)


def test_aggregates_draw_seeds_within_benchmarks_and_can_be_had_again():
    found = aggregates(TWO)
    assert found == aggregates(TWO)
    assert found["x"].iqm == pytest.approx(interquartile_mean([1.0, 0.5, 0.2, 0.4]))
    assert found["x"].low <= found["x"].iqm <= found["x"].high
    # Were benchmarks drawn as well, a draw of "b" alone would reach below 0.3; the lowest here has 0.5, 0.5, 0.2, 0.2.
    assert found["x"].low >= 0.35 - 1e-12


def test_the_probability_of_improvement_is_mann_whitneys_share():
    # On a: 1 beats both, 0.5 beats 0 and ties 0.5: 3.5 of 4. On b: none of 4.
    assert probability_of_improvement(TWO, "x", "y") == pytest.approx((3.5 / 4 + 0) / 2)
    assert probability_of_improvement(TWO, "x", "nobody") is None


def test_a_profile_is_the_share_of_runs_above():
    assert performance_profile(TWO, "x", [0.0, 0.3, 0.5, 1.0]) == [1.0, 0.75, 0.25, 0.0]


def test_ranks_share_ties():
    assert mean_ranks({"a": {"x": [1.0], "y": [1.0], "z": [0.0]}}) == {"x": 1.5, "y": 1.5, "z": 3.0}
    # What one method lacks is no basis for ranks.
    assert mean_ranks({"a": {"x": [1.0], "y": [0.0]}, "b": {"x": [0.0], "y": []}}) == {"x": 1.0, "y": 2.0}


def test_friedman_and_wilcoxon_agree_with_scipy():
    scores = six()
    columns = [[scores[name][method][0] for name in scores] for method in ("z", "x", "y")]
    assert friedman_p(scores) == pytest.approx(stats.friedmanchisquare(*columns).pvalue)
    found = wilcoxon_ps(scores)
    # x is first in all six: 2 / 64, the smallest there is; three pairs, so times 3.
    assert found["z", "x"] == pytest.approx(3 * 2 / 64)
    gaps = [one - other for one, other in zip(columns[0], columns[2], strict=True)]
    assert found["z", "y"] == pytest.approx(stats.wilcoxon(gaps).pvalue) == 0.4375


def test_groups_hold_methods_that_do_not_differ():
    scores = {f"{name}{copy}": methods for name, methods in six().items() for copy in (1, 2)}
    assert cliques(scores) == [("z", "y")] or cliques(scores) == [("y", "z")]


def test_below_five_benchmarks_nothing_is_tested():
    assert friedman_p(TWO) is None
    assert wilcoxon_ps(TWO) == {}


def test_methods_are_compared_where_all_of_them_ran():
    a, b = {"x": [1.0], "y": [0.5], "z": [0.2]}, {"x": [0.3], "y": [0.4], "z": []}
    assert common_scores({"a": a, "b": b}) == {"a": {"x": [1.0], "y": [0.5]}, "b": {"x": [0.3], "y": [0.4]}}
    # With one method alone on all benchmarks those count that all have run.
    assert common_scores({"a": a, "b": {"x": [0.3], "w": []}}) == {"a": a}
    assert common_scores({"a": {"x": [1.0]}, "b": {"y": [1.0]}}) == {}
