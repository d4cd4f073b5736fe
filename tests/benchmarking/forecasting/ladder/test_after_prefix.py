"""Which small jobs a prefix still needs."""

from benchmarking.forecasting.ladder.after_prefix import any_has_rest, is_open, small_rungs
from tests.benchmarking.forecasting.prefix_runs import prefix, small

BEGUN = prefix([0.1] * 60, 1000.0)


def test_the_lowest_the_next_and_the_lowest_again():
    assert small_rungs((0.01, 0.03, 0.1)) == [(0.01, 0), (0.03, 0), (0.01, 1)]
    assert small_rungs((0.05,)) == [(0.05, 0), (0.05, 1)]
    assert small_rungs(()) == []


def test_a_prefix_without_a_total_told_nothing():
    assert any_has_rest([BEGUN])
    assert not any_has_rest([prefix([0.1] * 60, None)])
    assert not any_has_rest([small(0.01, [0.1] * 10)])


def test_another_configurations_small_job_may_show_that_nothing_comes_after_the_loop():
    assert is_open([BEGUN], [])
    assert not is_open([BEGUN], [small(0.01, [0.1] * 10, after_s=0.001, name="other")])
    assert is_open([BEGUN], [small(0.01, [0.1] * 10, after_s=0.5, name="other")])
    # Its own goes before theirs.
    assert not is_open([BEGUN, small(0.01, [0.1] * 10, after_s=0.001)], [small(0.01, [0.1] * 10, after_s=0.5, name="other")])


def test_a_job_that_was_over_before_its_prefix_leaves_nothing_open():
    assert not is_open([prefix([0.5] * 8, 8.0)], [])
