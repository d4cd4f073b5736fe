"""Events of nodes in the controller's time."""

from __future__ import annotations

import pytest

from backends.events import Closed, Ended, Reported, Started
from backends.failures import Outcome
from backends.job_spec import JobSpec
from backends.processes.node_messages import LogPiece
from backends.ray.job import RayJob
from backends.ray.node_time import NodeTime
from backends.ray.slots import key_of

AHEAD_S = 240.0


def test_a_clock_that_is_four_minutes_ahead_changes_no_time():
    time = NodeTime()
    time.heard(sent_at=1000.0 + AHEAD_S, received_at=1000.5)
    time.heard(sent_at=1001.0 + AHEAD_S, received_at=1001.1)
    time.heard(sent_at=1002.0 + AHEAD_S, received_at=1004.0)
    # The message that took the least, 0.1 s, says it best.
    assert time.here(1001.0 + AHEAD_S) == pytest.approx(1001.1)


def test_times_of_a_job_never_go_back_nor_lie_in_the_future():
    time = NodeTime()
    time.heard(sent_at=500.0, received_at=100.0)
    job = RayJob(JobSpec("one", 0, 1, "main.py"), key_of({"CPU": 1.0}), 1)
    started = job.here(Started("one", 499.0), time, now=100.0)
    assert started.at == pytest.approx(99.0)
    time.heard(sent_at=510.0, received_at=109.0)  # a quicker message moves the whole clock by a second
    assert job.here(Reported("one", 499.5, 0, {}, 0.5), time, now=109.0).at == pytest.approx(99.0)
    assert job.here(Ended("one", 515.0), time, now=110.0).at == 110.0
    closed = job.here(Closed("one", 515.0, Outcome.COMPLETED, started_at=499.0, ended_at=509.0, billable_s=10.0), time, now=111.0)
    assert isinstance(closed, Closed)
    assert (closed.started_at, closed.ended_at, closed.billable_s) == (pytest.approx(99.0), pytest.approx(109.0), 10.0)


def test_what_comes_again_after_a_log_was_shortened_is_written_once(tmp_path):
    def job() -> RayJob:
        return RayJob(JobSpec("one", 0, 1, "main.py", log_cap_bytes=1 << 16), key_of({"CPU": 1.0}), 1)

    text = b"".join(b"line %08d\n" % number for number in range(10_000))
    first = job()
    first.write(LogPiece("one", text), tmp_path)
    first.close()
    # The next controller gets the last piece again, as nobody had settled it.
    second = job()
    second.write(LogPiece("one", text[-28:], len(text) - 28), tmp_path)
    second.write(LogPiece("one", b"line 00010000\n", len(text)), tmp_path)
    second.close()
    assert (tmp_path / "one.log").read_bytes().endswith(b"line 00009998\nline 00009999\nline 00010000\n")
    assert (tmp_path / "one.log").read_bytes().count(b"line 00009999") == 1
