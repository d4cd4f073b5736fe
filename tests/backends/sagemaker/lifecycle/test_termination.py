"""Which calls read the log of a job that has ended; what is due is asked for by hand, and answered so."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from backends.events import Closed
from backends.job_spec import JobSpec
from backends.sagemaker.jobs.job import CloudJob, JobPhase
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.lifecycle.marked_end import MarkedEnd
from backends.sagemaker.lifecycle.termination import JobTerminator
from backends.sagemaker.logs.parser import END_MARK, JobLog
from backends.sagemaker.logs.poller import LogPoller
from backends.sagemaker.pools.capacity import CapacityHistory
from backends.sagemaker.pools.keeper import PoolKeeper

END = datetime.fromtimestamp(1000.0, UTC)
DESCRIBED = {
    "TrainingJobStatus": "Completed",
    "SecondaryStatus": "Completed",
    "SecondaryStatusTransitions": [{"Status": "Training", "StartTime": END, "EndTime": END}],
    "TrainingStartTime": END,
    "TrainingEndTime": END,
    "BillableTimeInSeconds": 1,
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
}


class Desk:
    """The queue of calls, and the clients that make them, in one: each call is answered when it is asked to be."""

    def __init__(self):
        self.now, self.waiting, self.requests = 1000.0, [], []
        self.table = JobTable(SimpleNamespace(keep_alive_s=0), self, self, lambda: self.now)
        self.poller = LogPoller("x-", self, self, self.seen, lambda looked_at: self.terminator.swept(looked_at))
        capacity = CapacityHistory(())
        unmarked = MarkedEnd(self.table, None, lambda job, cause: None, 20.0)
        self.terminator = JobTerminator(
            self.table, self.poller, PoolKeeper(self.table), capacity, unmarked, settle_s=60.0, sweep_wait_s=6.0
        )

    def put(self, call):
        self.waiting.append(call)

    def get(self, service, attempts=None):
        return self

    def filter_log_events(self, **request):
        self.requests.append(request["logStreamNamePrefix"])

    def seen(self, job, event):
        assert [*self.table.jobs[job].log.feed(event, self.now)] == []

    def end(self, *names):
        for name in names:
            cloud = CloudJob(JobSpec(name, 0, 1, "t.py", is_silent=True), JobLog(), "ml.m5.large", JobPhase.LIVE, accepted=True)
            self.table.jobs[name] = cloud
            self.terminator.described(cloud, DESCRIBED)

    def sweep(self, *ended):
        self.poller.plan(self.now, 3.0)
        call = self.waiting.pop()
        call.make()
        words = f"{END_MARK} {json.dumps({'exit_code': 0, 'incarnation': 0, 'host': 'algo-1'})}"
        stamp = int(1000 * self.now) - 2000
        events = [{"eventId": name, "logStreamName": f"{name}/algo-1-1", "timestamp": stamp, "message": words} for name in ended]
        call.done({"events": events})

    @property
    def closed(self):
        return sorted(event.job for event in self.table.events if isinstance(event, Closed))


@pytest.fixture
def desk():
    return Desk()


def test_the_last_lines_of_jobs_that_ended_together_are_seen_by_one_look_at_all_logs(desk):
    desk.end("x-1", "x-2", "x-3")
    assert (desk.terminator.awaits_sweep, desk.terminator.next_at(), desk.closed) == (True, 1006.0, [])
    desk.terminator.plan(desk.now)
    assert desk.waiting == []
    desk.now += 1.0
    desk.sweep("x-1", "x-2", "x-3")
    desk.terminator.plan(desk.now)
    assert desk.requests == ["x-"]
    assert (desk.terminator.awaits_sweep, desk.closed) == (False, ["x-1", "x-2", "x-3"])


def test_the_log_of_a_job_whose_last_line_it_did_not_show_is_read_by_itself(desk):
    desk.end("x-1", "x-2")
    desk.now += 1.0
    desk.sweep("x-1")
    desk.terminator.plan(desk.now)
    (call,) = desk.waiting
    call.make()
    assert (desk.requests, desk.closed) == (["x-", "x-2/algo-1"], ["x-1"])


def test_a_look_that_began_before_the_end_was_seen_does_not_count(desk):
    desk.poller.plan(desk.now, 3.0)
    (early,) = desk.waiting
    desk.now += 1.0
    desk.end("x-1")
    early.make()
    early.done({"events": []})
    desk.terminator.plan(desk.now)
    assert (desk.terminator.awaits_sweep, desk.requests) == (True, ["x-"])


def test_where_no_look_comes_in_time_the_log_is_read_by_itself(desk):
    desk.end("x-1")
    desk.now += 6.0
    desk.terminator.plan(desk.now)
    (call,) = desk.waiting
    call.make()
    assert (desk.requests, desk.terminator.awaits_sweep) == (["x-1/algo-1"], False)
