"""Which lines are asked for, and which of the answers are new."""

from __future__ import annotations

from backends.sagemaker.logs.window import LogWindow, job_request, poll_request


def line(message, number=0, at_ms=1000):
    stream = "x-1/algo-1-100"
    return {"eventId": f"{stream}:{number}", "logStreamName": stream, "timestamp": at_ms, "message": message}


def test_the_window_reaches_back_by_the_longest_lag_seen_lately():
    window = LogWindow()
    assert window.start_ms() == 0
    window.fresh([line("a", at_ms=1_000_000)])
    assert window.start_ms() == 1_000_000 - 30_000
    window.finish_poll([40.0])
    assert window.start_ms() == 1_000_000 - 85_000
    window.finish_poll([200.0])
    assert window.start_ms() == 1_000_000 - 120_000
    for _ in range(60):
        window.finish_poll([])
    assert 1_000_000 - 10_600 < window.start_ms() <= 1_000_000 - 10_000


def test_a_page_that_is_shown_twice_is_new_once():
    window = LogWindow()
    page = [line("b", 2, at_ms=2000), line("a", 1, at_ms=1000)]
    assert [event["message"] for event in window.fresh(page)] == ["a", "b"]
    assert window.fresh(page) == []
    window.finish_poll([])
    assert window.fresh(page) == []


def test_ids_out_of_the_window_are_forgotten():
    window = LogWindow()
    window.fresh([line("a", n, at_ms=1000 * n) for n in range(1000)])
    window.finish_poll([])
    assert [event["eventId"] for event in window.fresh([line("a", n, at_ms=1000 * n) for n in (1, 999)])] == ["x-1/algo-1-100:1"]


def test_requests_name_the_job_so_that_no_other_s_lines_come():
    assert job_request("x-1", "", "p") == {
        "logGroupName": "/aws/sagemaker/TrainingJobs",
        "logStreamNamePrefix": "x-1/algo-1",
        "filterPattern": "p",
    }
    assert poll_request("x-", 5, "t", None) == {
        "logGroupName": "/aws/sagemaker/TrainingJobs",
        "logStreamNamePrefix": "x-",
        "startTime": 5,
        "nextToken": "t",
    }
    assert "logStreamNamePrefix" not in poll_request("", 0, "", None)
