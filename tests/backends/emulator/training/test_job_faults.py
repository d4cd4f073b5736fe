from __future__ import annotations

import pytest

from backends.emulator.core import lifecycle
from backends.emulator.core.job import Job
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.faults.rules import parse_faults
from backends.emulator.training.job_faults import NO_CAPACITY, JobFaults, strikes


def job_with(*rules, spot=True):
    job = Job("j-1", 1, {"EnableManagedSpotTraining": spot}, {}, lifecycle.created(0.0), "ml.m5.large")
    return job, JobFaults(job, FaultInjector(parse_faults(list(rules)), 0, lambda: 0.0))


def test_capacity_lacks_at_creation_or_at_the_start_of_each_life_as_often_as_asked():
    job, faults = job_with({"kind": "capacity", "on": "create", "message": "none left"}, {"kind": "capacity", "times": 1, "after": 1})
    assert faults.no_capacity("create", "ml.m5.large") == "none left"
    assert faults.no_capacity("start", "ml.m5.large") is None
    job.incarnation = 1
    assert faults.no_capacity("start", "ml.m5.large") == NO_CAPACITY
    assert faults.no_capacity("start", "ml.m5.large") is None


def test_capacity_may_lack_for_one_instance_type():
    _, faults = job_with({"kind": "capacity", "instance_type": "ml.p*"})
    assert [faults.no_capacity("start", kind) for kind in ("ml.m5.large", "ml.p4d.24xlarge")] == [None, NO_CAPACITY]


def test_an_internal_error_without_a_time_strikes_before_there_are_instances_and_counts_for_its_own_rule():
    _, faults = job_with({"kind": "internal_error", "at_s": 3, "times": 1}, {"kind": "internal_error", "times": 1})
    assert (faults.breaks_at_start(), faults.breaks_at_start()) == (True, False)
    assert [(fault.after_s, fault.kind) for fault in faults.while_training()] == [(3.0, "internal_error")]


@pytest.mark.parametrize("spot", [True, False])
def test_only_spot_instances_are_taken_away(spot):
    _, faults = job_with({"kind": "spot_interruption", "notice_s": 7}, {"kind": "internal_error", "at_step": 4}, spot=spot)
    found = [(fault.kind, fault.after_s, fault.step, fault.notice_s) for fault in faults.while_training()]
    assert found == [("spot_interruption", 0.0, 0, 7)] * spot + [("internal_error", None, 4, 120.0)]


@pytest.mark.parametrize(
    ("line", "expected"), [("epoch=3 loss=1", False), ("epoch=4 loss=1", True), ("step: 12", True), ("steps=9", False), ("loss=4", False)]
)
def test_a_line_says_that_the_step_has_come(line, expected):
    _, faults = job_with({"kind": "internal_error", "at_step": 4})
    (fault,) = faults.while_training()
    assert strikes(fault, line) is expected


@pytest.mark.parametrize(("line", "expected"), [("checkpoint 3 written", True), ("checkpoint written", False), ("epoch=7", False)])
def test_any_line_may_be_the_moment(line, expected):
    _, faults = job_with({"kind": "host_lost", "at_line": r"checkpoint \d+ written"})
    (fault,) = faults.while_training()
    assert (fault.kind, fault.after_s, strikes(fault, line)) == ("host_lost", None, expected)


def test_a_lost_host_and_a_kill_for_which_no_moment_is_given_strike_as_the_script_starts():
    _, faults = job_with({"kind": "host_lost"}, {"kind": "killed"})
    assert [(fault.kind, fault.after_s) for fault in faults.while_training()] == [("host_lost", 0.0), ("killed", 0.0)]
    assert not faults.breaks_at_start()


def test_waiting_and_slow_ends():
    _, faults = job_with({"kind": "pending", "seconds": 9, "times": 1}, {"kind": "slow_stop", "seconds": 4})
    assert (faults.pending_s(), faults.pending_s(), faults.slow_stop_s()) == (9.0, None, 4.0)
    assert job_with()[1].slow_stop_s() == 0.0
