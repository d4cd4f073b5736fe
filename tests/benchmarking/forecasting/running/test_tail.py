"""What comes after the loop."""

import math

import numpy as np
import pytest

from benchmarking.controller.finished_loops import FinishedLoop
from benchmarking.forecasting.running.projection import Projection
from benchmarking.forecasting.running.tail import Tail, tail_of, with_tail

LOOP = Projection(0.5, 100.0, 90.0, 110.0, 87.0, 113.0, 0.1, None)


def test_one_job_tells_it_by_a_quarter():
    found = tail_of([FinishedLoop(None, 50.0, 8.0), FinishedLoop(0.1, 5.0, 1.0)], None)
    assert (found.mean_s, found.jobs) == (8.0, 1)
    assert found.sd_s == pytest.approx(math.sqrt(2 * 3 / 4) * 2.0)


def test_of_a_level_that_no_job_finished_nothing_is_known():
    assert tail_of([FinishedLoop(0.1, 5.0, 1.0)], None) is None


def test_jobs_that_differ_make_it_wide():
    alike = tail_of([FinishedLoop(None, 50.0, 8.0)] * 10, None)
    apart = tail_of([FinishedLoop(None, 50.0, seconds) for seconds in (2.0, 14.0) * 5], None)
    assert alike.sd_s < 1.1 < 5.0 < apart.sd_s < 6.0


def test_the_end_is_the_sum_and_its_interval_that_of_both():
    end = with_tail(LOOP, Tail(20.0, 5.0, 3))
    assert end.median_s == 120.0
    assert end.hi80_s == pytest.approx(120.0 + math.hypot(10.0, 1.282 * 5.0))
    assert end.lo90_s == pytest.approx(120.0 - math.hypot(13.0, 1.645 * 5.0))


def test_it_does_not_end_before_its_loop():
    assert with_tail(LOOP, Tail(2.0, 30.0, 1)).lo90_s == LOOP.lo90_s


def test_eighty_percent_intervals_of_the_next_job_hold():
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        share = rng.uniform(0.0, 0.4)
        mean = rng.uniform(1.0, 30.0)
        seconds = np.maximum(rng.normal(mean, share * mean, size=6), 0.0)
        end = with_tail(
            Projection(1.0, *(0.0,) * 5, unit_s=0.0, cpu_s=None), tail_of([FinishedLoop(None, 1.0, one) for one in seconds[:5]], None)
        )
        held += end.lo80_s <= seconds[5] <= end.hi80_s
    assert 0.78 <= held / 400 <= 0.92
