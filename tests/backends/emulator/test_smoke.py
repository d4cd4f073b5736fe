"""The observation of an endpoint: it sees what the emulator is known to do, twice the same, and a difference where there is one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from backends.emulator.smoke import Account, Difference, compare, observe

pytestmark = pytest.mark.slow

ROLE = "arn:aws:iam::123456789012:role/r"


def test_two_emulators_are_observed_alike_and_a_fault_as_a_difference(started):
    throttled = [{"kind": "throttle", "operation": "StopTrainingJob", "rate_per_s": 0.001, "burst": 2}]
    benches = [started(faults=faults) for faults in (None, None, throttled)]
    if benches[0].emulator.isolation == "none":
        pytest.skip("needs private mounts")
    # They sleep more than they work, so that all three are looked at side by side.
    accounts = [Account(bench.client, ROLE, "s3://bucket/smoke/", "image", poll_s=0.05, timeout_s=60) for bench in benches]
    with ThreadPoolExecutor(len(accounts)) as pool:
        first, second, third = pool.map(observe, accounts)
    assert compare(first, second) == []
    assert first["describe: an unknown job"] == ("ValidationException", "Requested resource not found.")
    assert first["bad: reason"] == "AlgorithmError: no such layer, exit code: 3"
    assert first["good: log lines"] == ["loss=0.5"]
    assert first["good: artifacts"] == "OUTPUT/JOB/output/model.tar.gz"
    assert first["good: log streams"] == ["JOB/algo-1-#"]
    assert first["list: order by default"] == ["long", "bad", "good"]
    assert first["list: a page cut before its filter"] == (0, True)
    assert compare(first, third) == [
        Difference("stop: a stopped job", first["stop: a stopped job"], ("ThrottlingException", "Rate exceeded"))
    ]
