"""When a job whose script has ended is asked for by its name, and what follows from the answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backends.failures import Cause
from backends.sagemaker.jobs.job import CloudJob, JobPhase
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.lifecycle.marked_end import MarkedEnd
from backends.sagemaker.lifecycle.termination import JobTerminator


class Desk(JobTable):
    """A table whose descriptions are answered by hand."""

    def describe(self, name, done, missing):
        self.asked.append((name, done))


class Quiet:
    """Logs of which nothing is to be read, and no warm pools."""

    lag_s = 0.0

    def read_all(self, *given, **more):
        pass

    def job_ended(self, *given):
        pass


@pytest.fixture
def desk():
    table = Desk(None, None, None, lambda: table.at)
    table.at, table.asked = 0.0, []
    return table


def terminator(desk):
    unmarked = MarkedEnd(desk, None, lambda job, cause: None, 20.0)
    return JobTerminator(desk, Quiet(), Quiet(), None, unmarked, settle_s=4.0, sweep_wait_s=6.0)


def live(desk, name):
    log = SimpleNamespace(has_ended=False, has_gaps=True, end=lambda lives: None)
    spec = SimpleNamespace(name=name, metrics=(), instance_count=1)
    desk.jobs[name] = CloudJob(spec, log, "ml.m5.large", JobPhase.LIVE, accepted=True, stage="Training", started=True)
    return desk.jobs[name]


def test_a_job_is_asked_for_once_when_its_log_says_that_its_script_has_ended(desk):
    ends, job = terminator(desk), live(desk, "x")
    ends.plan(1.0)
    assert desk.asked == []
    job.log.has_ended = True
    ends.plan(2.0)
    ends.plan(3.0)
    assert [name for name, _ in desk.asked] == ["x"]
    desk.asked[0][1]({"TrainingJobStatus": "InProgress", "SecondaryStatus": "Uploading"})
    assert (job.phase, job.outlives_script) == (JobPhase.LIVE, True)  # listings are for that now


def test_the_next_one_is_asked_for_when_the_soonest_so_far_was_over(desk):
    ends, first = terminator(desk), live(desk, "x")
    first.log.has_ended = True
    ends.plan(2.0)
    desk.at = 9.0
    desk.asked.pop()[1]({"TrainingJobStatus": "Completed"})
    assert (first.phase, desk.shortest_end_s) == (JobPhase.OVER, 7.0)
    desk.jobs.clear()
    second = live(desk, "y")
    second.log.has_ended = True
    ends.plan(10.0)
    assert (desk.asked, ends.next_at()) == ([], 17.0)
    ends.plan(17.0)
    assert [name for name, _ in desk.asked] == ["y"]


def test_an_end_that_a_listing_told_first_is_not_taken_in_twice(desk):
    ends, job = terminator(desk), live(desk, "x")
    job.log.has_ended = True
    ends.plan(2.0)
    ends.ended(job)
    early, late = (done for _, done in desk.asked)
    late({"TrainingJobStatus": "Completed"})
    taken = len(desk.events)
    early({"TrainingJobStatus": "Completed"})
    assert len(desk.events) == taken


def test_what_is_to_stop_is_left_to_the_listings(desk):
    ends, job = terminator(desk), live(desk, "x")
    job.log.has_ended, job.stop_reason = True, Cause.SCHEDULER
    ends.plan(2.0)
    assert desk.asked == []
