"""One job's log as it grows: each line once, in the order of its coming."""

from backends.sagemaker.logs.tail import JobLogTail


class Logs:
    """Answers FilterLogEvents with pages of events, each a time in milliseconds, a name and a line."""

    def __init__(self, *looks):
        self.looks, self.requests = list(looks), []

    def get(self, service):
        return self

    def filter_log_events(self, **request):
        self.requests.append(request)
        pages = self.looks[0]
        events = [{"timestamp": at, "eventId": name, "message": line} for at, name, line in pages.pop(0)]
        more = bool(pages)
        if not more:
            self.looks.pop(0)
        return {"events": events, **({"nextToken": "n"} if more else {})}


def test_each_line_comes_once_page_by_page_and_late_ones_are_looked_for():
    logs = Logs(
        [[(100_000, "a", "one")], [(130_000, "b", "two")]], [[(130_000, "b", "two"), (101_000, "c", "late"), (131_000, "d", "three")]]
    )
    tail = JobLogTail(logs, "ctl-1")
    assert [*tail.new_lines()] == ["one", "two"]
    assert [*tail.new_lines()] == ["late", "three"]
    assert [request["startTime"] for request in logs.requests] == [0, 0, 70_000]
    assert {request["logStreamNamePrefix"] for request in logs.requests} == {"ctl-1/"}
