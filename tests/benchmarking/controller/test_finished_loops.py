"""What a finished job tells of its loop and of what came after it."""

import pytest

from backends.events import Closed, Progressed
from backends.failures import Outcome
from benchmarking.controller.finished_loops import FinishedLoop, finished_loop
from benchmarking.controller.progress_curve import with_progress
from benchmarking.controller.rows import JobState


def job(points=(), total=10.0, levels=(), incarnation=0):
    found = JobState("j", 0, 1, 0.0, None, None, levels=list(levels), incarnation=incarnation)
    for number, (elapsed_s, done) in enumerate(points):
        found.progress = with_progress(found.progress, Progressed("j", elapsed_s, done, total, elapsed_s, number=number))
    return found


CLOSED = Closed("j", 130.0, Outcome.COMPLETED, started_at=100.0, ended_at=130.0)


def test_the_loop_is_through_with_the_last_of_its_total():
    assert finished_loop(job([(1.0, 1.0), (24.0, 10.0)]), None, CLOSED) == FinishedLoop(None, 24.0, 6.0)


def test_or_with_the_last_level_that_was_reported():
    assert finished_loop(job([(20.0, 9.0)], total=None, levels=[(12.0, 1), (25.0, 2)]), 0.5, CLOSED) == FinishedLoop(0.5, 25.0, 5.0)


@pytest.mark.parametrize(
    ("one", "closed"),
    [
        (job(), CLOSED),
        (job([(24.0, 9.0)]), CLOSED),
        (job([(24.0, 10.0)], incarnation=1), CLOSED),
        (job([(24.0, 10.0)]), Closed("j", 130.0, Outcome.STOPPED, started_at=100.0, ended_at=130.0)),
        (job([(24.0, 10.0)]), Closed("j", 130.0, Outcome.COMPLETED)),
    ],
)
def test_what_tells_nothing(one, closed):
    assert finished_loop(one, None, closed) is None


def test_a_clock_that_runs_fast_gives_no_time_below_nothing():
    assert finished_loop(job([(31.0, 10.0)]), None, CLOSED).tail_s == 0.0
