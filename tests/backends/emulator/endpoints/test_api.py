"""The life of endpoints by unmodified boto3: names, statuses, waiters, quotas, faults, tags, what a restart finds."""

from __future__ import annotations

import pytest

from backends.emulator import Emulator, Settings
from backends.emulator.core.clock import ManualClock
from backends.emulator.core.settings import ENDPOINT_QUOTA
from tests.backends.emulator.asking import control
from tests.backends.emulator.endpoints.hosting_bench import IMAGE, ROLE, HostingBench, refused

pytestmark = pytest.mark.slow
SOON = {"Delay": 1, "MaxAttempts": 60}


@pytest.fixture(scope="module")
def lab():
    with Emulator() as emulator:
        yield HostingBench(emulator)


@pytest.fixture
def made():
    import contextlib

    with contextlib.ExitStack() as stack:
        yield lambda **rest: HostingBench(stack.enter_context(Emulator(**rest)))


def test_an_endpoint_comes_into_service_and_goes(lab):
    name = lab.endpoint()
    assert lab.describe(name)["EndpointStatus"] == "Creating"
    lab.sagemaker.get_waiter("endpoint_in_service").wait(EndpointName=name, WaiterConfig=SOON)
    found = lab.describe(name)
    assert found["EndpointArn"] == f"arn:aws:sagemaker:us-east-1:123456789012:endpoint/{name}"
    (variant,) = found["ProductionVariants"]
    assert (variant["VariantName"], variant["CurrentInstanceCount"]) == ("AllTraffic", 1)
    assert variant["DeployedImages"][0]["SpecifiedImage"] == IMAGE
    assert found["CreationTime"] < found["LastModifiedTime"]
    lab.sagemaker.delete_endpoint(EndpointName=name)
    lab.sagemaker.get_waiter("endpoint_deleted").wait(EndpointName=name, WaiterConfig=SOON)
    state = control(lab.emulator.environment, "GET", "state")[1]
    (billed,) = [one for one in state["billed_endpoints"] if one["name"] == name]
    assert billed["created_at"] == pytest.approx(found["CreationTime"].timestamp(), abs=0.01)
    assert billed["deleted_at"] > found["LastModifiedTime"].timestamp()
    lab.sagemaker.delete_endpoint_config(EndpointConfigName=name)
    lab.sagemaker.delete_model(ModelName=name)
    arn = "arn:aws:sagemaker:us-east-1:123456789012"
    words = ("ValidationException", f'Could not find endpoint "{arn}:endpoint/{name}".')
    assert refused(lab.sagemaker.describe_endpoint, EndpointName=name) == words
    assert refused(lab.sagemaker.delete_endpoint, EndpointName=name) == words
    assert refused(lab.sagemaker.describe_model, ModelName=name)[1] == f'Could not find model "{arn}:model/{name}".'
    assert refused(lab.sagemaker.delete_endpoint_config, EndpointConfigName=name)[1].startswith("Could not find endpoint configuration")


def test_names_are_taken_once_and_parts_have_to_be_there(lab):
    name = lab.endpoint()
    variant = {"VariantName": "v", "ModelName": "nobody", "InstanceType": "ml.m5.large", "InitialInstanceCount": 1}
    parts = {"EndpointConfigName": name, "ProductionVariants": [{**variant, "ModelName": name}]}
    assert refused(lab.sagemaker.create_endpoint_config, **parts)[1].startswith("Cannot create already existing endpoint configuration")
    container = {"Image": IMAGE}
    message = refused(lab.sagemaker.create_model, ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=container)[1]
    assert message == f'Cannot create already existing model "arn:aws:sagemaker:us-east-1:123456789012:model/{name}".'
    taken = refused(lab.sagemaker.create_endpoint, EndpointName=name, EndpointConfigName=name)
    assert (taken[0], taken[1].partition('"')[0]) == ("ValidationException", "Cannot create already existing endpoint ")
    other = {"EndpointConfigName": "other", "ProductionVariants": [variant]}
    assert refused(lab.sagemaker.create_endpoint_config, **other)[1].startswith("Could not find model")
    assert refused(lab.sagemaker.create_endpoint, EndpointName="x", EndpointConfigName="y")[1].startswith("Could not find endpoint conf")
    data = {"Image": IMAGE, "ModelDataUrl": "s3://bucket/none.tar.gz"}
    message = refused(lab.sagemaker.create_model, ModelName="m", ExecutionRoleArn=ROLE, PrimaryContainer=data)[1]
    assert message == "Could not find model data at s3://bucket/none.tar.gz."


def test_requests_are_held_to_the_services_model(lab):
    code, message = refused(lab.sagemaker.create_endpoint, EndpointName="under_score", EndpointConfigName="c")
    assert code == "ValidationException"
    assert "Value 'under_score' at 'endpointName' failed to satisfy constraint" in message
    variant = {"VariantName": "a_b", "ModelName": "m", "InstanceType": "ml.zz.large", "InitialInstanceCount": 1}
    message = refused(lab.sagemaker.create_endpoint_config, EndpointConfigName="c", ProductionVariants=[variant])[1]
    assert message.startswith("2 validation errors detected")


