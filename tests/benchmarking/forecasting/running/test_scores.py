"""What forecasts of running jobs were worth."""

import math

import pytest

from backends.events import Closed, Progressed
from backends.failures import Outcome
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.journal import Record
from benchmarking.forecasting.running.scores import score_rows, scored


def records(job, step_s, steps, *, tail_s=0.0, outcome=Outcome.COMPLETED):
    found = [Progressed(job, 10.0 + number * step_s, float(number), float(steps), 1.0 + number * step_s, 0.0, {}, 0, number)
             for number in range(steps + 1)]  # fmt: skip
    ended_at = 10.0 + steps * step_s + tail_s
    events = [*found, Closed(job, ended_at, outcome, started_at=9.0, ended_at=ended_at)]
    return [Record(0, event.at, *event_record(event)) for event in events]


def test_steady_jobs_are_forecast_right_and_what_comes_after_the_loop_is_an_error():
    found = scored([*records("a", 0.1, 500), *records("b", 0.1, 500, tail_s=51.0)], shares=(0.2, 0.5))
    assert [(one.job, one.share) for one in found] == [("a", 0.2), ("a", 0.5), ("b", 0.2), ("b", 0.5)]
    rows = score_rows(found)
    assert [(row.share, row.jobs, row.decided) for row in rows] == [(0.2, 2, 2), (0.5, 2, 2)]
    # 51 s took 102: half of it is off.
    assert rows[1].median == pytest.approx((0.0 + 0.5) / 2, abs=1e-6)
    assert rows[1].p90 == pytest.approx(0.5, abs=1e-6)
    assert (rows[1].held80, rows[1].held90) == (0.5, 0.5)


def test_jobs_that_did_not_complete_score_nothing():
    assert scored(records("a", 0.1, 100, outcome=Outcome.STOPPED)) == []


def test_a_job_whose_end_was_open_counts_as_not_decided():
    (row,) = score_rows(scored(records("a", 0.01, 20), shares=(0.5,)))
    assert (row.jobs, row.decided, row.median, row.held80) == (1, 0, None, None)
    assert math.isclose(row.share, 0.5)
