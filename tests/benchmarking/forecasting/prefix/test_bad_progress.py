"""What scripts say of their progress that is not so, from their words to the forecast of the full job."""

import math
from dataclasses import replace

import pytest

from backends.events import Progressed
from backends.progress import ProgressLine, read_progress
from benchmarking.controller.progress_curve import ProgressCurve, with_progress
from benchmarking.forecasting.data.canary import COMPLETED, PREFIX, Canary, CanaryTable
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.result import Status
from benchmarking.forecasting.prefix.measured import measured
from benchmarking.forecasting.prefix.stopping import PrefixRule, is_enough
from tests.benchmarking.forecasting.prefix_runs import prefix, small

STEPS = [0.1] * 80


def told(lines):
    """Return the canary of a prefix that said (seconds, done, total) in this order."""
    curve = None
    for number, (seconds, done, total, *life) in enumerate(lines):
        event = Progressed("j", 1000.0 + number, done, total, seconds, seconds, {}, *(life or [0]), number)
        curve = with_progress(curve, event)
    assert curve is not None
    said = measured(curve)
    return Canary("c", 1.0, total_s=said.end_s, cpu_s=said.end_cpu_s, status=PREFIX, instance_type="local.1cpu", progress=said)


def said(*runs, metric="total_s"):
    found = forecast(CanaryTable(runs), Question(Billing("us-east-1")))
    return next(one for one in found if one.metric == metric)


def line(k, total=1000.0, done=None, at=None):
    return (2.0 + 0.1 * k if at is None else at, float(k) if done is None else float(done), total)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([line(k, done=k if k < 60 else k - 30) for k in range(80)], "went back"),
        ([line(k, total=50.0) for k in range(80)], "past what it said"),
        ([line(k, total=1000.0 + k) for k in range(80)], "changes while it runs"),
        ([line(k, total=None) for k in range(80)], "does not say how much"),
        ([line(k, done=1) for k in range(80)], "too early"),
    ],
    ids=["goes back", "passes its total", "changes its total", "has no total", "stands still"],
)
def test_progress_that_tells_nothing_decides_nothing_and_says_why(lines, why):
    found = said(told(lines))
    assert found.status is Status.NOT_DECIDED
    assert found.median is None
    assert why in found.why


def test_such_a_prefix_leaves_the_ladder_its_word():
    climbed = [Canary("c", fraction, k, total_s=10 + 1000 * fraction, startup_s=10.0, train_s=1000 * fraction)
               for fraction, k in ((0.01, 0), (0.01, 1), (0.03, 0), (0.1, 0))]  # fmt: skip
    found = said(told([line(k, total=None) for k in range(80)]), *climbed)
    assert found.median == pytest.approx(1010, rel=0.1)
    assert "its beginning told nothing: the script does not say how much" in found.why


def test_a_jump_widens_the_interval_or_leaves_it_open():
    steady, jumps = said(told([line(k) for k in range(80)])), said(told([line(k, done=k if k < 60 else k + 300) for k in range(80)]))
    assert jumps.status is not Status.OK or jumps.hi90 / jumps.lo90 > 1.5 * steady.hi90 / steady.lo90


@pytest.mark.parametrize("wrong", [-2, 2])
def test_a_total_that_is_wrong_by_two_moves_the_forecast_by_no_more(wrong):
    after = [small(f, [0.1] * n, after_s=0.0) for f, n in ((0.01, 10), (0.03, 30))]
    one = measured_small(10, 10 - wrong)
    found = said(prefix(STEPS, 1000.0 - wrong), one, *after)
    assert found.median == pytest.approx(102.0, rel=0.03)
    assert "was not seen" not in said(prefix(STEPS, 1000.0 - wrong), one).why


def measured_small(steps, total):
    """Return a small job that made so many steps and said that there would be another number of them."""
    curve = ProgressCurve.begun(Progressed("j", 0.0, 0.0, float(total), 2.0, 2.0))
    for k in range(1, steps + 1):
        curve.take(Progressed("j", 0.0, float(k), float(total), 2.0 + 0.1 * k, 2.0 + 0.1 * k))
    end_s = 2.0 + 0.1 * steps
    return Canary("c", 0.01, total_s=end_s, cpu_s=end_s, status=COMPLETED, instance_type="local.1cpu", progress=measured(curve))


