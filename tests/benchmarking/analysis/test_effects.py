"""The four words, by the measurements that lead to them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from benchmarking.analysis.effects import Contrast, Scale, Word, contrast, decide, possible_range, scale_of, seeds_to_decide
from benchmarking.analysis.intervals import ConfidenceInterval, student_quantile

SIX = {0: 10.0, 1: 11.0, 2: 9.0, 3: 10.5, 4: 12.0, 5: 9.5}


def scaled(factors: list[float]) -> dict[int, float]:
    return {seed: value * factor for (seed, value), factor in zip(SIX.items(), factors, strict=True)}


def test_ratios_are_for_what_is_positive_and_differences_for_shares():
    assert scale_of([3.0, 4.0], "min") is Scale.RATIO
    assert scale_of([0.1, 0.4], "min") is Scale.RATIO  # losses
    assert scale_of([300.0, 400.0], "max") is Scale.RATIO  # rates
    assert scale_of([0.97, 0.17], "max") is Scale.DIFFERENCE  # accuracies: not "5.7 times better"
    assert scale_of([-1.0, 4.0], "min") is Scale.DIFFERENCE
    assert scale_of([0.0, 4.0], "min") is Scale.DIFFERENCE
    assert scale_of([], "min") is Scale.DIFFERENCE


def test_six_pairs_that_agree_are_better():
    (found,) = decide([contrast(SIX, scaled([2.0, 2.1, 1.9, 2.0, 2.2, 1.8]), "min")], 0.01)
    assert found.word is Word.BETTER
    assert found.ahead
    assert found.p == 0.03125
    assert found.contrast.size == pytest.approx(math.exp(np.mean(np.log([2.0, 2.1, 1.9, 2.0, 2.2, 1.8]))))
    low, high = found.contrast.bounds
    assert 1.8 < low < found.contrast.size < high < 2.2
    assert found.contrast.correlation == pytest.approx(0.94, abs=0.05)


def test_the_second_can_be_the_better_one():
    (found,) = decide([contrast(scaled([2.0, 2.1, 1.9, 2.0, 2.2, 1.8]), SIX, "min")], 0.01)
    assert found.word is Word.BETTER
    assert not found.ahead


@pytest.mark.parametrize("paired", [True, False])
def test_two_shares_differ_by_one_at_most_and_losses_by_anything(paired):
    accuracy = contrast({0: 0.12, 1: 0.96}, {0: 0.96, 1: 0.95}, "max", paired=paired)
    assert accuracy.bounds == (-1.0, 1.0)
    low, high = contrast({0: -3.0, 1: 5.0}, {0: 2.0, 1: 1.0}, "min", paired=paired).bounds
    assert low < -10
    assert high > 10
    assert contrast({0: 0.001, 1: 5.0}, {0: 2.0, 1: 1.0}, "min", paired=paired).bounds[1] > 1e9


def test_five_pairs_have_no_p_value_and_the_answer_is_how_many_would_do():
    five = {seed: SIX[seed] for seed in range(5)}
    (found,) = decide([contrast(five, scaled([2.0, 2.1, 1.9, 2.0, 2.2, 1.8]), "min")], 0.01)
    assert (found.word, found.p, found.more) == (Word.NOT_DECIDED, None, 6)


def test_in_a_family_of_three_six_pairs_cannot_either():
    clear = contrast(SIX, scaled([2.0, 2.1, 1.9, 2.0, 2.2, 1.8]), "min")
    found = decide([clear, clear, clear], 0.01)
    # 3 * 2^-(n-1) is below 0.05 from seven pairs on.
    assert [(one.word, one.p, one.more) for one in found] == [(Word.NOT_DECIDED, None, 7)] * 3


def test_a_lead_within_the_threshold_all_of_it_is_a_tie():
    almost = contrast(SIX, scaled([1.001, 0.999, 1.002, 0.998, 1.001, 0.999]), "min")
    (found,) = decide([almost], 0.01)
    assert found.word is Word.TIE
    (finer,) = decide([almost], 0.0005)
    assert finer.word is Word.NOT_DECIDED


def test_a_lead_that_is_certain_but_does_not_matter_is_no_better():
    # 0.4 % ahead in each pair: significant, and within the threshold of one per cent.
    certain = contrast(SIX, scaled([1.004, 1.0041, 1.0039, 1.004, 1.0042, 1.0038]), "min")
    (found,) = decide([certain], 0.01)
    assert found.word is Word.TIE
    assert found.p == 0.03125


def test_one_run_says_so():
    (found,) = decide([contrast({0: 1.0}, {0: 9.0}, "min")], 0.01)
    assert (found.word, found.contrast.size, found.contrast.bounds, found.p) == (Word.ONE_RUN_ONLY, pytest.approx(9.0), None, None)


def test_nothing_in_common_says_so_too():
    (found,) = decide([contrast({0: 1.0}, {1: 9.0}, "min")], 0.01)
    assert (found.word, found.contrast.size) == (Word.ONE_RUN_ONLY, None)


def test_pairs_take_out_what_seeds_have_in_common():
    hard = {seed: 10.0 * 3**seed for seed in range(6)}
    harder = {seed: value * factor for (seed, value), factor in zip(hard.items(), [1.2, 1.25, 1.15, 1.2, 1.22, 1.18], strict=True)}
    (paired,) = decide([contrast(hard, harder, "min")], 0.01)
    (apart,) = decide([contrast(hard, harder, "min", paired=False)], 0.01)
    assert paired.word is Word.BETTER
    assert apart.word is Word.NOT_DECIDED
    assert apart.more is None or apart.more > 100


def test_without_pairs_four_against_four_are_enough():
    (found,) = decide([contrast({0: 1.0, 1: 1.1, 2: 0.9, 3: 1.05}, {4: 2.0, 5: 2.1, 6: 1.9, 7: 2.2}, "min", paired=False)], 0.01)
    assert (found.word, found.p) == (Word.BETTER, pytest.approx(2 / 70))


def test_where_more_is_better_the_larger_leads():
    made = contrast({0: 0.9, 1: 0.91}, {0: 0.8, 1: 0.83}, "max")
    assert made.scale is Scale.DIFFERENCE
    assert made.lead == pytest.approx(0.09)


def test_more_seeds_are_asked_for_as_students_power_has_it():
    # Cohen's d = 1: 10 pairs reach a power of 0.80 at 5 % (Cohen 1988; G*Power 3.1 gives 10 for dz = 1).
    leads = np.array([-1.0, 0.0, 1.0, 2.0, 3.0])
    leads = (leads - leads.mean()) / leads.std(ddof=1) + 1.0
    first = {seed: float(value) for seed, value in enumerate(leads)}
    (found,) = decide([contrast(first, dict.fromkeys(range(5), 0.0), "max", scale=Scale.DIFFERENCE)], 0.01)
    assert (found.word, found.more) == (Word.NOT_DECIDED, 10)


def test_as_many_seeds_as_are_said_show_a_tie_as_often_as_is_said():
    # Lead 0.0024, spread 0.0098, threshold 0.01, as measured once of accuracies.
    one = Contrast(Scale.DIFFERENCE, 0.0024, ConfidenceInterval(-0.006, 0.01, ""), True, (8, 8), 0.3, 0.0098, 0.5, 0.0)
    count = seeds_to_decide(one, 0.01, 0.05, 1)
    assert count is not None
    rng = np.random.default_rng(0)
    leads = rng.normal(0.0024, 0.0098, (2000, count))
    half = student_quantile(0.975, count - 1) * leads.std(axis=1, ddof=1) / math.sqrt(count)
    ties = (np.abs(leads.mean(axis=1)) + half < 0.01).mean()
    assert 0.78 <= ties <= 0.93


def test_between_what_a_mean_can_lie():
    assert possible_range([0.2, 1.0], "max", Scale.DIFFERENCE) == (0.0, 1.0)
    assert possible_range([0.2, 1.1], "max", Scale.RATIO) == (0.0, math.inf)
    # An error may be a share or not; nobody knows.
    assert possible_range([0.2, 1.0], "min", Scale.RATIO) == (0.0, math.inf)
    assert possible_range([-0.2, 1.0], "max", Scale.DIFFERENCE) == (-math.inf, math.inf)


def test_leads_that_are_all_equal_are_a_tie_from_as_many_pairs_as_could_differ():
    def word(n):
        same = {seed: 0.9 for seed in range(n)}
        (found,) = decide([contrast(same, same, "max")], 0.01)
        return found.word, found.more

    assert [word(n) for n in (2, 5, 6)] == [(Word.NOT_DECIDED, 6), (Word.NOT_DECIDED, 6), (Word.TIE, None)]


def test_what_cannot_be_asked_is_no_part_of_the_family():
    six = {seed: 1.0 + 0.01 * seed for seed in range(6)}
    lead = contrast(six, {seed: 2.0 * value for seed, value in six.items()}, "min")
    alone = contrast({0: 1.0}, {0: 2.0}, "min")
    same = replace(contrast(six, six, "min"), same=5)
    assert [found.word for found in decide([lead, alone, same], 0.01)] == [Word.BETTER, Word.ONE_RUN_ONLY, Word.SAME]
    # Two pairs that are not the same make it one.
    assert decide([lead, replace(same, same=4)], 0.01)[0].word is Word.NOT_DECIDED
