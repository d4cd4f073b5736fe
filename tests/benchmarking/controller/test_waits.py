"""What counts as waiting for others: jobs are submitted, none of ours runs, and one ran before."""

from benchmarking.controller.waits import Waits


def test_only_time_in_which_none_of_ours_runs_counts():
    waits = Waits(counts=True)
    waits.submitted("a", 0.0)
    assert not waits.is_waiting  # before the first start nothing is run time anyway
    waits.started("a", 10.0)
    waits.submitted("b", 11.0)
    assert waits.seconds(15.0) == 0.0  # our own job is what it waits for
    waits.over("a", 20.0)
    assert waits.is_waiting
    assert (waits.seconds(23.0), waits.seconds()) == (3.0, 0.0)
    waits.started("b", 25.0)
    assert (waits.is_waiting, waits.seconds(99.0)) == (False, 5.0)
    waits.over("b", 30.0)
    assert waits.seconds(99.0) == 5.0  # nothing waits
    waits.submitted("c", 40.0)
    waits.over("c", 42.0)
    assert waits.seconds() == 7.0


def test_a_pause_between_controllers_is_counted_elsewhere():
    waits = Waits(counts=True)
    waits.started("a", 0.0)
    waits.submitted("b", 1.0)
    waits.over("a", 2.0)
    waits.skip(5.0, 1000.0)
    waits.over("b", 1001.0)
    assert waits.seconds() == 4.0


def test_where_jobs_wait_for_nobody_nothing_counts():
    waits = Waits(counts=False)
    waits.started("a", 0.0)
    waits.over("a", 1.0)
    waits.submitted("b", 1.0)
    assert (waits.is_waiting, waits.seconds(50.0)) == (False, 0.0)
