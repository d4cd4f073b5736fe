"""Faults: a file is read or refused with a reason, and what strikes depends on the seed alone."""

from __future__ import annotations

import pytest

from backends.emulator import ManualClock
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.faults.rules import parse_faults, read_faults
from backends.emulator.http.errors import ServiceError
from backends.emulator.logs.delivery import LineFaults, metric_finder
from definitions.errors import UserError


def injector(*faults, seed=0, clock=None):
    return FaultInjector(parse_faults(list(faults)), seed, (clock or ManualClock()).now)


def outcomes(found, operation, count, service="sagemaker"):
    results = []
    for _ in range(count):
        try:
            found.check_call(service, operation)
            results.append("")
        except ServiceError as error:
            results.append(error.code)
    return results


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("throttle", "a list of faults is expected"),
        ([{}], "fault 1: it has no kind"),
        ([{"kind": "trottle"}], "did you mean 'throttle'"),
        ([{"kind": "throttle", "rate": 2}], "no field 'rate'"),
        ([{"kind": "throttle", "rate_per_s": "fast"}], "a value of type float is expected"),
        ([{"kind": "throttle", "rate_per_s": 0}], "no call would ever pass"),
        ([{"kind": "quota", "limit": 3}], "quota is missing"),
        ([{"kind": "pending"}], "seconds is missing"),
        ([{"kind": "slow_stop", "seconds": -1}], "cannot be negative"),
        ([{"kind": "error", "probability": 1.5}], "between 0 and 1"),
        ([{"kind": "capacity", "on": "stop"}], "`create` or on `start`"),
        ([{"kind": "capacity"}, {"kind": "spot_interruption", "at_s": 1, "at_step": 2}], "fault 2"),
        ([{"kind": "host_lost", "at_line": "a", "at_step": 2}], "at_step and at_line are given"),
        ([{"kind": "killed", "at_line": "("}], "no regular expression"),
        ([{"kind": "internal_error", "at_step": 2, "step_regex": "step"}], "has no group"),
        ([{"kind": "internal_error", "at_step": 2, "step_regex": "("}], "no regular expression"),
        ([{"kind": "error", "times": True}], "a value of type int is expected"),
    ],
)
def test_a_wrong_fault_is_refused_with_its_place_and_reason(data, words):
    with pytest.raises(UserError) as caught:
        parse_faults(data)
    assert words in str(caught.value)


def test_a_file_is_read(tmp_path):
    path = tmp_path / "faults.yaml"
    path.write_text(
        "faults:\n  - {kind: throttle, operation: ListTrainingJobs, rate_per_s: 2, burst: 2}\n  - kind: capacity\n    job: x-*\n"
    )
    first, second = read_faults(path)
    assert (first.operation, first.get("rate_per_s", 0)) == ("ListTrainingJobs", 2.0)
    assert (second.kind, second.job) == ("capacity", "x-*")


@pytest.mark.parametrize(("text", "words"), [(None, "No such file"), ("a: [", "it is no YAML")])
def test_a_file_that_cannot_be_read_says_why(tmp_path, text, words):
    path = tmp_path / "faults.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_faults(path)
    assert words in str(caught.value)


def test_a_rate_lets_a_burst_through_and_then_its_rate():
    clock = ManualClock()
    found = injector({"kind": "throttle", "operation": "CreateTrainingJob", "rate_per_s": 2, "burst": 4}, clock=clock)
    assert outcomes(found, "CreateTrainingJob", 6) == [""] * 4 + ["ThrottlingException"] * 2
    assert outcomes(found, "StopTrainingJob", 1) == [""]
    clock.advance(1.0)
    assert outcomes(found, "CreateTrainingJob", 3) == ["", "", "ThrottlingException"]
    clock.advance(100.0)
    assert outcomes(found, "CreateTrainingJob", 5).count("") == 4


def test_calls_are_spared_and_struck_by_count():
    found = injector({"kind": "expired_token", "operation": "Describe*", "after": 4, "times": 2})
    assert outcomes(found, "DescribeTrainingJob", 8) == [""] * 4 + ["ExpiredTokenException"] * 2 + [""] * 2


def test_draws_depend_on_the_seed_and_the_count_alone():
    rule = {"kind": "error", "probability": 0.3, "code": "InternalFailure"}
    one, again, other = (outcomes(injector(rule, seed=seed), "X", 200) for seed in (1, 1, 2))
    assert one == again != other
    assert 35 <= one.count("InternalFailure") <= 85


