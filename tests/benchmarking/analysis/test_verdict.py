import itertools
import math
import random
from dataclasses import replace

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
    # The leader is chosen by the values, so all pairs count.
    alpha = (1 - confidence) / math.comb(len(groups), 2)
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


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
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
        assert comparison.decided == (comparison.p <= 0.05 and wanted[comparison.other.evaluation][0] > 0)


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


def test_shares_are_compared_by_points_not_by_how_many_times():
    verdict = judge(measured([[0.17, 0.18, 0.16], [0.97, 0.96, 0.98]]), "max")
    (one,) = verdict.comparisons
    assert (verdict.leader.evaluation, one.factor, one.word) == (1, None, "better")
    assert one.difference == pytest.approx(0.8)
    # Half a point is less than what matters, however sure it is.
    assert judge(measured([[0.970, 0.970, 0.970], [0.975, 0.975, 0.975]]), "max").comparisons[0].word == "tie"


def test_interleaved_repeats_are_blocks():
    """A machine that slows down by half in the second repeat: the spread between blocks is not noise."""
    runs = [[1.0, 1.5, 1.21], [1.1, 1.66, 1.33], [1.3, 1.93, 1.58]]
    table = np.log(np.array(runs))
    left = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    error = math.sqrt((left**2).sum() / 4 * 2 / 3)
    half = stats.t.ppf(1 - 0.05 / 3 / 2, 4) * error
    blocks = judge(measured(runs), "min", paired=True).comparisons[0]
    gap = table[1].mean() - table[0].mean()
    assert blocks.interval == pytest.approx((math.exp(gap - half), math.exp(gap + half)))
    assert blocks.word == "better"
    assert judge(measured(runs), "min").comparisons[0].word == "not decided"
    # A block that is not whole is none.
    broken = judge(measured([runs[0], runs[1], runs[2][:2]]), "min", paired=True).comparisons[0]
    assert broken.word == "not decided"


def test_from_six_interleaved_repeats_of_two_the_test_is_exact():
    pair = [[1.0, 1.1, 0.9, 1.05, 0.95, 1.02], [2.0, 2.3, 1.9, 2.1, 2.0, 2.1]]
    (exact,) = judge(measured(pair), "min", paired=True).comparisons
    assert (exact.test, exact.p, exact.word) == ("exact", 0.03125, "better")
    (pooled,) = judge(measured([one[:5] for one in pair]), "min", paired=True).comparisons
    assert pooled.test == "pooled Student's t"
    assert pooled.p == pytest.approx(stats.ttest_rel(np.log(pair[0][:5]), np.log(pair[1][:5])).pvalue)


def test_of_configurations_alike_none_is_found_better_more_often_than_the_level():
    source = random.Random(3)
    wrong = 0
    for _ in range(600):
        runs = [[math.exp(source.gauss(0, 0.2)) for _ in range(3)] for _ in range(6)]
        wrong += any(c.decided for c in judge(measured(runs), "min").comparisons)
    assert wrong / 600 < 0.05 + 2 * math.sqrt(0.05 * 0.95 / 600)


def test_a_baseline_stays_where_it_is_asked_for_and_its_family_is_smaller():
    asked = judge(measured(RUNS), "min", baseline=1)
    assert asked.leader.evaluation == 1
    assert [c.other.evaluation for c in asked.comparisons] == [0, 2, 3]
    assert asked.comparisons[0].factor < 1 < asked.comparisons[2].factor
    free = judge(measured(RUNS), "min", baseline=0).comparisons
    all_pairs = judge(measured(RUNS), "min").comparisons
    # The smallest p value is taken three times with a baseline, and six times where the leader was chosen by the values.
    assert all_pairs[-1].p == pytest.approx(2 * free[-1].p)


def test_what_was_measured_beside_other_load_alone_decides_nothing():
    quiet = [Measured(0, {}, [1.0, 1.01, 1.0]), Measured(1, {}, [2.0, 2.01, 2.0])]
    assert judge(quiet, "min").comparisons[0].decided
    for spoilt in ({0}, {1}, {0, 1}):
        found = [replace(one, disturbed=one.evaluation in spoilt) for one in quiet]
        (comparison,) = judge(found, "min").comparisons
        assert not comparison.decided
        assert comparison.more is None  # more of the same would not tell either
