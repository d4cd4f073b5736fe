"""Which calls read logs, and what is made of their answers; answered by hand."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from backends.sagemaker.aws.errors import CloudError, failure_of
from backends.sagemaker.logs.poller import SWEEP, LogPoller


class Desk:
    """Takes calls in place of `CallQueue`, and requests in place of boto3."""

    def __init__(self):
        self.waiting, self.requests, self.taken = [], [], []

    def put(self, call):
        self.waiting.append(call)

    def get(self, service, attempts=None):
        assert service == "logs"
        return self

    def __getattr__(self, name):
        return lambda **request: self.requests.append((name, request))

    def answer(self, **page):
        call = self.waiting.pop(0)
        call.make()
        call.done(page)

    def refuse(self, code, message=""):
        call = self.waiting.pop(0)
        call.make()
        call.failed(failure_of(ClientError({"Error": {"Code": code, "Message": message}}, call.operation)))


@pytest.fixture
def desk():
    return Desk()


def log_poller(desk):
    return LogPoller("x-", desk, desk, lambda job, event: desk.taken.append((job, event["message"])))


def event(message, stream, at_ms=1000, late_ms=0):
    return {
        "eventId": f"{stream}{at_ms}{message}",
        "logStreamName": stream,
        "timestamp": at_ms,
        "ingestionTime": at_ms + late_ms,
        "message": message,
    }


def test_one_call_reads_all_jobs_and_its_lines_go_to_whose_they_are(desk):
    found = log_poller(desk)
    found.plan(100.0, 3.0)
    found.plan(200.0, 3.0)
    desk.answer(events=[event("b", "x-11/algo-1-5", 2000), event("a", "x-1/algo-1-5", 1000)], nextToken="t")
    desk.answer(events=[event("c", "x-1/algo-1-5", 3000, late_ms=4000)])
    assert desk.taken == [("x-1", "a"), ("x-11", "b"), ("x-1", "c")]
    assert [request.get("nextToken") for _, request in desk.requests] == [None, "t"]
    assert found.lag_s == 4.0
    found.plan(102.9, 3.0)
    assert (found.next_at, desk.waiting) == (103.0, [])


def test_looks_for_new_lines_are_paced_apart_from_their_further_pages_and_from_last_looks(desk):
    found = log_poller(desk)
    found.plan(100.0, 3.0)
    assert [call.operation for call in desk.waiting] == [SWEEP]
    desk.answer(events=[], nextToken="t")
    found.read_all("x-1", lambda lines: None)
    assert [call.operation for call in desk.waiting] == ["FilterLogEvents", "FilterLogEvents"]


def test_before_the_first_job_there_is_no_log_group(desk):
    found = log_poller(desk)
    found.plan(0.0, 3.0)
    desk.refuse("ResourceNotFoundException", "The specified log group does not exist.")
    found.plan(3.0, 3.0)
    assert len(desk.waiting) == 1


def test_a_token_too_old_ends_the_reading_and_the_next_begins_anew(desk):
    found = log_poller(desk)
    found.plan(0.0, 3.0)
    desk.answer(events=[], nextToken="t")
    desk.refuse("InvalidParameterException", "The specified nextToken is invalid.")
    found.plan(3.0, 3.0)
    assert "nextToken" not in desk.requests[0][1]
    assert len(desk.waiting) == 1


@pytest.mark.parametrize("later", [False, True])
def test_logs_that_must_not_be_read_end_the_experiment(desk, later):
    found = log_poller(desk)
    found.plan(0.0, 3.0)
    if later:
        desk.answer(events=[], nextToken="t")
    with pytest.raises(CloudError, match="cannot be read"):
        desk.refuse("AccessDeniedException", "no")


def test_a_drain_reads_one_job_from_its_beginning_to_the_last_page(desk):
    done = []
    log_poller(desk).read_all("x-1", done.append)
    desk.answer(events=[event("b", "x-1/algo-1-5", 2000), event("a", "x-1/algo-1-5", 1000)], nextToken="t")
    assert done == []
    desk.answer(events=[event("c", "x-1/algo-1-9", 1500)])
    assert done == [[]]
    assert desk.taken == [("x-1", "a"), ("x-1", "b"), ("x-1", "c")]
    assert all(request["logStreamNamePrefix"] == "x-1/algo-1" and "startTime" not in request for _, request in desk.requests)


def test_a_drain_of_the_whole_log_gives_the_lines_for_people_too_in_the_same_calls(desk):
    done = []
    log_poller(desk).read_all("x-1", done.append, all_hosts=True, whole=True)
    said = {**event("b", "x-1/algo-1-5", 2000), "message": "epoch#011one\n"}
    other = {**event("d", "x-1/algo-2-5", 500), "message": "of the other host"}
    desk.answer(events=[said, event("[tune-metric]: a", "x-1/algo-1-5", 1000), other], nextToken="t")
    desk.answer(events=[event("[tune-metric]: c", "x-1/algo-2-5", 1500)])
    assert done == [["[tune-metric]: a", "epoch\tone"]]
    assert desk.taken == [("x-1", "[tune-metric]: a"), ("x-1", "[tune-metric]: c")]
    assert [("filterPattern" in request, request.get("nextToken")) for _, request in desk.requests] == [(False, None), (False, "t")]


def test_the_tail_is_the_first_host_s_last_life_without_our_lines(desk):
    got = []
    log_poller(desk).tail("x-1", ["x-1/algo-2-9", "x-1/algo-1-5", "x-1/algo-1-7"], got.append)
    desk.answer(
        events=[{"message": "one\n"}, {"message": "[outrider-end]: {}"}, {"message": '[tune-metric]: {"a": 1}'}, {"message": "two"}]
    )
    assert got == [["one", "two"]]
    assert desk.requests == [
        (
            "get_log_events",
            {"logGroupName": "/aws/sagemaker/TrainingJobs", "logStreamName": "x-1/algo-1-7", "limit": 1000, "startFromHead": False},
        )
    ]


def test_a_stream_that_is_not_known_is_looked_for_and_another_job_s_never_taken(desk):
    got = []
    log_poller(desk).tail("x-1", [], got.append)
    desk.answer(logStreams=[{"logStreamName": "x-1/algo-1-5"}, {"logStreamName": "x-11/algo-1-9"}])
    desk.answer(events=[{"message": "last"}])
    assert got == [["last"]]
    assert desk.requests[1][1]["logStreamName"] == "x-1/algo-1-5"


def test_without_a_stream_there_is_no_tail(desk):
    got = []
    log_poller(desk).tail("x-1", [], got.append)
    desk.answer(logStreams=[])
    log_poller(desk).tail("x-1", [], got.append)
    desk.refuse("ResourceNotFoundException", "no group")
    assert [list(lines) for lines in got] == [[], []]


def test_lines_that_polls_have_seen_are_kept_by_their_times_and_need_no_second_reading(desk):
    found = LogPoller("x-", desk, desk, lambda job, event: desk.taken.append((job, event["message"])), keeps=True)
    found.plan(100.0, 3.0)
    report = '[tune-metric]: {"loss": 1}'
    events = [
        event("second#011x", "x-1/algo-1-9", 2000),
        event(report, "x-1/algo-1-9", 1000),
        event("of another host", "x-1/algo-2-9", 1000),
        event("of another job", "x-2/algo-1-9", 1000),
    ]
    desk.answer(events=events)
    assert "filterPattern" not in desk.requests[0][1]
    assert desk.taken == [("x-1", report)]
    assert found.kept("x-1") == [report, "second\tx"]
    assert found.kept("x-1") is None  # forgotten by now
    assert found.kept("x-2") == ["of another job"]


def test_of_a_log_that_is_too_long_nothing_is_kept(desk):
    found = LogPoller("x-", desk, desk, lambda job, event: None, keeps=True)
    found.plan(100.0, 3.0)
    desk.answer(events=[event("y" * 250_000, "x-1/algo-1-9", at_ms) for at_ms in range(1000, 1009)])
    assert found.kept("x-1") is None
