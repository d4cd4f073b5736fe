"""What a run's progress tells of the job: by both clocks, of a loop that bends, and of memory that grows."""

import dataclasses
import math

import pytest

from benchmarking.forecasting.prefix.measured import Rest, measured, without_delay
from benchmarking.forecasting.running.projection import Openness
from tests.benchmarking.forecasting.prefix_runs import curve


def test_both_clocks_say_what_is_left():
    found = measured(curve([0.1] * 50, 1000.0, cores=0.5, phases={"load": 1.5}))
    assert (found.done, found.total, found.share, found.is_through) == (50.0, 1000.0, 0.05, False)
    assert (found.begin_s, found.begin_cpu_s) == (2.0, 1.0)
    assert (found.end_s, found.end_cpu_s) == (pytest.approx(7.0), pytest.approx(3.5))
    assert found.phases == (("load", 1.5),)
    assert isinstance(found.wall, Rest)
    assert isinstance(found.cpu, Rest)
    assert found.wall.seconds == pytest.approx(95.0)
    assert found.cpu.seconds == pytest.approx(47.5)


def test_a_clock_of_the_processor_that_has_hardly_moved_goes_by_the_wall():
    found = measured(curve([0.1] * 50, 1000.0, cores=0.05))
    assert isinstance(found.cpu, Rest)
    assert found.cpu.seconds == pytest.approx(95.0 * 0.05)


def test_a_loop_that_is_through_leaves_nothing_and_says_whether_it_bent():
    steady = measured(curve([0.1] * 100, 100.0))
    assert steady.is_through
    assert isinstance(steady.wall, Rest)
    assert steady.wall.seconds == 0.0
    assert steady.bend is not None
    assert steady.bend[0] == pytest.approx(0.0, abs=0.01)
    # Steps that double half-way take 1.5 times as long over all as in the first third.
    doubled = measured(curve([0.1] * 50 + [0.2] * 50, 100.0)).bend
    assert doubled is not None
    assert math.exp(doubled[0]) == pytest.approx(1.5, rel=0.02)
    assert abs(doubled[0]) > 2 * doubled[1]
    assert measured(curve([0.1] * 4, 4.0)).bend is None


def test_of_a_life_that_went_on_from_a_checkpoint_the_work_before_it_counts():
    found = measured(curve([0.1] * 50, 1000.0, from_done=400, incarnation=1))
    assert isinstance(found.wall, Rest)
    assert found.wall.seconds == pytest.approx(0.1 * (1000 - 50))


def test_memory_that_grows_in_the_loop_is_carried_on():
    flat = measured(curve([0.1] * 100, 1000.0, peaks=lambda done: 5e8))
    assert (flat.peak_bytes, flat.peak_left_bytes) == (5e8, 0.0)
    growing = measured(curve([0.1] * 100, 1000.0, peaks=lambda done: 5e8 + 1e6 * done))
    assert growing.peak_left_bytes == pytest.approx(9e8)
    # What is taken once, early or late, does not go on.
    for at in (20, 80):
        once = measured(curve([0.1] * 100, 1000.0, peaks=lambda done, at=at: 5e8 + 1e8 * (done > at)))
        assert once.peak_left_bytes == 0.0


def test_what_is_open_stays_so():
    assert measured(curve([0.1] * 50, None)).wall is Openness.NO_TOTAL
    assert measured(curve([0.1] * 2, 1000.0)).wall is Openness.TOO_EARLY
    assert measured(curve([0.1] * 50, None)).share is None


def test_time_that_other_programs_had_is_no_part_of_what_a_quiet_machine_takes():
    # Steps of 0.4 s, in 0.3 s of which others had the processor, after a start-up of 2 s that was delayed by 1 s.
    told = measured(curve([0.4] * 60, 1000.0, delays=lambda done: 1.0 + 0.3 * done))
    assert told.delayed_s == pytest.approx(19.0)
    assert told.wall.seconds == pytest.approx(376.0, rel=0.01)
    assert told.quiet.seconds == pytest.approx(94.0, rel=0.01)
    # Where the system does not tell, nothing is said.
    assert measured(curve([0.4] * 60, 1000.0)).quiet is Openness.TOO_EARLY


def test_moments_that_were_nothing_but_waiting_are_none_of_a_quiet_machine():
    told = without_delay(curve([0.4, 0.4, 0.4], 10.0, delays=lambda done: (0.0, 0.3, 0.75, 1.0)[done]))
    assert [(point.done, round(point.elapsed_s, 3)) for point in told.points] == [(0.0, 2.0), (1.0, 2.1), (3.0, 2.2)]


def test_a_loop_that_had_little_of_the_processor_is_told_by_its_own_mean_and_not_by_the_load_that_changed():
    # Steps of 1 ms of the processor: 0.4 s of it in the first 4 s of the clock, and 0.2 s in the next 8 s.
    run = curve([0.01] * 400 + [0.04] * 200, 16000.0)
    points = [point._replace(cpu_s=0.2 + 0.001 * point.done) for point in run.points]
    told = measured(dataclasses.replace(run, points=points))
    assert told.cpu.seconds == pytest.approx(15.4, rel=0.001)
    assert told.cpu.sd > told.wall.sd
