import pytest

from benchmarking.controller.experiment_clock import ExperimentClock
from benchmarking.controller.journal import ControllerSession
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState


def state(first=None, *, waits=False):
    found = ExperimentState(StateSetup({"loss": "min"}, waits_for_others=waits))
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


def waiting():
    """Return a state of which the first job ran from 100 s to 110 s, and the second waits for cores since then."""
    found = state((2, 100.0), waits=True)
    found.waits.submitted("a", 99.0)
    found.waits.started("a", 100.0)
    found.waits.submitted("b", 105.0)
    found.waits.over("a", 110.0)
    return found


def test_waiting_for_what_others_hold_is_no_time_of_its_own_as_it_is_none_of_the_budget():
    begun, clock = waiting(), ExperimentClock([])
    assert clock.at(125.0, 7, begun) == pytest.approx(10.0, abs=1e-9)
    begun.waits.started("b", 130.0)
    assert clock.at(135.0, 8, begun) == pytest.approx(15.0, abs=1e-9)


def test_a_pause_in_which_jobs_waited_is_left_out_once():
    begun, clock = waiting(), ExperimentClock([ControllerSession(7, 120.0, 200.0)])
    clock.before(7, begun)
    clock.before(8, begun)
    begun.waits.started("b", 210.0)
    # Ten seconds of the first job, and five of the second one: not 10 + 80 + 10 less than what passed.
    assert clock.at(215.0, 9, begun) == pytest.approx(15.0, abs=1e-9)
