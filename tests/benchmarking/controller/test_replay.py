"""Where a journal ends: reports that are known, and the time in which nobody was at work."""

from types import SimpleNamespace

import pytest

from benchmarking.controller.journal import ControllerSession, Record
from benchmarking.controller.replay import downtime_s, replay
from benchmarking.controller.waits import Waits


class Log:
    def __init__(self, *entries, sessions=()):
        self.entries, self.begun, self._sessions = entries, [], list(sessions)

    def records(self, after=0):
        return [Record(number, float(number), kind, body) for number, (kind, body) in enumerate(self.entries, 1)]

    def sessions(self):
        return list(self._sessions)

    def begin_session(self, session):
        self.begun.append(session)


def test_reports_that_the_journal_has_are_handed_back_for_jobs_that_are_open():
    log = Log(
        ("reported", {"job": "over", "sequence": 1, "metrics": {}}),
        ("reported", {"job": "open", "sequence": 1, "metrics": {"loss": 1}}),
        ("reported", {"job": "open", "sequence": 2, "incarnation": 0, "metrics": {"loss": 2}}),
        ("reported", {"job": "open", "sequence": 1, "incarnation": 1, "metrics": {"loss": 3}}),
        ("closed", {"job": "over"}),
    )
    applied = []
    state = SimpleNamespace(apply=lambda record: applied.append(record.sequence))
    assert replay(log, None, state) == {"open": {(0, 1): {"loss": 1}, (0, 2): {"loss": 2}, (1, 1): {"loss": 3}}}
    assert applied == [1, 2, 3, 4, 5]


def test_the_method_is_told_what_it_was_told_before_the_record_counts():
    told = []
    due = ["first", "second"]
    state = SimpleNamespace(due_tells=due, apply=lambda record: due.pop(0))
    replay(Log(("tell", {}), ("tell", {})), SimpleNamespace(tell=told.append), state)
    assert told == ["first", "second"]


def test_pauses_between_controllers_add_up_and_those_that_recorded_nothing_count_once():
    # Two controllers began after record 5 and recorded nothing; the second one's start ends the pause.
    sessions = [ControllerSession(5, 100.0, 110.0), ControllerSession(5, 100.0, 130.0)]
    log = Log(sessions=sessions)
    state = SimpleNamespace(waits=Waits(counts=False), sequence=9, last_at=200.0, first_start=(2, 90.0))
    assert downtime_s(log, state, 260.0) == pytest.approx(30.0 + 60.0)
    assert log.begun == [ControllerSession(9, 200.0, 260.0)]


def test_pauses_before_the_first_job_began_count_not_as_the_clock_of_the_limit_stood_still():
    sessions = [ControllerSession(5, 100.0, 110.0), ControllerSession(7, 120.0, 150.0)]
    state = SimpleNamespace(waits=Waits(counts=False), sequence=9, last_at=200.0, first_start=(6, 115.0))
    assert downtime_s(Log(sessions=sessions), state, 260.0) == pytest.approx(30.0 + 60.0)
    waiting = SimpleNamespace(waits=Waits(counts=False), sequence=9, last_at=200.0, first_start=None)
    assert downtime_s(Log(sessions=sessions), waiting, 260.0) == 0.0


def test_a_clock_that_was_set_back_makes_no_pause():
    assert downtime_s(Log(), SimpleNamespace(waits=Waits(counts=False), sequence=3, last_at=200.0, first_start=(2, 90.0)), 150.0) == 0.0


def test_the_first_controller_continues_nobody():
    log = Log()
    assert downtime_s(log, SimpleNamespace(waits=Waits(counts=False), sequence=0, last_at=0.0, first_start=None), 50.0) == 0.0
    assert log.begun == []


def test_what_jobs_waited_for_others_is_summed_over_controllers_without_the_pauses_between_them():
    """Job b waits from 2 s on; its controller ends at 3 s, the next one begins at 103 s and starts it at once."""

    class State:
        waits = Waits(counts=True)

        def apply(self, record):
            step = {"started": self.waits.started, "ended": self.waits.over, "start": self.waits.submitted}[record.kind]
            step(record.body["job"], record.body["at"])

    log = Log(
        ("started", {"job": "a", "at": 0.0}),
        ("start", {"job": "b", "at": 1.0}),
        ("ended", {"job": "a", "at": 2.0}),
        ("started", {"job": "b", "at": 103.5}),
        sessions=[ControllerSession(3, 3.0, 103.0)],
    )
    replay(log, None, State())
    assert State.waits.seconds() == 1.5
