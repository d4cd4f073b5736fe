import itertools
import math
import random

import numpy as np
import pytest
from scipy import stats

from benchmarking.analysis.verdict import Measured, judge

RUNS = [[10.1, 9.8, 10.4], [12.0, 12.6, 11.5, 12.2], [10.6, 10.3], [25.0]]


def measured(runs):
    return [Measured(number, {"x": number}, values) for number, values in enumerate(runs)]


def intervals(runs, leader, *, log, sign=1.0, confidence=0.95):
    """The textbook's pooled intervals, computed with numpy and scipy.stats alone: other -> (low, high) of the gap to the leader."""
    groups = [np.log(run) if log else np.asarray(run, float) for run in runs]
    freedom = sum(len(group) - 1 for group in groups)
    pooled = sum((len(group) - 1) * group.var(ddof=1) for group in groups if len(group) > 1) / freedom
    alpha = (1 - confidence) / (len(groups) - 1)
    found = {}
    for number, group in enumerate(groups):
        if number != leader:
            scale = math.sqrt(pooled * (1 / len(group) + 1 / len(groups[leader])))
            gap = sign * (group.mean() - groups[leader].mean())
            low, high = stats.t.interval(1 - alpha, freedom, loc=gap, scale=scale)
            found[number] = (math.exp(low), math.exp(high)) if log else (low, high)
    return found


def found_intervals(verdict):
    return {comparison.other.evaluation: comparison.interval for comparison in verdict.comparisons}


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_positive_values_are_compared_by_factors(confidence):
    verdict = judge(measured(RUNS), "min", confidence)
    assert verdict.leader.evaluation == 0
    assert [comparison.other.evaluation for comparison in verdict.comparisons] == [2, 1, 3]
    wanted = intervals(RUNS, 0, log=True, confidence=confidence)
    for other, interval in found_intervals(verdict).items():
        assert interval == pytest.approx(wanted[other], rel=1e-9)
    geometric = [stats.gmean(run) for run in RUNS]
    for comparison in verdict.comparisons:
        assert comparison.factor == pytest.approx(geometric[comparison.other.evaluation] / geometric[0], rel=1e-12)
        assert comparison.difference == pytest.approx(np.mean(comparison.other.values) - np.mean(RUNS[0]))


def test_decided_and_tied_by_the_numbers():
    verdict = judge(measured(RUNS), "min")
    low = {other: interval[0] for other, interval in intervals(RUNS, 0, log=True).items()}
    assert {c.other.evaluation for c in verdict.comparisons if c.decided} == {other for other, bound in low.items() if bound > 1} == {1, 3}
    assert [comparison.other.evaluation for comparison in verdict.tied] == [2]


def test_more_is_better():
    verdict = judge(measured(RUNS), "max")
    assert verdict.leader.evaluation == 3
    wanted = intervals(RUNS, 3, log=True, sign=-1.0)
    for other, interval in found_intervals(verdict).items():
        assert interval == pytest.approx(wanted[other], rel=1e-9)
    nearest = verdict.comparisons[0]
    assert nearest.other.evaluation == 1
    assert nearest.factor == pytest.approx(25.0 / stats.gmean(RUNS[1]))
    assert nearest.difference == pytest.approx(25.0 - np.mean(RUNS[1]))


@pytest.mark.parametrize(("mode", "sign", "leader"), [("min", 1.0, 0), ("max", -1.0, 1)])
def test_values_that_are_not_all_positive_are_compared_by_differences(mode, sign, leader):
    runs = [[-1.0, -1.5, -0.5], [2.0, 1.0, 0.0], [0.0, 0.5, 0.25]]
    verdict = judge(measured(runs), mode)
    assert verdict.leader.evaluation == leader
    wanted = intervals(runs, leader, log=False, sign=sign)
    for comparison in verdict.comparisons:
        assert comparison.factor is None
        assert comparison.interval == pytest.approx(wanted[comparison.other.evaluation], rel=1e-9)
        assert comparison.difference == pytest.approx(sign * (np.mean(comparison.other.values) - np.mean(runs[leader])))
        assert comparison.decided == (wanted[comparison.other.evaluation][0] > 0)


def test_a_zero_is_not_positive():
    assert judge(measured([[0.0], [1.0]]), "min").comparisons[0].factor is None


def test_single_measurements_have_no_interval_and_decide_nothing():
    verdict = judge(measured([[3.0], [1.0], [2.0]]), "min")
    assert [entry.other.evaluation for entry in verdict.comparisons] == [2, 0]
    assert [entry.factor for entry in verdict.comparisons] == [pytest.approx(2.0), pytest.approx(3.0)]
    assert [entry.interval for entry in verdict.comparisons] == [None, None]
    assert len(verdict.tied) == 2


def test_equal_configurations_are_tied_even_without_any_spread():
    verdict = judge(measured([[2.0, 2.0], [2.0, 2.0], [3.0, 3.0]]), "min")
    assert verdict.leader.evaluation == 0  # the first of equals
    assert [entry.other.evaluation for entry in verdict.tied] == [1]
    assert verdict.comparisons[1].interval == pytest.approx((1.5, 1.5))


def test_nothing_and_one():
    assert judge([], "min") is None
    assert judge(measured([[], []]), "min") is None
    verdict = judge(measured([[], [4.0, 6.0]]), "min")
    assert (verdict.leader.evaluation, verdict.leader.mean, verdict.comparisons) == (1, 5.0, ())


def test_an_interval_too_wide_for_a_float_is_wide_not_an_error():
    verdict = judge(measured([[0.01, 1.0], *([2.0] for _ in range(30))]), "min")
    assert verdict.comparisons[0].interval == (pytest.approx(0.0, abs=1e-300), math.inf)
    assert not verdict.comparisons[0].decided


def test_joint_intervals_hold_as_often_as_they_say():
    source = random.Random(5)
    truth = [1.0, 1.05, 1.1, 1.4]
    held = 0
    for _ in range(400):
        runs = [[centre * math.exp(source.gauss(0, 0.1)) for _ in range(3)] for centre in truth]
        verdict = judge(measured(runs), "min")
        leader = truth[verdict.leader.evaluation]
        held += all(c.interval[0] <= truth[c.other.evaluation] / leader <= c.interval[1] for c in verdict.comparisons)
    assert held / 400 > 0.93  # 0.95, less twice the standard error of 400 draws


def test_the_order_of_configurations_does_not_matter():
    for order in itertools.permutations(measured(RUNS)):
        verdict = judge(order, "min")
        assert [verdict.leader.evaluation, *(c.other.evaluation for c in verdict.comparisons)] == [0, 2, 1, 3]