def test_a_first_step_of_90_percent_of_the_time_is_paid_once():
    found = said(prefix([900.0, *STEPS], 1001.0))
    assert found.median == pytest.approx(2.0 + 900.0 + 100.0, rel=0.04)


def test_evaluation_at_the_end_alone_is_seen_by_small_jobs_alone():
    small_jobs = [small(f, [0.1] * n, after_s=50 * f, repeat=k) for f, n, k in ((0.01, 10, 0), (0.01, 10, 1), (0.03, 30, 0))]
    alone, with_them = said(prefix(STEPS, 1000.0)), said(prefix(STEPS, 1000.0), *small_jobs)
    assert "what comes after the loop was not seen" in alone.why
    assert with_them.median == pytest.approx(152.0, rel=0.06)
    assert with_them.lo90 <= 152.0 <= with_them.hi90


def test_where_the_beginning_and_small_jobs_exclude_each_other_nothing_is_decided():
    # Small jobs that grow with the data to 1000 s, and a beginning that says 102.
    climbed = [
        Canary("c", fraction, k, total_s=2.1 + 1000 * fraction, startup_s=2.0, train_s=1000 * fraction, cpu_s=2 + 1000 * fraction)
        for fraction, k in ((0.01, 0), (0.01, 1), (0.03, 0), (0.1, 0))
    ]
    found = said(prefix(STEPS, 1000.0), *climbed)
    assert found.status is Status.NOT_DECIDED
    assert "they disagree" in found.why


def test_memory_that_runs_out_after_the_loop_is_forecast_by_small_jobs():
    machine, gib = "ml.m5.large", 2.0**30  # 8 GiB
    begun = prefix(STEPS, 1000.0, rss_bytes=3 * gib, peaks=lambda done: 3 * gib, instance_type=machine)
    later = [
        small(f, [0.1] * 10, rss_bytes=0.3 * gib + 12 * gib * f, peaks=lambda done: 0.3 * gib, instance_type=machine) for f in (0.01, 0.03)
    ]
    assert said(begun, metric="rss_bytes").status is Status.OK
    assert said(begun, *later, metric="rss_bytes").status is Status.DOES_NOT_FIT


def test_two_ranks_that_count_are_one():
    said_by = [read_progress({"done": k, "total": 9, "elapsed_s": k, "outrider_rank": rank}, 0) for k in range(3) for rank in (0, 1)]
    assert said_by[1::2] == [None] * 3
    assert [one.done for one in said_by if one is not None] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("done", [math.nan, math.inf, -1, "3", True, None])
def test_what_is_no_number_is_no_progress(done):
    assert read_progress({"done": done, "total": 9, "elapsed_s": 1.0}, 0) is None
    assert read_progress({"done": 3, "total": math.nan, "elapsed_s": 1.0}, 0) == ProgressLine(3.0, None, 1.0)


def test_a_clock_that_steps_back_is_passed_over():
    # Five words whose clock says an hour less: the others are as if these had not been said.
    lines = [line(k, at=2.0 + 0.1 * k - (3600.0 if 30 <= k < 35 else 0.0)) for k in range(80)]
    found = said(told([(max(seconds, 0.0), done, total) for seconds, done, total in lines]))
    assert found.median == pytest.approx(102.0, rel=0.04)


@pytest.mark.parametrize("resumed_at", [0, 400])
def test_a_spot_restart_begins_the_measurement_anew_and_the_work_before_it_counts(resumed_at):
    first = [line(k) for k in range(40)]
    second = [(3.0 + 0.1 * k, float(k + resumed_at), 1000.0, 1) for k in range(80)]
    found = said(told([*first, *second]))
    assert found.median == pytest.approx(103.0, rel=0.04)


def test_utilisation_that_a_beginning_alone_measured_is_its_own():
    found = said(replace(prefix(STEPS, 1000.0), cpu_util=80.0), metric="cpu_util")
    assert found.median == pytest.approx(80.0, rel=0.1)


def test_a_stop_is_asked_for_once_it_is_enough_and_not_before():
    curve, asked = None, []
    for k in range(200):
        curve = with_progress(curve, Progressed("j", 1000.0 + k, float(k), 1000.0, 2.0 + 0.1 * k, 2.0 + 0.1 * k, {}, 0, k))
        asked.append(is_enough(curve, PrefixRule()))
    assert asked.index(True) >= 10
    assert all(asked[asked.index(True) :])
