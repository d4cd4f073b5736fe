from collections import Counter

from benchmarking.controller.repeat_order import block_size, ordered


def test_default_measures_one_after_the_other():
    assert ordered([4, 2], 3, "default", 0) == [(4, 0), (4, 1), (4, 2), (2, 0), (2, 1), (2, 2)]


def test_interleave_measures_each_once_and_then_again():
    assert ordered([4, 2, 9], 2, "interleave", 0) == [(4, 0), (2, 0), (9, 0), (4, 1), (2, 1), (9, 1)]


def test_random_is_a_shuffle_by_seed_and_block():
    shuffled = ordered(range(20), 3, "random", 7)
    assert Counter(shuffled) == Counter(ordered(range(20), 3, "default", 7))
    assert shuffled == ordered(range(20), 3, "random", 7)
    assert shuffled != ordered(range(20), 3, "random", 8)
    assert shuffled != ordered(range(20), 3, "default", 7)
    # a later block of an open-ended method is not shuffled like the one before
    later = [(evaluation - 20, repeat) for evaluation, repeat in ordered(range(20, 40), 3, "random", 7)]
    assert later != shuffled


def test_nothing_to_order():
    assert [ordered([], 3, order, 0) for order in ("default", "interleave", "random")] == [[], [], []]


def test_a_block_is_one_evaluation_unless_repeats_are_spread_over_several():
    for finite in (True, False):
        assert block_size(3, "default", finite=finite, left=9) == 1
        assert block_size(1, "interleave", finite=finite, left=9) == 1
        assert block_size(1, "interleave", finite=finite, left=None) == 1


def test_all_that_comes_to_an_end_is_ordered_together():
    assert block_size(3, "interleave", finite=True, left=9) is None
    assert block_size(1, "random", finite=True, left=9) is None
    assert block_size(2, "random", finite=True, left=None) is None


def test_of_what_never_ends_so_many_are_ordered_together_as_the_trials_left_will_measure():
    assert block_size(3, "interleave", finite=False, left=9) == 3
    assert block_size(3, "interleave", finite=False, left=10) == 4  # the last one is measured once
    assert block_size(3, "random", finite=False, left=1) == 1
    assert block_size(3, "random", finite=False, left=0) == 1
    assert block_size(1, "random", finite=False, left=7) == 7
    assert block_size(3, "interleave", finite=False, left=None) == 1
