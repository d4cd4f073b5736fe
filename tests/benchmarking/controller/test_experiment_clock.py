import pytest

from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.controller.journal import ControllerSession
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState


def state(first=None):
    found = ExperimentState(StateSetup({"loss": "min"}))
    found.first_start = first
    return found


def test_nothing_has_passed_before_the_first_job_runs():
    assert ExperimentClock([]).at(50.0, 3, state()) == 0.0


def test_time_without_a_controller_is_left_out_from_the_record_after_it_on():
    # The second controller began 30 s after the last record of the first.
    clock = ExperimentClock([ControllerSession(0, 0.0, 0.0), ControllerSession(7, 140.0, 170.0)])
    begun = state((2, 100.0))
    assert clock.at(140.0, 7, begun) == pytest.approx(40.0, abs=1e-9)
    assert clock.at(175.0, 8, begun) == pytest.approx(45.0, abs=1e-9)


def test_a_pause_before_the_first_job_began_is_no_part_of_it():
    clock = ExperimentClock([ControllerSession(1, 10.0, 90.0)])
    assert clock.at(105.0, 5, state((2, 100.0))) == pytest.approx(5.0, abs=1e-9)


def test_a_clock_that_was_set_back_shows_no_negative_time():
    assert ExperimentClock([]).at(90.0, 5, state((2, 100.0))) == 0.0