def test_a_job_s_fault_depends_on_its_name_and_life_alone():
    rule = {"kind": "capacity", "probability": 0.5}
    names = [f"x-{number}" for number in range(100)]
    struck = {name for name in names if injector(rule, seed=3).for_job("capacity", name, "ml.m5.large")}
    found = injector(rule, seed=3)
    assert {name for name in reversed(names) if found.for_job("capacity", name, "ml.m5.large")} == struck
    assert 30 <= len(struck) <= 70


def test_a_job_s_fault_strikes_each_job_so_many_times():
    found = injector({"kind": "spot_interruption", "job": "x-1", "times": 2})
    assert [bool(found.for_job("spot_interruption", "x-1", "t", life)) for life in range(4)] == [True, True, False, False]
    assert found.for_job("spot_interruption", "x-11", "t") is None


def test_s3_errors_apply_to_keys():
    found = injector({"kind": "s3_error", "operation": "GetObject", "bucket": "b", "key": "data/*", "code": "SlowDown", "status": 503})
    with pytest.raises(ServiceError) as caught:
        found.check_call("s3", "GetObject", "b", "data/1")
    assert (caught.value.code, caught.value.status) == ("SlowDown", 503)
    found.check_call("s3", "GetObject", "b", "other/1")
    found.check_call("s3", "PutObject", "b", "data/1")


def test_rules_are_lifted_by_kind():
    found = injector({"kind": "clock_ahead", "seconds": 240}, {"kind": "quota", "quota": "ml.* for training job usage", "limit": 3})
    assert (found.clock_ahead_s(), found.quota("ml.m5.large for training job usage")) == (240.0, 3)
    found.clear("clock_ahead")
    assert (found.clock_ahead_s(), found.quota("ml.m5.large for training job usage")) == (0.0, 3)
    found.clear()
    assert found.quota("ml.m5.large for training job usage") is None


def test_what_happens_to_a_line_is_the_same_each_time():
    rules = [
        {"kind": "repeated_logs", "probability": 0.2},
        {"kind": "reordered_logs", "seconds": 5.0},
        {"kind": "late_logs", "seconds": 30, "after_line": 22},
    ]
    found = injector(*rules, seed=7)
    faults = LineFaults(
        tuple(rule for kind in ("late_logs", "repeated_logs", "reordered_logs") for rule in found.planned(kind, "j", "t", 0))
    )
    effects = [faults.effect(found, "j/algo-1-1", line) for line in range(1, 101)]
    assert effects == [faults.effect(found, "j/algo-1-1", line) for line in range(1, 101)]
    assert all(delay_s < 5 for delay_s, _, _ in effects[:22])
    assert all(30 <= delay_s < 35 for delay_s, _, _ in effects[22:])
    assert 8 <= sum(twice for _, _, twice in effects) <= 35


def test_metrics_are_found_by_their_expressions():
    find = metric_finder([{"Name": "loss", "Regex": r"loss=(\S+)"}, {"Name": "all", "Regex": r"[0-9.]+"}])
    assert find("epoch 1 loss=0.25") == {"loss": 0.25, "all": 1.0}
    assert find("loss=nan") == {}
    assert find("loss=1e-3;") == {"all": 1.0}


def test_a_slow_store_draws_its_jitter_by_seed_and_shares_its_rate():
    rule = {"kind": "slow", "operation": "GetObject", "latency_s": 0.1, "jitter_s": 0.1, "bytes_per_s": 1000.0}
    made = injector(rule)
    first, second = made.transfer("GetObject", "b", "k"), made.transfer("GetObject", "b", "k")
    assert made.transfer("PutObject", "b", "k") is None
    assert first.rates == second.rates
    assert first.delay_s != second.delay_s
    assert all(0.05 <= one.delay_s <= 0.15 for one in (first, second))
    assert injector(rule).transfer("GetObject", "b", "k").delay_s == first.delay_s


def test_bodies_break_off_so_often_as_the_rule_says_and_where_it_says():
    made = injector({"kind": "truncate", "key": "*.tar", "times": 2, "share": 0.25}, {"kind": "reset", "bucket": "other"})
    assert made.transfer("GetObject", "b", "a.jpg") is None
    found = [made.transfer("GetObject", "b", "a.tar") for _ in range(3)]
    assert [one and (one.cut, one.is_reset) for one in found] == [(0.25, False), (0.25, False), None]
    assert made.transfer("GetObject", "other", "x").is_reset
