from collections import Counter

from benchmarking.controller.repeat_order import ordered


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
