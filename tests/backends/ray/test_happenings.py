"""What becomes of jobs by what their nodes say; no cluster is asked."""

from __future__ import annotations

from pathlib import Path

from backends.events import Accepted, Closed, Ended, Noted, Reported, Started
from backends.failures import Cause, Outcome
from backends.processes.node_messages import LogPiece, NodeBatch
from backends.ray.happenings import RayJobs
from backends.ray.held import HOLD_S
from backends.ray.job import RayJob
from backends.ray.nodes import NodeGone
from tests.backends.ray.fakes import Desk, Links, placed


class Scene:
    def __init__(self, folder: Path, *jobs: RayJob) -> None:
        self.at, self.links, self.desk = 100.0, Links(), Desk()
        self.jobs = RayJobs(self.links, self.desk.book, lambda: self.at, folder, holds=True)
        self.jobs.open.update({job.spec.name: job for job in jobs})

    def say(self, node: str, *events, number: int = 1, **fields) -> None:
        self.jobs.take(node, number, NodeBatch(self.at, events, **fields))

    def told(self, name: str = "one") -> list[str]:
        return [type(event).__name__ for event in self.jobs.events if event.job == name]


def test_a_job_starts_reports_and_ends_by_its_node_and_its_log_is_kept(tmp_path):
    scene = Scene(tmp_path, placed("one", "a"))
    scene.say("a", Accepted("one", 99.0), Started("one", 99.0), logs=(LogPiece("one", b"hello\n"),))
    scene.say("a", Reported("one", 100.0, 0, {"loss": 1.0}, 1.0), Ended("one", 100.0), number=2)
    scene.say("a", Closed("one", 100.0, Outcome.COMPLETED), number=3)
    assert scene.told() == ["Accepted", "Started", "Reported", "Ended", "Closed"]
    assert (tmp_path / "one.log").read_bytes() == b"hello\n"
    assert (scene.jobs.settled(), scene.jobs.open) == ({"a": 3}, {})


def test_what_a_node_says_of_jobs_that_are_over_is_passed_over_but_for_what_concerns_all(tmp_path):
    scene = Scene(tmp_path)
    scene.say("a", Reported("gone", 100.0, 0, {}, 1.0), Noted("", 100.0, text="warm"))
    assert [getattr(event, "text", "") for event in scene.jobs.events] == ["warm"]


def test_the_jobs_of_a_lost_node_are_lost_and_the_other_parts_are_stopped(tmp_path):
    scene = Scene(tmp_path, placed("one", "a"), placed("two", "a", "b"), placed("three", "b"))
    scene.jobs.lose(NodeGone("a", "NodeDiedError: gone"), "")
    (end,) = [event for event in scene.jobs.events if isinstance(event, Closed)]
    assert (end.job, end.outcome, end.cause, end.message) == ("one", Outcome.FAILED, Cause.LOST, "its node a died: NodeDiedError: gone")
    assert scene.links.stopped == ["two"]
    scene.say("b", Ended("two.rank1", 100.0), Closed("two.rank1", 100.0, Outcome.STOPPED, Cause.INTERRUPTED))
    assert [event.cause for event in scene.jobs.events if isinstance(event, Closed)] == [Cause.LOST, Cause.LOST]
    assert [*scene.jobs.open] == ["three"]


def test_an_end_from_outside_is_told_once_its_node_has_outlived_it_and_is_the_nodes_where_it_has_not(tmp_path):
    for is_lost, cause in ((False, Cause.OUTSIDE), (True, Cause.LOST)):
        scene = Scene(tmp_path, placed("one", "a"))
        scene.say("a", Ended("one", 100.0), Closed("one", 100.0, Outcome.STOPPED, Cause.OUTSIDE))
        assert scene.told() == ["Ended"]
        assert scene.jobs.tidy(100.0) == 100.0 + HOLD_S
        if is_lost:
            scene.jobs.lose(NodeGone("a", "gone"), "")
        scene.at += HOLD_S
        scene.jobs.answered("a")
        scene.jobs.tidy(scene.at)
        assert [event.cause for event in scene.jobs.events if isinstance(event, Closed)] == [cause]


def test_a_slot_is_free_when_the_last_part_of_its_job_has_ended(tmp_path):
    job = placed("two", "a", "b")
    scene = Scene(tmp_path, job)
    scene.say("a", Ended("two", 100.0), Closed("two", 100.0, Outcome.COMPLETED))
    assert job.kept is not None
    scene.say("b", Ended("two.rank1", 100.0))
    assert job.kept is None


def test_a_slot_in_which_another_job_is_by_now_is_not_free(tmp_path):
    # The earlier controller had given the room to `two` before it had recorded that `one` had ended; both were taken over.
    one, two = placed("one", "a"), placed("two", "a")
    two.slot = two.kept = one.kept
    scene = Scene(tmp_path, one, two)
    slot = one.kept
    scene.desk.book.adopt(slot)
    scene.say("a", Ended("one", 100.0), Closed("one", 100.0, Outcome.COMPLETED))
    assert scene.desk.book.take(slot.key) is None
    scene.say("a", Ended("two", 100.0), number=2)
    assert scene.desk.book.take(slot.key) is slot


def test_a_node_whose_disk_is_full_is_a_full_disk_and_no_loss(tmp_path):
    scene = Scene(tmp_path, placed("one", "a"))
    scene.jobs.lose(NodeGone("a", "OutOfDiskError: Local disk is full"), "host")
    assert [event.cause for event in scene.jobs.events if isinstance(event, Closed)] == [Cause.DISK_FULL]


def test_what_silent_nodes_have_left_to_run_is_known_by_job(tmp_path):
    scene = Scene(tmp_path, placed("one", "a"), placed("two", "a", "b"), placed("three", "b"))
    assert scene.jobs.left_on({"b"}) == ["two", "three"]
    scene.say("b", Ended("three", 100.0), Ended("two.rank1", 100.0))
    assert (scene.jobs.left_on({"b"}), scene.jobs.left_on({"a"}), scene.jobs.left_on(())) == ([], ["one", "two"], [])