def test_one_that_is_being_created_cannot_be_deleted(made):
    clock = ManualClock()
    bench = made(clock=clock)
    name = bench.endpoint()
    message = f'Cannot update in-progress endpoint "arn:aws:sagemaker:us-east-1:123456789012:endpoint/{name}".'
    assert refused(bench.sagemaker.delete_endpoint, EndpointName=name) == ("ValidationException", message)
    clock.advance(1.0)
    bench.until(name, "InService")
    bench.sagemaker.delete_endpoint(EndpointName=name)
    assert refused(bench.sagemaker.delete_endpoint, EndpointName=name)[1] == message
    assert bench.describe(name)["EndpointStatus"] == "Deleting"


def test_the_quota_of_endpoints_counts_until_one_is_gone(made):
    bench = made(settings=Settings(quotas={ENDPOINT_QUOTA.format("ml.m5.large"): 2, "*": 0}))
    name = bench.endpoint(count=2)
    bench.parts("second")
    code, message = refused(bench.sagemaker.create_endpoint, EndpointName="second", EndpointConfigName="second")
    assert code == "ResourceLimitExceeded"
    assert "'ml.m5.large for endpoint usage' is 2 Instances, with current utilization of 2 Instances and a request delta of 1" in message
    bench.parts("none", instance_type="ml.m5.xlarge")
    assert "is 0 Instances" in refused(bench.sagemaker.create_endpoint, EndpointName="none", EndpointConfigName="none")[1]
    bench.until(name, "InService")
    bench.sagemaker.delete_endpoint(EndpointName=name)
    bench.gone(name)
    bench.sagemaker.create_endpoint(EndpointName="second", EndpointConfigName="second")
    quotas = bench.emulator.client("service-quotas").get_paginator("list_service_quotas").paginate(ServiceCode="sagemaker")
    values = {one["QuotaName"]: one["Value"] for page in quotas for one in page["Quotas"]}
    assert (values["ml.m5.large for endpoint usage"], values["ml.m5.xlarge for endpoint usage"]) == (2.0, 0.0)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"kind": "capacity"}, "Unable to provision requested ML compute capacity due to InsufficientInstanceCapacity error."),
        ({"kind": "endpoint_failed", "message": "The model is too large."}, "The model is too large."),
        ({"kind": "endpoint_failed", "at_s": 0.1}, "Request to service failed."),
    ],
)
def test_endpoints_that_fail_say_why_bill_until_they_are_deleted_and_leave_the_quota(made, fault, reason):
    bench = made(faults=[fault], settings=Settings(quotas={"*": 1}))
    name = bench.endpoint()
    failed = bench.until(name, "Failed")
    assert failed["FailureReason"].startswith(reason)
    assert "ProductionVariants" not in failed
    other = bench.endpoint()
    bench.sagemaker.delete_endpoint(EndpointName=name)
    bench.gone(name)
    assert bench.describe(other)["EndpointStatus"] in ("Creating", "InService", "Failed")


def test_no_capacity_on_creation_and_one_that_never_comes(made):
    bench = made(faults=[{"kind": "capacity", "job": "full*", "on": "create"}, {"kind": "pending", "job": "late*", "seconds": 900.0}])
    bench.parts("full-1")
    assert refused(bench.sagemaker.create_endpoint, EndpointName="full-1", EndpointConfigName="full-1")[0] == "CapacityError"
    bench.endpoint("late-1")
    bench.until(bench.endpoint(), "InService")
    assert bench.describe("late-1")["EndpointStatus"] == "Creating"


def test_tags_are_those_of_each_resource(lab):
    name = lab.parts()
    tags = [{"Key": "outrider:tag", "Value": "t"}]
    arn = lab.sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name, Tags=tags)["EndpointArn"]
    assert lab.sagemaker.list_tags(ResourceArn=arn)["Tags"] == tags
    model = lab.sagemaker.describe_model(ModelName=name)["ModelArn"]
    assert lab.sagemaker.list_tags(ResourceArn=model)["Tags"] == []
    lab.sagemaker.add_tags(ResourceArn=model, Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
    lab.sagemaker.delete_tags(ResourceArn=model, TagKeys=["a"])
    assert lab.sagemaker.list_tags(ResourceArn=model)["Tags"] == [{"Key": "b", "Value": "2"}]
    assert refused(lab.sagemaker.list_tags, ResourceArn=f"{arn}-no")[1].startswith("Could not find endpoint")


def test_endpoints_outlive_an_emulator_that_is_started_again_on_its_folder(tmp_path, made):
    folder = tmp_path / "data"
    with Emulator(folder, faults=[{"kind": "slow_stop", "seconds": 600.0}]) as emulator:
        bench = HostingBench(emulator)
        kept, going = bench.endpoint("kept"), bench.endpoint("going")
        created = bench.until(kept, "InService")["CreationTime"]
        bench.until(going, "InService")
        bench.sagemaker.delete_endpoint(EndpointName=going)
        bench.endpoint("late")
    bench = made(folder=folder)
    assert bench.describe(kept)["EndpointStatus"] == "InService"
    assert bench.describe(kept)["CreationTime"] == created
    bench.gone(going)
    bench.until("late", "InService")
    bench.sagemaker.delete_endpoint(EndpointName=kept)
    bench.gone(kept)
    names = [one["name"] for one in control(bench.emulator.environment, "GET", "state")[1]["billed_endpoints"]]
    assert sorted(names) == ["going", "kept"]
