"""What forecasts of running jobs were worth."""

import math

import pytest

from backends.events import Closed, Ended, Progressed, Reported
from backends.failures import Outcome
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.journal import Record
from benchmarking.controller.rows import StateSetup
from benchmarking.forecasting.running.scores import score_rows, scored

SETUP = StateSetup({"loss": "min"})


def records(number, step_s, steps, *, tail_s=0.0, outcome=Outcome.COMPLETED, level=None):
    job = f"j{number}"
    suggested = {"evaluation": number, "configuration": {"x": 0}, "level": level, "repeat": 0, "block_of": 1}
    started = {"trial": number, "attempt": 1, "job": job, "restore_from": None, "worst_usd": None}
    told = [
        Progressed(job, 10.0 + step * step_s, float(step), float(steps), 1.0 + step * step_s, 0.0, {}, 0, step) for step in range(steps + 1)
    ]
    return [
        ("suggest", suggested),
        ("start", started),
        *map(event_record, [*told, *ended(job, 10.0 + steps * step_s + tail_s, outcome)]),
        settled(job),
    ]


def ended(job, at, outcome=Outcome.COMPLETED):
    return [Ended(job, at), Closed(job, at, outcome, started_at=9.0, ended_at=at)]


def settled(job):
    return "settle", {"job": job, "status": "completed", "cause": None, "message": "", "counts": False, "retry_at": None, "cost_usd": None}


def numbered(*parts):
    return [Record(number, 0.0, *one) for number, one in enumerate([one for part in parts for one in part], 1)]


def test_steady_jobs_are_forecast_right_and_what_comes_after_the_loop_is_an_error():
    found = scored(numbered(records(0, 0.1, 500), records(1, 0.1, 500, tail_s=51.0, level=0.5)), SETUP, shares=(0.2, 0.5))
    assert [(one.job, one.share) for one in found] == [("j0", 0.2), ("j0", 0.5), ("j1", 0.2), ("j1", 0.5)]
    rows = score_rows(found)
    assert [(row.share, row.jobs, row.decided) for row in rows] == [(0.2, 2, 2), (0.5, 2, 2)]
    # 51 s took 102: half of it is off.
    assert rows[1].median == pytest.approx((0.0 + 0.5) / 2, abs=1e-6)
    assert rows[1].p90 == pytest.approx(0.5, abs=1e-6)
    assert (rows[1].held80, rows[1].held90) == (0.5, 0.5)


def test_what_comes_after_the_loop_is_known_from_the_job_before():
    first, second = (one for one in scored(numbered(*(records(k, 0.1, 500, tail_s=51.0) for k in (0, 1))), SETUP, shares=(0.5,)))
    assert first.forecast.median_s == pytest.approx(51.0, abs=0.01)
    assert second.forecast.median_s == pytest.approx(102.0, abs=0.01)


def test_epochs_alone_are_scored_too():
    told = [
        event_record(Reported("j0", 10.0 + 3 * epoch, epoch, {"epoch": epoch, "loss": 1.0}, 1.0 + 3.0 * epoch)) for epoch in range(1, 21)
    ]
    begun = records(0, 1.0, 1)[:2]
    found = scored(numbered(begun, told, map(event_record, ended("j0", 70.0)), [settled("j0")]),
                   StateSetup({"loss": "min"}, full_level=20.0, reported_level="epoch"), shares=(0.5,))  # fmt: skip
    assert [one.share for one in found] == [0.5]
    assert found[0].forecast.median_s == pytest.approx(61.0, abs=0.01)


def test_jobs_that_did_not_complete_score_nothing():
    assert scored(numbered(records(0, 0.1, 100, outcome=Outcome.STOPPED)), SETUP) == []


def test_a_job_whose_end_was_open_counts_as_not_decided():
    (row,) = score_rows(scored(numbered(records(0, 0.01, 20)), SETUP, shares=(0.5,)))
    assert (row.jobs, row.decided, row.median, row.held80) == (1, 0, None, None)
    assert math.isclose(row.share, 0.5)
