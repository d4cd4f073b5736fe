"""A training job's log is read again from its beginning, page by page."""

from __future__ import annotations

import json

from backends.sagemaker.admin.late_logs import read_late_log
from definitions.metrics import NO_SOURCES


class Logs:
    """CloudWatch Logs that gives one event a page."""

    def __init__(self, messages):
        self.messages, self.asked = messages, []

    def filter_log_events(self, **request):
        self.asked.append(request)
        at = int(request.get("nextToken", 0))
        stream = "job-a/algo-1-1700000000"
        event = {
            "eventId": str(at),
            "logStreamName": stream,
            "timestamp": 1000 + at,
            "ingestionTime": 1000 + at,
            "message": self.messages[at],
        }
        return {"events": [event], **({"nextToken": str(at + 1)} if at + 1 < len(self.messages) else {})}


def report(number, loss):
    return "[tune-metric]: " + json.dumps({"loss": loss, "outrider_sequence": number, "outrider_incarnation": 0, "outrider_rank": 0})


def test_known_reports_are_left_out_and_the_end_is_seen():
    messages = [report(0, 3.0), report(1, 2.0), report(2, 1.0), '[outrider-end]: {"exit_code": 0}']
    known = {(0, 0): {"loss": 3.0}}
    logs = Logs(messages)
    found = read_late_log("job-a", "eu-west-1", known, NO_SOURCES, logs)
    assert ([one.metrics for one in found.reports], found.is_whole) == ([{"loss": 2.0}, {"loss": 1.0}], True)
    assert found.lines == messages
    assert {request["logStreamNamePrefix"] for request in logs.asked} == {"job-a/algo-1"}
    assert not read_late_log("job-a", "eu-west-1", known, NO_SOURCES, Logs(messages[:3])).is_whole
    # With the second report missing the end alone is not enough.
    assert not read_late_log("job-a", "eu-west-1", known, NO_SOURCES, Logs([messages[0], messages[2], messages[3]])).is_whole
