import pytest

from backends.events import Reported
from benchmarking.controller.recorder import Recorder
from benchmarking.controller.rows import JobState, StateSetup
from benchmarking.controller.state import ExperimentState
from tests.benchmarking.experiments import MemoryJournal


def recorder(*, virtual=False, observers=()):
    journal, state = MemoryJournal(), ExperimentState(StateSetup(objectives={"loss": "min"}))
    return Recorder(journal, state, lambda: 7.5, observers, virtual=virtual), journal, state


def test_a_record_has_the_time_of_its_event_and_else_that_of_the_clock():
    writer, journal, state = recorder()
    writer.record("code", {"code": "abc"})
    event = Reported("j", 3.25, 0, {"loss": 1.0}, 3.25)
    writer.record("reported", {"job": "j", "metrics": {"loss": 1.0}}, event)
    assert [(record.sequence, record.at, record.kind) for record in journal.records()] == [(1, 7.5, "code"), (2, 3.25, "reported")]
    assert (state.sequence, state.code) == (2, "abc")


def test_observers_see_the_record_after_it_was_taken_in():
    seen = []
    writer, _, _ = recorder(observers=(lambda record, state: seen.append((record.kind, state.code)),))
    writer.record("code", {"code": "abc"})
    assert seen == [("code", "abc")]


def test_a_real_clock_commits_every_time():
    writer, journal, _ = recorder()
    writer.commit()
    writer.commit()
    assert journal.commits == 2


@pytest.mark.parametrize(("records", "commits"), [(511, 0), (512, 1), (1023, 1), (1024, 2)])
def test_a_virtual_clock_commits_once_in_512_records(records, commits):
    writer, journal, _ = recorder(virtual=True)
    for _ in range(records):
        writer.record("code", {"code": "abc"})
        writer.commit()
    assert journal.commits == commits


def test_the_end_is_committed_on_any_clock():
    writer, journal, _ = recorder(virtual=True)
    writer.record("code", {"code": "abc"})
    writer.commit(always=True)
    assert journal.commits == 1


def test_what_concerns_no_job_and_what_one_will_cost_are_records_of_now():
    seen = []
    writer, journal, state = recorder(observers=(lambda record, state: seen.append((record.kind, record.at)),))
    state.jobs["j"] = JobState("j", 0, 0, 0.0, None, 3.0)
    writer.note("the disk is nearly full")
    writer.book("j", 1.5)
    noted, booked = journal.records()
    assert (noted.at, noted.kind, noted.body["job"], noted.body["text"]) == (7.5, "noted", "", "the disk is nearly full")
    assert (booked.at, booked.kind, booked.body) == (7.5, "bound", {"job": "j", "worst_usd": 1.5})
    assert state.jobs["j"].worst_usd == 1.5
    assert seen == [("noted", 7.5), ("bound", 7.5)]
