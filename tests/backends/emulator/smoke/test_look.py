"""The observation of an endpoint: it sees what the emulator is known to do, twice the same, and a difference where there is one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from backends.emulator.core.settings import Delays
from backends.emulator.smoke import PROBES, Account, Difference, Probe, compare, observe

pytestmark = pytest.mark.slow

ROLE = "arn:aws:iam::123456789012:role/r"
QUICK = Delays(cold_start_s=0.05, warm_start_s=0.05, spot_return_s=0.05, grace_s=1.0)


def account_of(bench):
    return Account(bench.client, ROLE, "s3://bucket/smoke/", "image", poll_s=0.05, timeout_s=60, spot_s=4)


def test_two_emulators_are_observed_alike_and_a_fault_as_a_difference(started):
    throttled = [{"kind": "throttle", "operation": "StopTrainingJob", "rate_per_s": 0.001, "burst": 2}]
    benches = [started(faults=faults, delays=QUICK) for faults in (None, None, throttled)]
    if benches[0].emulator.isolation == "none":
        pytest.skip("needs private mounts")
    probes = [PROBES, PROBES, [probe for probe in PROBES if probe.name in ("refusals", "completed", "stopped")]]
    # They sleep more than they work, so that all three are looked at side by side.
    with ThreadPoolExecutor(len(benches)) as pool:
        first, second, third = pool.map(lambda bench, asked: observe(account_of(bench), asked), benches, probes)
    assert compare(first, second) == []
    assert [name for name in first if "cut short" in name] == []
    assert first["refusals: describe an unknown job"] == ["ValidationException", "Requested resource not found."]
    assert first["failed: reason"] == "AlgorithmError: no such layer, exit code: 3"
    assert first["failed: what is uploaded"] == ["output/output.tar.gz"]
    assert first["failed: reason of a script that was killed"] == "AlgorithmError: , exit code: 137"
    assert first["completed: log lines"] == ["loss=0.5"]
    assert first["completed: artifacts"] == "OUTPUT/JOB/output/model.tar.gz"
    assert first["completed: log streams"] == ["JOB/algo-1-#"]
    assert first["over time: status"] == ["Stopped", "MaxRuntimeExceeded"]
    assert first["over time: told once"] is True
    assert first["log bytes: lines"][:2] == ["tab#011end", "cr#015back"]
    assert first["log bytes: lines"][-3:] == ["262118 characters", "37882 characters", "without an end"]
    assert first["channels: what is seen"][-5:] == ["regular file 644", "regular file 400", "fifo 644", "aaaabbbb", "aaaabbbb"]
    assert first["checkpoints: in S3"] == ["d/two", "one", "three"]
    assert first["checkpoints: in the next container"] == [".", "./d", "./d/two", "./one", "./three"]
    assert first["spot: billed for less"] is True
    assert first["warm pool: of the first, once it is taken"][0] == "Reused"
    assert first["listing: a page cut before its filter"] == [0, True]
    # Nothing is left in the bucket.
    assert benches[0].s3.list_objects_v2(Bucket="bucket", Prefix="smoke/").get("KeyCount") == 0
    # The third call of StopTrainingJob is throttled: after that of an unknown job and that of one that is over.
    (answer,) = [one for one in compare(first, third) if one.what == "stopped: answer"]
    assert answer == Difference("stopped: answer", ["", ""], ["ThrottlingException", "Rate exceeded"])


def test_a_look_that_fails_is_noted_and_the_rest_is_asked(started):
    bench = started(faults=[{"kind": "error", "operation": "ListServiceQuotas", "code": "AccessDeniedException", "status": 400}])
    asked = [probe for probe in PROBES if probe.name in ("quotas and prices", "conditional writes", "capacity")]
    found = observe(account_of(bench), asked)
    assert found["quotas and prices: cut short by"] == "AccessDeniedException"
    assert found["conditional writes: if match, where there is none"][0] == "NoSuchKey"


def test_what_takes_too_long_is_noted(started):
    bench = started(faults=[{"kind": "pending", "seconds": 1000}])

    def waits(account):
        yield "created", bool(account.start("slow", "true"))
        yield "ended", account.wait(f"{account.tag}-slow")["TrainingJobStatus"]

    account = Account(bench.client, ROLE, "s3://bucket/smoke/", "image", poll_s=0.05, timeout_s=0.2)
    assert observe(account, [Probe("slow", "?", "", "", waits)]) == {"slow: created": True, "slow: cut short by": "TimeoutError"}
