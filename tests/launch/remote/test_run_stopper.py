"""What stops a run from anywhere, with what lists and stops jobs replaced: the mark, what is waited for, and when it is over."""

from __future__ import annotations

import getpass
import os
from types import SimpleNamespace
from typing import Any

import pytest

from backends.sagemaker.admin.stop_jobs import StoppedJob, StopResult
from backends.sagemaker.aws.s3 import NoBucketError
from backends.stop_mark import left
from backends.stopped_endpoints import gone_at
from launch.remote import stopping
from launch.remote.stopping import RunStopper, Stopped
from tests.backends.memory_store import MemoryStore

ROW = StoppedJob("job", "InProgress", "InProgress", "asked to stop", left=True)


class Recorded:
    """Both stoppers: how they were made, and what they were asked, in order."""

    def __init__(self) -> None:
        self.made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.found: dict[str, StopResult] = {}

    def kind(self, name: str) -> Any:
        recorded = self

        class Stopper:
            def __init__(self, *words: Any, **more: Any) -> None:
                recorded.made.append((name, words, more))

            def stop(self, *words: Any) -> StopResult:
                recorded.asked.append((name, words))
                return recorded.found.get(name, StopResult(()))

        return Stopper


@pytest.fixture
def recorded(monkeypatch):
    found = Recorded()
    monkeypatch.setattr(stopping, "JobStopper", found.kind("jobs"))
    monkeypatch.setattr(stopping, "EndpointStopper", found.kind("endpoints"))
    return found


def stopper(stores, *, emulated=False, say=lambda line: None):
    return RunStopper(SimpleNamespace(emulated=emulated), "t", stores, say)


@pytest.mark.parametrize(("emulated", "poll_s", "gap_s", "whole_s", "one_s"), [(False, 5.0, 1.0, 15.0, 35.0), (True, 0.2, 0.0, 3.0, 13.0)])
def test_who_stops_one_experiment_waits_until_its_controller_has_looked_again(recorded, emulated, poll_s, gap_s, whole_s, one_s):
    def say(line):
        pass

    there = stopper([MemoryStore()], emulated=emulated, say=say)
    assert there.stop().is_over
    assert there.stop(wait=False, longest_s=7.0, experiments=[("toy/RS-sagemaker-1", "toy-1"), ("toy/RS-sagemaker-2", "")]).is_over
    # 2 s that a controller keeps what it read, 13 s or 1 s of a call on its way; then 20 s or 10 s between two looks.
    assert recorded.asked == [
        ("jobs", (True, 900.0, poll_s, say, whole_s)),
        ("endpoints", (True, 900.0, poll_s, say)),
        ("jobs", (False, 7.0, poll_s, say, one_s)),
        ("endpoints", (False, 7.0, poll_s, say)),
    ]
    # One that has not begun has no jobs, and those of others are none of its.
    assert [more.get("prefixes", words[2:]) for _, words, more in recorded.made] == [None, (None,), ("toy-1",), (("toy-1",),)]
    assert recorded.made[0][2]["page_gap_s"] == gap_s


def test_the_mark_is_left_wherever_the_run_may_look_and_says_what_is_to_end(recorded):
    stores = [MemoryStore(), MemoryStore("s3://other/outrider/runs/t")]
    stopper(stores).stop(experiments=[("toy/RS-sagemaker-1", "")])
    assert [left(store).experiments for store in stores] == [("toy/RS-sagemaker-1",)] * 2
    stopper(stores).stop()
    assert [left(store).is_of_all for store in stores] == [True, True]
    assert left(stores[0]).by == getpass.getuser()


def test_a_mark_that_could_not_be_left_is_no_end_and_each_reason_is_said(recorded):
    refused, other = MemoryStore(), MemoryStore("s3://other/outrider/runs/t")
    refused.failing = other.failing = lambda operation, key: "refused"
    found = stopper([refused, other, MemoryStore()]).stop()
    assert not found.is_over
    assert found.unmarked.count("refused") == 2
    assert "; " in found.unmarked


def test_where_there_is_no_bucket_there_is_nobody_to_tell(recorded, monkeypatch):
    def none(store, mark):
        raise NoBucketError("s3://nowhere", "there is no such bucket")

    monkeypatch.setattr(stopping, "leave", none)
    assert stopper([MemoryStore()]).stop() == Stopped(StopResult(()), "")


def test_what_is_left_of_jobs_and_endpoints_is_told_together(recorded):
    recorded.found = {"jobs": StopResult((ROW,), "throttled"), "endpoints": StopResult((ROW,), "denied")}
    found = stopper([MemoryStore()]).stop()
    assert found.jobs == StopResult((ROW, ROW), "throttled; denied")
    recorded.found["jobs"] = StopResult((ROW,))
    assert stopper([MemoryStore()]).stop().jobs.trouble == "denied"


def test_until_when_an_endpoint_was_billed_is_kept_where_it_can_be(recorded, monkeypatch):
    monkeypatch.setattr(stopping.time, "time", lambda: 99.0)
    refused, store = MemoryStore(), MemoryStore("s3://other/outrider/runs/t")
    stopper([refused, store]).stop()
    refused.failing = lambda operation, key: "refused"
    (gone,) = [more["gone"] for name, _, more in recorded.made if name == "endpoints"]
    gone("endpoint-1")
    assert gone_at(store, "endpoint-1") == 99.0


@pytest.mark.parametrize("error", [KeyError, OSError])
def test_who_has_no_name_is_told_by_a_number(recorded, monkeypatch, error):
    def nobody():
        raise error("no such user")

    monkeypatch.setattr(stopping.getpass, "getuser", nobody)
    store = MemoryStore()
    stopper([store]).stop()
    assert left(store).by == f"user {os.getuid()}"
