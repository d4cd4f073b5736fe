from __future__ import annotations

import datetime
import threading

from backends.sagemaker.controllers.own_job import own_job, status_within, used_s

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def at(seconds: float) -> datetime.datetime:
    return START + datetime.timedelta(seconds=seconds)


def span(status: str, start: float, end: float | None = None) -> dict:
    return {"Status": status, "StartTime": at(start), **({} if end is None else {"EndTime": at(end)})}


INTERRUPTED_ONCE = [
    span("Starting", 0, 60),
    span("Downloading", 60, 70),
    span("Training", 70, 370),
    span("Interrupted", 370, 900),
    span("Starting", 900, 950),
    span("Downloading", 950, 960),
    span("Training", 960),
]


class Asked:
    def get(self, service: str, attempts: int | None = None) -> Asked:
        assert service == "sagemaker"
        return self


class Answering(Asked):
    def __init__(self, answer: dict) -> None:
        self.answer = answer

    def describe_training_job(self, TrainingJobName: str) -> dict:  # noqa: N803
        return {"TrainingJobName": TrainingJobName, **self.answer}


def description(**more) -> dict:
    return {
        "TrainingJobStatus": "InProgress",
        "StoppingCondition": {"MaxRuntimeInSeconds": 1000},
        "SecondaryStatusTransitions": INTERRUPTED_ONCE,
        **more,
    }


def test_time_is_used_while_there_are_instances_over_all_lives():
    assert used_s(INTERRUPTED_ONCE, at(1000)) == 10 + 300 + 10 + 40
    assert used_s([span("Starting", 0)], at(50)) == 0


def test_it_is_now_what_the_service_says_also_where_the_instance_is_four_minutes_ahead():
    dated = {"HTTPHeaders": {"date": "Thu, 01 Jan 2026 00:20:00 GMT"}}
    found = own_job(Answering(description(ResponseMetadata=dated)), "ctl-0-g1")
    assert (found.status, found.max_run_s, found.used_s) == ("InProgress", 1000, 10 + 300 + 10 + 240)


def test_no_answer_in_time_is_none_and_so_is_a_refusal():
    class Hanging(Asked):
        def describe_training_job(self, TrainingJobName: str) -> dict:  # noqa: N803
            threading.Event().wait()
            raise AssertionError("never")

    class Refusing(Asked):
        def describe_training_job(self, TrainingJobName: str) -> dict:  # noqa: N803
            raise RuntimeError("denied")

    assert status_within(Hanging(), "ctl-0-g1", 0.05) is None
    assert status_within(Refusing(), "ctl-0-g1", 5) is None
    assert status_within(Answering(description(TrainingJobStatus="Stopping")), "ctl-0-g1", 5) == "Stopping"
