"""Managed warm pools: what matches, how long they last, what they bill, what counts against which quota."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from backends.emulator import ManualClock
from backends.emulator.core.settings import Delays
from backends.emulator.training.warm_pools import LONGEST_CHAIN_S, WarmPool, WarmPools, match_key

pytestmark = pytest.mark.slow

KEEP = {"KeepAlivePeriodInSeconds": 600}
REQUEST = {
    "RoleArn": "r",
    "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1, "VolumeSizeInGB": 30},
    "VpcConfig": {"Subnets": ["a", "b"], "SecurityGroupIds": ["s"]},
}


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"HyperParameters": {"a": "b"}, "Environment": {"X": "y"}, "AlgorithmSpecification": {"TrainingImage": "other"}}, True),
        ({"VpcConfig": {"Subnets": ["b", "a"], "SecurityGroupIds": ["s"]}}, True),
        ({"EnableNetworkIsolation": False}, True),
        ({"RoleArn": "other"}, False),
        ({"ResourceConfig": {**REQUEST["ResourceConfig"], "InstanceType": "ml.m5.xlarge"}}, False),
        ({"ResourceConfig": {**REQUEST["ResourceConfig"], "InstanceCount": 2}}, False),
        ({"ResourceConfig": {**REQUEST["ResourceConfig"], "VolumeSizeInGB": 31}}, False),
        ({"ResourceConfig": {**REQUEST["ResourceConfig"], "VolumeKmsKeyId": "k"}}, False),
        ({"VpcConfig": {"Subnets": ["a"], "SecurityGroupIds": ["s"]}}, False),
        ({"EnableNetworkIsolation": True}, False),
        ({"EnableInterContainerTrafficEncryption": True}, False),
        ({"SessionChainingConfig": {"EnableSessionTagChaining": True}}, False),
    ],
)
def test_what_has_to_match(changes, same):
    assert (match_key(REQUEST) == match_key({**REQUEST, **changes})) is same


def test_a_chain_ends_after_28_days():
    pools = WarmPools()
    pool = WarmPool("j", "k", "t", 2, LONGEST_CHAIN_S + 50.0, LONGEST_CHAIN_S + 650.0, 100.0, "")
    assert pools.add(pool).until == LONGEST_CHAIN_S + 100.0
    assert pools.find("k", LONGEST_CHAIN_S + 99.0) is not None
    assert pools.find("k", LONGEST_CHAIN_S + 100.0) is None
    assert pools.instances("t") == 2


@pytest.fixture
def kept(started):
    clock = ManualClock()
    return started(clock=clock, delays=Delays(cold_start_s=200.0, warm_start_s=10.0)), clock


def run(bench, clock, name, start_s, code="true", **rest):
    bench.shell(code, name=name, **rest)
    clock.advance(start_s)
    return bench.ended(name)


def test_a_pool_is_reused_and_bills_its_idle_time(kept):
    bench, clock = kept
    first = run(bench, clock, "w-1", 200.0, "echo kept > $SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY/c", resources=KEEP)
    assert first["TrainingJobStatus"] == "Completed"
    assert first["WarmPoolStatus"] == {"Status": "Available", "ResourceRetainedBillableTimeInSeconds": 0}
    clock.advance(250.0)
    bench.shell("cat $SAGEMAKER_MANAGED_WARMPOOL_CACHE_DIRECTORY/c", name="w-2", resources=KEEP)
    assert bench.describe("w-1")["WarmPoolStatus"] == {
        "Status": "Reused",
        "ResourceRetainedBillableTimeInSeconds": 250,
        "ReusedByJob": "w-2",
    }
    assert bench.describe("w-2")["WarmPoolStatus"] == {"Status": "InUse"}
    clock.advance(10.0)
    second = bench.ended("w-2")
    assert second["TrainingJobStatus"] == "Completed"
    assert bench.lines("w-2") == ["kept"]
    clock.advance(599.0)
    assert bench.describe("w-2")["WarmPoolStatus"]["Status"] == "Available"
    clock.advance(1.0)
    assert bench.until("w-2", lambda job: job["WarmPoolStatus"]["Status"] == "Terminated")["WarmPoolStatus"] == {
        "Status": "Terminated",
        "ResourceRetainedBillableTimeInSeconds": 600,
    }
    listed = bench.sagemaker.list_training_jobs(WarmPoolStatusEquals="Reused")["TrainingJobSummaries"]
    assert [job["TrainingJobName"] for job in listed] == ["w-1"]


def test_another_role_gets_no_pool_and_a_job_without_keep_alive_ends_it(kept):
    bench, clock = kept
    run(bench, clock, "w-1", 200.0, resources=KEEP)
    bench.sagemaker.create_training_job(
        **{**bench.request(name="w-2", resources=KEEP), "RoleArn": "arn:aws:iam::123456789012:role/another"}
    )
    assert bench.describe("w-1")["WarmPoolStatus"]["Status"] == "Available"
    job = run(bench, clock, "w-3", 10.0)
    assert "WarmPoolStatus" not in job
    assert bench.describe("w-1")["WarmPoolStatus"]["ReusedByJob"] == "w-3"
    bench.submit(name="w-4")
    clock.advance(11.0)
    assert bench.describe("w-4")["SecondaryStatus"] == "Starting"  # a cold start: no pool was left


@pytest.mark.parametrize(("code", "kept_after"), [("exit 3", "Available"), ("true", "Available")])
def test_a_pool_is_kept_after_the_script_s_own_failure(kept, code, kept_after):
    bench, clock = kept
    assert run(bench, clock, "w-1", 200.0, code, resources=KEEP)["WarmPoolStatus"]["Status"] == kept_after


def test_no_pool_after_an_internal_error(started):
    bench = started(faults=[{"kind": "internal_error", "at_step": 1}])
    job = bench.ended(bench.shell("echo step=1; sleep 10", resources=KEEP))
    assert job["WarmPoolStatus"]["Status"] == "Terminated"


def test_an_update_ends_a_pool_and_its_job_can_be_deleted(kept):
    bench, clock = kept
    run(bench, clock, "w-1", 200.0, resources=KEEP)
    with pytest.raises(bench.sagemaker.exceptions.ResourceInUse):
        bench.sagemaker.delete_training_job(TrainingJobName="w-1")
    clock.advance(30.0)
    bench.sagemaker.update_training_job(TrainingJobName="w-1", ResourceConfig={"KeepAlivePeriodInSeconds": 0})
    assert bench.describe("w-1")["WarmPoolStatus"] == {"Status": "Terminated", "ResourceRetainedBillableTimeInSeconds": 30}
    with pytest.raises(ClientError):
        bench.sagemaker.update_training_job(TrainingJobName="w-1", ResourceConfig={"KeepAlivePeriodInSeconds": 60})
    bench.sagemaker.delete_training_job(TrainingJobName="w-1")


def test_without_quota_there_is_no_pool_and_no_error(started):
    bench = started(quotas={"*training warm pool usage": 0, "*": 9})
    assert "WarmPoolStatus" not in bench.completed(bench.submit(resources=KEEP))


def test_waiting_instances_count_as_training_instances(started):
    clock = ManualClock()
    bench = started(clock=clock, quotas={"*": 2}, delays=Delays(cold_start_s=0.0, warm_start_s=0.0))
    bench.submit(name="w-1", resources={**KEEP, "InstanceCount": 2})
    bench.ended("w-1")
    with pytest.raises(ClientError) as caught:
        bench.submit(name="w-2")
    assert "current utilization of 2 Instances and a request delta of 1" in str(caught.value)
    bench.submit(name="w-3", resources={**KEEP, "InstanceCount": 2})  # gets the pool's
    bench.ended("w-3")
    assert bench.describe("w-1")["WarmPoolStatus"]["ReusedByJob"] == "w-3"
