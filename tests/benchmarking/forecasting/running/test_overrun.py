"""Jobs that cannot keep to their limits."""

import math

import numpy as np
import pytest

from backends.events import Progressed, Started
from backends.failures import Cause
from benchmarking.controller.event_codec import event_record
from benchmarking.controller.journal import Record
from benchmarking.controller.rows import StateSetup
from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.running.outlook import outlook_of
from benchmarking.forecasting.running.overrun import OverrunWatch, RunningCost, bound_usd, over_money, over_time
from benchmarking.forecasting.running.tail import Tail
from tests.benchmarking.forecasting.running.test_projection import curve


def seen(steps, total=1000.0, step_s=0.1, tail=None):
    return outlook_of(curve([step_s] * steps, total), tail)


def test_what_is_certain_to_run_too_long_says_how_long():
    assert over_time(seen(300), 90.0) == (
        "would run longer than max_run = 90 s: 30% done after 32 s, so it would take 102 s (95 %: more than 96 s)"
    )


@pytest.mark.parametrize(
    ("found", "limit_s"), [(seen(300), 97.0), (seen(40), 10.0), (seen(3), 10.0), (seen(1000), 50.0), (seen(300, None), 1.0)]
)
def test_what_may_keep_to_it_is_early_or_is_through_is_left(found, limit_s):
    assert over_time(found, limit_s) == ""


def test_of_noisy_jobs_that_would_keep_to_their_limit_few_are_ended():
    rng = np.random.default_rng(5)
    wrong = right = 0
    for _ in range(200):
        change = rng.normal(0, 0.15)
        steps = [0.1 * math.exp(change * number / 400) * rng.lognormal(0, 0.3) for number in range(400)]
        took_s = 2.0 + math.fsum(steps)
        ended = {False: False, True: False}
        for done in (20, 30, 45, 70, 100, 150, 220, 330):
            found = outlook_of(curve(steps[:done], 400.0, every=2), None)
            ended = {late: ended[late] or bool(over_time(found, took_s * (0.7 if late else 1.02))) for late in ended}
        wrong, right = wrong + ended[False], right + ended[True]
    assert wrong <= 20
    assert right >= 150


def test_what_a_job_costs_at_most_follows_its_forecast():
    found = seen(500, tail=Tail(10.0, 1.0, 3))
    assert bound_usd(found, 30.0, (36.0, 2)) == pytest.approx((found.end.hi90_s + 30.0) * 0.02)
    assert bound_usd(seen(500), 30.0, (36.0, 2)) is None
    assert bound_usd(found, 30.0, (None, 2)) is None
    assert bound_usd(seen(40, tail=Tail(10.0, 1.0, 3)), 30.0, (36.0, 2)) is None


def test_the_job_with_most_to_pay_is_ended_where_money_cannot_do():
    jobs = [RunningCost(0, 3.0, 2.9, "97% done"), RunningCost(1, 4.0, 0.5, "12% done, would take 8 min"), RunningCost(2, 1.0, 1.0, "open")]
    assert over_money(2.0, jobs, 10.0) is None
    trial, why = over_money(2.1, jobs, 10.0)
    assert trial == 1
    assert why == (
        "max_cost = 10 would be passed: $2.10 are spent, and what runs will cost $8.00 or more (95 %), of it this one $4.00: "
        "12% done, would take 8 min"
    )
    assert over_money(9.5, [jobs[2]], 10.0) is None
    assert over_money(11.0, [], 10.0) is None


class _Loop:
    def __init__(self, state):
        self.state, self.spent_usd, self.stopped, self.number, self.watch = state, 0.0, [], 0, None

    def now(self):
        return self.state.last_at

    def price(self, configuration):
        return 3600.0, 1

    def record(self, kind, body, at):
        self.number += 1
        record = Record(self.number, at, kind, body)
        self.state.apply(record)
        self.watch.observe(record, self.state)

    def book(self, job, worst_usd):
        self.record("bound", {"job": job, "worst_usd": worst_usd}, self.now())

    def request_stop(self, trial, cause, message):
        self.stopped.append((trial, cause, message))


def led(*, max_cost=None, limit_s=None, tails=(), steps=600, step_s=0.1, **setup):
    """Return the loop of one job of 1000 steps that has a limit, after so many of them."""
    state = ExperimentState(StateSetup({"loss": "min"}, **setup))
    state.loops.extend(tails)
    loop = _Loop(state)
    loop.watch = OverrunWatch(
        max_cost=max_cost, may_run_s=lambda spec: limit_s, worst_usd=lambda spec: 500.0, beside_s=0.0, loop=lambda: loop
    )
    loop.record("suggest", {"evaluation": 0, "configuration": {"x": 0}, "level": None, "repeat": 0, "block_of": 1}, 0.0)
    loop.record("start", {"trial": 0, "attempt": 1, "job": "j", "restore_from": None, "worst_usd": 500.0}, 0.0)
    loop.record(*event_record(Started("j", 0.0)), 0.0)
    for done in range(steps):
        elapsed_s = 1.0 + step_s * done
        loop.record(*event_record(Progressed("j", elapsed_s, float(done), 1000.0, elapsed_s, number=done)), elapsed_s)
    return loop


def test_a_job_that_cannot_end_in_time_is_ended_long_before():
    loop = led(limit_s=50.0)
    trial, cause, why = loop.stopped[0]
    assert (trial, cause) == (0, Cause.TIME_OUT)
    assert why.startswith("would run longer than max_run = 50 s: ")
    assert float(why.split("% done")[0].split(": ")[1]) <= 10


def test_a_job_that_a_method_may_stop_earlier_is_left():
    assert led(limit_s=50.0, level_name="epoch").stopped == []


def test_money_that_a_running_job_will_not_need_is_free_for_others():
    from benchmarking.controller.finished_loops import FinishedLoop

    loop = led(max_cost=600.0, tails=[FinishedLoop(None, 100.0, 2.0)] * 5)
    assert 103.0 < loop.state.money.reserved_usd < 120.0
    assert loop.state.jobs["j"].worst_usd == pytest.approx(loop.state.money.reserved_usd)
    assert led(max_cost=600.0).state.money.reserved_usd == 500.0


def test_a_job_that_money_cannot_do_for_is_ended_with_the_figures():
    loop = led(max_cost=60.0)
    assert loop.stopped[0][1] is Cause.BUDGET
    assert loop.stopped[0][2].startswith("max_cost = 60 would be passed: $0.00 are spent, and what runs will cost $")
