"""Whether an end was asked for, from the ends of jobs and by requests."""

import pytest

from backends.events import Closed
from backends.failures import Cause, Outcome
from benchmarking.controller.end_request import EndRequest
from benchmarking.controller.rows import JobState


def job(stop_reason=None):
    return JobState("j", trial=0, attempt=1, restore_from=None, submitted_at=1.0, worst_usd=0.0, stop_reason=stop_reason)


def closed(cause, message=""):
    return Closed("j", 2.0, Outcome.STOPPED, cause, message)


@pytest.mark.parametrize(("cause", "alone"), [(Cause.INTERRUPTED, False), (Cause.ALONE, True)])
def test_a_job_that_ends_with_its_experiment_and_was_not_stopped_here_asks_for_the_end(cause, alone):
    request = EndRequest()
    assert request.taken_in(job(), closed(cause, "ann asked")).cause is cause
    assert (request.is_made, request.alone, request.why) == (True, alone, "ann asked")


def test_one_that_was_stopped_here_or_whose_end_an_earlier_controller_saw_asks_for_nothing():
    request = EndRequest(earlier=frozenset({"j"}))
    request.taken_in(job(), closed(Cause.INTERRUPTED))
    assert not request.is_made
    request = EndRequest()
    request.taken_in(job(Cause.INTERRUPTED), closed(Cause.INTERRUPTED))
    request.taken_in(job(), closed(Cause.OUTSIDE))
    assert not request.is_made


def test_what_somebody_else_stops_while_all_ends_goes_on_at_a_resume_unless_it_was_to_stop_for_good():
    request = EndRequest(is_made=True)
    assert request.taken_in(job(), closed(Cause.OUTSIDE)).cause is Cause.INTERRUPTED
    assert request.taken_in(job(Cause.OUTSIDE), closed(Cause.OUTSIDE)).cause is Cause.OUTSIDE


def test_who_ends_all_after_who_ended_one_ends_all_and_not_the_other_way_round():
    request = EndRequest()
    request.make(alone=True, why="ann")
    assert request.alone
    request.make()
    assert (request.alone, request.why) == (False, "ann")
    request.make(alone=True)
    assert not request.alone
