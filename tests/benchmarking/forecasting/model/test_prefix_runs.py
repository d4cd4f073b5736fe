"""The run that is expected next of a job whose beginning was run."""

import math

import pytest

from benchmarking.forecasting.model.prefix_runs import another_small, longer_prefix, usual_sd
from benchmarking.forecasting.prefix.measured import Rest
from tests.benchmarking.forecasting.prefix_runs import prefix, small


def test_the_law_of_a_usual_loop_gets_narrower_as_it_goes_on():
    # At its very beginning the prior alone: half of 15 %, the noise of twelve stretches, and the error of form.
    assert usual_sd(0.0) == pytest.approx(math.hypot(0.075, 0.04 / math.sqrt(12), 0.02))
    found = [usual_sd(share) for share in (0.02, 0.1, 0.3, 0.5)]
    assert found == sorted(found, reverse=True)
    assert found[-1] == pytest.approx(0.0454, abs=0.0001)


def test_a_longer_beginning_runs_twice_as_long_and_leaves_less_to_an_as_steady_rest():
    begun = prefix([0.1] * 100, 1000.0)
    longer = longer_prefix([prefix([0.1] * 50, 1000.0), begun])
    assert longer.total_s == pytest.approx(begun.total_s + 10.0)
    assert (longer.progress.done, longer.progress.total) == (200.0, 1000.0)
    assert (longer.progress.end_s, longer.progress.end_cpu_s) == (pytest.approx(22.0), pytest.approx(22.0))
    assert longer.progress.wall.seconds == pytest.approx(begun.progress.wall.seconds * 8 / 9)
    assert longer.progress.wall.sd == pytest.approx(begun.progress.wall.sd * usual_sd(0.2) / usual_sd(0.1))
    assert longer.progress.cpu.freedom == begun.progress.cpu.freedom + 2
    assert isinstance(longer.progress.cpu, Rest)


def test_there_is_none_longer_than_the_loop_or_of_one_that_told_no_total():
    assert longer_prefix([prefix([0.1] * 60, 100.0)]) is None
    assert longer_prefix([prefix([0.1] * 60, None)]) is None
    assert longer_prefix([]) is None


def test_a_small_job_is_run_again_where_one_was_run_through():
    runs = [small(0.03, [0.1] * 30), small(0.01, [0.1] * 10), small(0.01, [0.2] * 10, repeat=1)]
    found = another_small([*runs, prefix([0.1] * 50, 1000.0)])
    assert [(one.fraction, one.total_s) for one in found[:2]] == [(0.01, pytest.approx(4.0)), (0.03, pytest.approx(5.0))]
    # One of a tenth: 2 s of start-up, 10 s of its loop, and next to nothing after it, as the others had.
    assert (found[2].fraction, found[2].total_s) == (pytest.approx(0.1), pytest.approx(12.0, abs=0.01))
    assert (found[2].progress.done, found[2].progress.total) == (pytest.approx(100.0), pytest.approx(100.0))
    assert [one.fraction for one in another_small([small(0.5, [0.1] * 500)])] == [0.5]
    # What comes after the loop goes on as it grew: 1 s at 1 %, 3 s at 3 %, so 10 s at 10 %.
    later = another_small([small(f, [0.1] * round(1000 * f), after_s=100 * f) for f in (0.01, 0.03)])[-1]
    assert later.total_s == pytest.approx(22.0, rel=0.05)
    assert len({one.repeat for one in found} & {one.repeat for one in runs}) == 0
