import math

import pytest

from backends.events import Accepted, Closed, Ended, Event, Noted, Progressed, Rejected, Reported, Restarted, Retained, Scope, Started
from backends.failures import Cause, Outcome
from benchmarking.controller.event_codec import event_record, record_event
from benchmarking.controller.journal import Record
from definitions import strict_json

EVENTS = [
    Accepted("j", 1.5),
    Started("j", 2.5),
    Restarted("j", 2.5, 3),
    Reported("j", 1795000000.1234567, 0, {"loss": 0.1, "note": "ü\n", "deep": {"a": [1, None]}}, 0.30000000000000004),
    Reported("j", 3.5, 7, {"loss": math.inf, "low": -math.inf, "ok": True, "none": None}, 2.25, incarnation=2),
    Progressed("j", 3.5, 120.0, 5004.0, 2.25, 4.5, {"startup": 1.5}, incarnation=1, number=7),
    Progressed("j", 3.5, 1.0, None, 2.25),
    Ended("j", 4.5),
    Rejected("j", 5.5, Cause.QUOTA, "no more of these", Scope.INSTANCE_TYPE, 60.5),
    Rejected("j", 5.5, Cause.BAD_REQUEST, "never"),
    Noted("j", 5.5, "Downloading"),
    Noted("", 5.5, text="waiting for the API"),
    Noted("j", 5.5, memo={"endpoint": "e", "billed_from": 1.5}),
    Retained("j", 6.0, "ml.m5.large", 2, worst_s=600.0),
    Retained("j", 6.0, "ml.m5.large", 2, billable_s=37.0, reused_by="k"),
    Retained("j", 6.0, "ml.m5.large", 2, worst_s=600.0, kept="i"),
    Closed("j", 6.25, Outcome.COMPLETED, instance_type="ml.g5.xlarge"),
    Closed("j", 6.5, Outcome.COMPLETED),
    Closed(
        "j",
        6.5,
        outcome=Outcome.FAILED,
        cause=Cause.OUT_OF_MEMORY,
        message="MemoryError",
        started_at=2.5,
        ended_at=6.25,
        billable_s=4.0,
        usage={"peak_rss_bytes": 123456789012, "phases": {"load": 0.5}},
        log_tail=("a", "b"),
    ),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_events_come_back_from_their_json(event):
    kind, body = event_record(event)
    again = record_event(Record(1, event.at, kind, strict_json.loads(strict_json.dumps(body))))
    assert again == event
    assert type(again) is type(event)


def test_every_kind_of_event_is_tested():
    assert {type(event) for event in EVENTS} == set(Event.__subclasses__())


def test_nan_comes_back():
    kind, body = event_record(Reported("j", 1.0, 0, {"loss": math.nan}, 1.0))
    event = record_event(Record(1, 1.0, kind, strict_json.loads(strict_json.dumps(body))))
    assert math.isnan(event.metrics["loss"])


@pytest.mark.parametrize("kind", ["suggest", "start", "tell", "stop", "settle", "end"])
def test_decisions_are_no_events(kind):
    assert record_event(Record(1, 1.0, kind, {})) is None


def test_an_unknown_event_is_a_fault():
    with pytest.raises(TypeError, match="Event is no back-end event"):
        event_record(Event("j", 1.0))


def test_records_have_the_fields_that_they_always_had():
    assert event_record(Reported("j", 1.0, 0, {"loss": 1}, 2.0)) == (
        "reported",
        {"job": "j", "sequence": 0, "metrics": {"loss": 1}, "elapsed_s": 2.0},
    )
    body = event_record(Closed("j", 6.5, Outcome.COMPLETED))[1]
    assert sorted(body) == sorted(
        ["job", "outcome", "cause", "message", "started_at", "ended_at", "billable_s", "usage", "log_tail"],
    )
    assert (body["outcome"], type(body["outcome"]), body["log_tail"]) == ("completed", str, [])
    assert event_record(Noted("j", 5.5, "Downloading")) == ("noted", {"job": "j", "stage": "Downloading", "text": ""})
    assert event_record(Rejected("j", 5.5, Cause.QUOTA, "no"))[1] == {
        **{"job": "j", "cause": "quota", "message": "no", "scope": "job", "retry_at": None},
    }


def test_what_a_record_has_beside_its_event_is_no_part_of_it():
    kind, body = event_record(Retained("j", 6.0, "ml.m5.large", 2))
    assert record_event(Record(1, 6.0, kind, {**body, "worst_usd": 0.5})) == Retained("j", 6.0, "ml.m5.large", 2)
