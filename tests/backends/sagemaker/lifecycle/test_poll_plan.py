"""What the service is asked in turn, by numbers: no process, no call."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from backends.sagemaker.lifecycle.poll_intervals import PollIntervals
from backends.sagemaker.lifecycle.poll_plan import PollPlan


class Asker:
    """Notes when it was asked to plan, and says when it is due next."""

    def __init__(self, next_at=math.inf):
        self.planned, self._next_at = [], next_at
        self.begun_at = 0.0
        self.awaits_sweep = False

    def plan(self, *given):
        self.planned.append(given)

    @property
    def next_at(self):
        return self._next_at


class Ender(Asker):
    def next_at(self):
        return self._next_at


def job(stage="Training", *, runs_script=True, submitted_at=0.0):
    return SimpleNamespace(
        stage=stage, runs_script=runs_script, submitted_at=submitted_at, stop_reason=None, outlives_script=False, exists_since=submitted_at
    )


def plan_of(*live, sharers=1, awaits_sweep=False):
    table = SimpleNamespace(live=lambda: live, shortest_start_s=0.0)
    terminator = Ender(90.0)
    terminator.awaits_sweep = awaits_sweep
    return PollPlan(table, Asker(50.0), Asker(20.0), Asker(30.0), terminator, Ender(80.0), PollIntervals(), lambda: sharers)


def test_while_scripts_run_all_are_looked_at_and_logs_as_often_as_the_youngest_job_is_young():
    plan = plan_of(job(submitted_at=0.0), job(submitted_at=100.0), sharers=2)
    plan.begin_due(200.0)
    # A twentieth of 100 s; listings four times as rarely, and twice that where two make them in turns.
    assert (plan.logs.planned, plan.statuses.planned) == ([(200.0, 5.0)], [(200.0, 40.0)])
    assert (plan.marked.planned, plan.terminator.planned, plan.keeper.planned) == ([(200.0,)], [(200.0,)], [()])
    assert plan.next_at() == 20.0


def test_where_no_script_runs_yet_logs_are_left_alone():
    plan = plan_of(job("Starting", runs_script=False))
    plan.begin_due(10.0)
    assert (plan.logs.planned, len(plan.statuses.planned)) == ([], 1)
    assert plan.next_at() == 30.0


def test_a_job_that_stops_may_still_print():
    plan = plan_of(job("Stopping", runs_script=False))
    plan.begin_due(10.0)
    assert plan.logs.planned == [(10.0, 3.0)]


@pytest.mark.parametrize(("awaits", "logs", "next_at"), [(True, [(10.0, 3.0)], 20.0), (False, [], 80.0)])
def test_without_jobs_only_their_ends_and_pools_are_due(awaits, logs, next_at):
    plan = plan_of(awaits_sweep=awaits)
    plan.begin_due(10.0)
    assert (plan.statuses.planned, plan.marked.planned, plan.logs.planned) == ([], [], logs)
    assert (plan.terminator.planned, plan.keeper.planned) == ([(10.0,)], [()])
    assert plan.next_at() == next_at
