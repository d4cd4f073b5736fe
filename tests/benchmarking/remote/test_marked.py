"""A mark beside a run's state ends the experiments that it concerns, one by one or all, where no back-end reads it."""

from __future__ import annotations

import pytest

from backends.failures import Cause
from backends.stop_mark import StopMark, leave
from benchmarking.archive.stop_requests import listening
from benchmarking.remote.marked import EVERY_S, MarkedEnds
from benchmarking.remote.shipping import ShippingPace
from tests.backends.memory_store import MemoryStore


class Looks:
    """Counts the looks of a watch, and says when it has made enough; what happens between two is a list of calls."""

    def __init__(self, *between):
        self.between, self.waited = [*between], []
        self.pace = ShippingPace(lambda: 0.0, self.wait)

    def wait(self, event, seconds):
        self.waited.append(seconds)
        if self.between:
            self.between.pop(0)()
        else:
            self.is_over = True

    is_over = False


@pytest.fixture
def store():
    return MemoryStore("s3://bucket/outrider/runs/t")


def heard(folder, words):
    """Return what asks one experiment's folder, and a context in which somebody listens there."""
    folder.mkdir()
    return listening(folder, lambda trial, cause: words.append((folder.name, trial, cause)))


def test_one_that_is_marked_is_asked_once_and_the_others_go_on(store, tmp_path):
    words = []
    looks = Looks(lambda: leave(store, StopMark(1.0, "somebody", ("toy/RS-local-1",))), lambda: None)
    marks = MarkedEnds(store, looks.pace, start=lambda thread: None)
    with heard(tmp_path / "0", words), heard(tmp_path / "1", words):
        for number in (0, 1):
            marks.begin(f"toy/RS-local-{number}", tmp_path / str(number))
        marks.run(lambda: looks.is_over)
    assert words == [("1", None, Cause.ALONE)]
    assert looks.waited == [EVERY_S] * 3


def test_a_mark_of_the_whole_run_ends_all_also_what_begins_later(store, tmp_path):
    words = []
    leave(store, StopMark(1.0, "somebody"))
    looks = Looks(lambda: marks.begin("toy/RS-local-1", tmp_path / "1"))
    marks = MarkedEnds(store, looks.pace, start=lambda thread: None)
    with heard(tmp_path / "0", words), heard(tmp_path / "1", words):
        marks.begin("toy/RS-local-0", tmp_path / "0")
        marks.run(lambda: looks.is_over)
    assert sorted(words) == [("0", None, Cause.OUTSIDE), ("1", None, Cause.OUTSIDE)]


def test_who_does_not_listen_yet_is_asked_at_the_next_look_and_who_has_ended_not_at_all(store, tmp_path):
    leave(store, StopMark(1.0, "somebody"))
    (tmp_path / "0").mkdir()
    looks = Looks(lambda: None, lambda: marks.end("toy/RS-local-0"))
    marks = MarkedEnds(store, looks.pace, start=lambda thread: None)
    marks.begin("toy/RS-local-0", tmp_path / "0")
    marks.run(lambda: looks.is_over)
    # Two looks while it was watched; then it is waited for one that begins, for as long as that takes.
    assert looks.waited == [EVERY_S, EVERY_S, None]
    assert not any((tmp_path / "0").iterdir())


def test_a_store_that_does_not_answer_is_asked_again(store, tmp_path):
    words = []
    leave(store, StopMark(1.0, "somebody"))
    store.failing = lambda operation, key: "refused"

    def mend():
        assert words == []
        store.failing = lambda operation, key: ""

    looks = Looks(mend)
    marks = MarkedEnds(store, looks.pace, start=lambda thread: None)
    with heard(tmp_path / "0", words):
        marks.begin("toy/RS-local-0", tmp_path / "0")
        marks.run(lambda: looks.is_over)
    assert words == [("0", None, Cause.OUTSIDE)]


def test_one_thread_looks_for_all(store, tmp_path):
    started = []
    marks = MarkedEnds(store, Looks().pace, start=started.append)
    for number in range(3):
        marks.begin(f"toy/RS-local-{number}", tmp_path / str(number))
    assert len(started) == 1
