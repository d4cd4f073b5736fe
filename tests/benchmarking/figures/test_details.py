"""What figures need of a journal, record by record."""

from __future__ import annotations

import pytest

from benchmarking.controller.journal import Record
from benchmarking.figures.details import DetailFold, KeptDetail, LevelReport, finite
from tests.benchmarking.figures.made_details import definition, experiment, trial


def folded(*records, level_name=None, configuration=None):
    state = experiment([trial(0, configuration or {"x": 0.5, "instance_type": "small"}, {})]).state
    fold = DetailFold(definition(), level_name)
    for number, (at, kind, body) in enumerate(records, start=1):
        fold.observe(Record(number, at, kind, body), state)
    return fold


START = (100.0, "start", {"job": "j", "trial": 0, "attempt": 1})


def closed(at=120.0, **body):
    return (at, "closed", {"job": "j", **body})


def test_times_are_since_the_first_record_and_what_the_service_says_of_an_end_is_exact():
    usage = {"stages_s": {"Training": 8.0, "Starting": 2.0, "odd": -1.0}, "phases_s": {"train": 6.0, "none": None}, "warm": True}
    fold = folded(
        START,
        (104.0, "started", {"job": "j"}),
        (105.0, "started", {"job": "j"}),
        closed(started_at=103.0, ended_at=115.0, usage=usage, instance_type="large"),
        (121.0, "settle", {"job": "j", "status": "completed", "cause": None, "message": "", "cost_usd": 0.5}),
    )
    job = fold.jobs["j"]
    assert (job.submitted_s, job.started_s, job.ended_s, job.is_warm, job.instance_type) == (0.0, 4.0, 15.0, True, "large")
    assert (job.stages_s, job.phases_s) == ({"Training": 8.0, "Starting": 2.0}, {"train": 6.0})
    assert (job.status, job.cause, job.cost_usd, fold.duration_s) == ("completed", None, 0.5, 21.0)


def test_an_end_that_was_seen_earlier_than_the_service_says_stays_and_none_is_before_the_start():
    seen = [START, (110.0, "started", {"job": "j"}), (112.0, "ended", {"job": "j"})]
    assert folded(*seen, closed(ended_at=118.0)).jobs["j"].ended_s == 12.0
    assert folded(*seen, closed(ended_at=111.0)).jobs["j"].ended_s == 11.0
    assert folded(*seen, closed(ended_at=104.0)).jobs["j"].ended_s == 10.0
    assert folded(START, closed()).jobs["j"].ended_s == 20.0


def test_a_job_that_was_refused_ended_without_a_start():
    fold = folded(START, (101.0, "rejected", {"job": "j"}))
    assert (fold.jobs["j"].started_s, fold.jobs["j"].ended_s, fold.jobs["j"].instance_type) == (None, 1.0, "small")


def test_reports_have_the_objectives_that_are_numbers_and_their_level():
    fold = folded(
        START,
        (101.0, "reported", {"job": "j", "metrics": {"loss": 0.5, "acc": float("nan"), "epoch": 1, "other": 3.0}}),
        (102.0, "reported", {"job": "j", "metrics": {"loss": "text", "acc": 1, "epoch": 2}}),
        (102.0, "reported", {"job": "unknown", "metrics": {"loss": 1.0}}),
        level_name="epoch",
    )
    assert fold.reports == {0: [LevelReport(1, 1.0, {"loss": 0.5}), LevelReport(2, 2.0, {"acc": 1.0})]}


@pytest.mark.parametrize(("decision", "rungs"), [("STOP", {3.0}), ("PAUSE", {3.0}), ("CONTINUE", set())])
def test_rungs_are_levels_at_which_something_was_stopped_or_paused(decision, rungs):
    assert folded(START, (101.0, "tell", {"level": 3, "decision": decision}), (102.0, "tell", {"decision": "STOP"})).decided_at == rungs


def test_kept_instances_are_open_until_their_bill_and_one_notice_too_many_is_none():
    kept = {"job": "j", "instance_type": "small", "billable_s": None}
    fold = folded(START, (110.0, "retained", kept), (111.0, "retained", kept))
    assert fold.kept == [KeptDetail("j", "small", 10.0)]
    billed = {"job": "j", "instance_type": "small", "billable_s": 5.0, "cost_usd": 0.25, "reused_by": "k"}
    fold = folded(START, (110.0, "retained", kept), (115.0, "retained", billed), (116.0, "retained", billed))
    assert fold.kept == [KeptDetail("j", "small", 10.0, 15.0, 0.25, "k")]


def test_only_finite_numbers_can_be_drawn():
    assert [finite(value) for value in (1, "0.5", float("inf"), float("nan"), "a", None)] == [1.0, 0.5, None, None, None, None]
