"""What speaks against a forecast from a prefix, what it rests on, and what it leaves open."""

from dataclasses import replace

import numpy as np

from benchmarking.forecasting.model.prefix_evidence import clock_of_tails, disagreement, leaves_open, remarks_on, why_open
from benchmarking.forecasting.model.result import Status
from tests.benchmarking.forecasting.prefix_runs import prefix, small


def test_a_prefix_and_a_ladder_that_exclude_each_other_decide_nothing_and_say_where():
    near, far = np.linspace(45, 55, 100), np.linspace(90, 110, 100)
    (found,) = disagreement(near, far, "total_s")
    assert found[0] is Status.NOT_DECIDED
    assert "45.5 to 54.5" in found[1]
    assert "before the loop or in it" in found[1]
    assert "in the loop" in disagreement(far, near, "total_s")[0][1]
    assert disagreement(near, np.linspace(30, 500, 100), "total_s") == []
    assert disagreement(near, None, "total_s") == []


def test_a_reader_is_told_how_much_of_the_job_was_seen_and_what_was_not():
    begun = prefix([0.1] * 60, 1000.0)
    assert remarks_on([begun], []) == ["from the first 6% of the job's own loop", "what comes after the loop was not seen"]
    bent = [small(0.01, [0.02] * 30 + [0.04] * 30)]
    lent = [small(0.01, [0.1] * 10, name="d")]
    assert remarks_on([begun], [], lent)[1] == "what comes after the loop was seen in small jobs of other configurations"
    assert remarks_on([begun], bent) == ["from the first 6% of the job's own loop", "steps get dearer on the way, as small jobs show"]


def test_why_a_prefix_told_nothing():
    assert why_open([]) == ""
    assert why_open([prefix([0.1] * 60, 1000.0)]) == ""
    assert "how much there is to do" in why_open([prefix([0.1] * 60, None)])


def test_a_small_job_is_worth_it_as_long_as_what_comes_after_the_loop_may_matter():
    begun = [prefix([0.1] * 60, 1000.0)]
    assert leaves_open(begun, [], 102.0)
    # A thousandth of a second, a hundred times as much at the most: no.
    assert not leaves_open(begun, [small(0.01, [0.1] * 10, after_s=0.001)], 102.0)
    # Half a second may be 50: yes, until it is seen not to grow.
    assert leaves_open(begun, [small(0.01, [0.1] * 10, after_s=0.5)], 102.0)
    constant = [small(fraction, [0.1] * 10, after_s=0.5, repeat=k) for fraction, k in ((0.01, 0), (0.03, 0), (0.01, 1), (0.1, 0))]
    assert not leaves_open(begun, constant, 102.0)


def test_tails_are_judged_by_the_processors_clock_unless_they_wait():
    assert clock_of_tails([]) == "cpu"
    busy = [small(0.01, [0.1] * 10, after_s=2.0, cores=0.1)]  # 2 s of a loaded machine, 0.2 s of work
    assert clock_of_tails(busy) == "cpu"
    uploads = replace(small(0.01, [0.1] * 10, after_s=2.0), cpu_s=3.01)  # 2 s after the loop, in which nothing is computed
    assert clock_of_tails([uploads]) == "wall"
    assert clock_of_tails([replace(uploads, cpu_s=None)]) == "wall"
