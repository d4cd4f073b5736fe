"""All checks of a launch on an emulator: what is whole, what is missing, what may not be asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from backends.checks import Check
from backends.emulator import Emulator, Settings
from backends.emulator.core.settings import SPOT_QUOTA, TRAINING_QUOTA, WARM_POOL_QUOTA
from backends.sagemaker.admin.doctor import run_checks
from backends.sagemaker.admin.iam_policy import PolicyScope, policy_document
from backends.sagemaker.admin.remote_doctor import RemoteStart, controller_checks
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.iam_operations import CALLER
from backends.sagemaker.aws.network_needs import INTERFACES
from backends.sagemaker.controllers.options import ControllerOptions
from definitions.schema import BenchmarkDefinition

pytestmark = pytest.mark.slow

ROLE, JOBS = (f"arn:aws:iam::123456789012:role/{name}" for name in ("controllers", "jobs"))
IMAGE = "763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.9.0-cpu-py312-ubuntu22.04-sagemaker"


class Bench:
    """An emulator with a bucket, and what is found on it."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        emulator.create_bucket("bench")
        self.clients = Clients("us-east-1", emulator.environment)
        self.ec2 = self.clients.get("ec2")

    def found(self, bucket: str = "bench", *, is_own: bool = False, **options: Any) -> dict[str, Check]:
        start = RemoteStart(ControllerOptions(ROLE, IMAGE, **options), bucket, "outrider", is_own, JOBS)
        return {check.name: check for check in controller_checks(start, self.clients)}

    def network(self, services: tuple[str, ...], *, private_dns: bool = True) -> dict[str, Any]:
        """Make a VPC with endpoints of these services, and return the options of controllers in it."""
        vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnet = self.ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
        group = self.ec2.create_security_group(VpcId=vpc, GroupName="jobs", Description="jobs")["GroupId"]
        for service in services:
            given: dict[str, Any] = {"VpcId": vpc, "ServiceName": f"com.amazonaws.us-east-1.{service}"}
            if service == "s3":
                table = self.ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"][0]["RouteTableId"]
                self.ec2.create_vpc_endpoint(**given, VpcEndpointType="Gateway", RouteTableIds=[table])
            else:
                self.ec2.create_vpc_endpoint(**given, VpcEndpointType="Interface", SubnetIds=[subnet], PrivateDnsEnabled=private_dns)
        return {"subnets": (subnet,), "security_groups": (group,)}


@pytest.fixture
def bench() -> Iterator[Bench]:
    quotas = {TRAINING_QUOTA.format("*"): 3, SPOT_QUOTA.format("*"): 0, WARM_POOL_QUOTA.format("*"): 0}
    with Emulator(settings=Settings(quotas=quotas)) as emulator:
        yield Bench(emulator)


def test_where_all_is_there_each_check_says_so_and_only_calls_of_the_policy_are_made(bench):
    found = bench.found()
    assert {check.verdict.value for name, check in found.items() if name != "controllers' image"} == {"ok"}
    assert found["controllers' quota: ml.m5.large for training job usage"].found == "3 instances: 3 jobs at once"
    assert found["controllers' role may"].found.startswith("controllers may create")
    assert set(bench.clients.counts) <= set(CALLER)
    assert policy_document(PolicyScope(), bench.clients.counts)["Statement"]
    assert bench.clients.get("s3").list_objects_v2(Bucket="bench")["KeyCount"] == 0  # what was tried is deleted


@pytest.mark.parametrize(
    ("operation", "line"),
    [
        ("CreateTrainingJob", '"Action": "sagemaker:CreateTrainingJob", "Resource": "arn:aws:sagemaker:us-east-1:*:training-job/*"'),
        ("PassRole", '"Action": "iam:PassRole", "Resource": "arn:aws:iam::*:role/jobs"'),
        ("StopTrainingJob", '"Action": "sagemaker:StopTrainingJob"'),
    ],
)
def test_a_permission_that_the_role_lacks_is_found_before_anything_is_launched(bench, operation, line):
    bench.emulator.add_faults([{"kind": "error", "operation": operation, "code": "AccessDeniedException", "status": 400}])
    check = bench.found()["controllers' role may"]
    assert (check.verdict, line in check.advice) == ("failed", True)


def test_what_is_missing_is_said_with_what_to_do(bench):
    found = bench.found("not-there", spot=True, count=5)
    assert (found["bucket of the run"].verdict, found["bucket of the run"].advice[:9]) == ("failed", "aws s3 mb")
    assert "bucket keeps conditions" not in found
    quota = found["controllers' quota: ml.m5.large for spot training job usage"]
    assert (quota.verdict, "--desired-value 5" in quota.advice) == ("failed", True)
    assert bench.found("sagemaker-us-east-1-x", is_own=True)["bucket of the run"].verdict == "ok"  # the launch makes it


def test_what_may_not_be_asked_leaves_the_rest(bench):
    bench.emulator.add_faults(
        [
            {"kind": "error", "operation": "SimulatePrincipalPolicy", "code": "AccessDenied", "status": 403},
            {"kind": "error", "operation": "DescribeSubnets", "code": "UnauthorizedOperation", "status": 403},
        ]
    )
    found = bench.found(subnets=("subnet-1",), security_groups=("sg-1",))
    unknown = {name for name, check in found.items() if check.verdict == "unknown"}
    assert unknown == {"controllers' role may", "controllers' network"}


def test_a_bucket_whose_server_ignores_conditions_is_found_out(bench):
    def unconditional(params, **_):
        params["headers"].pop("If-None-Match", None)

    bench.clients.get("s3", 1).meta.events.register("before-call.s3.PutObject", unconditional)
    check = bench.found()["bucket keeps conditions"]
    assert (check.verdict, "written over" in check.found) == ("failed", True)


def test_the_network_of_controllers(bench):
    bare = bench.found(**bench.network(()))["controllers' network"]
    assert (bare.verdict, "sts has no endpoint" in bare.found) == ("failed", True)
    whole = bench.network(("s3", *INTERFACES))
    led = bench.found(**whole)["controllers' network"]
    assert (led.verdict, "no index of packages" in led.found) == ("warning", True)
    unnamed = bench.found(**bench.network(("s3", *INTERFACES), private_dns=False))["controllers' network"]
    assert (unnamed.verdict, "without private DNS" in unnamed.found) == ("failed", True)
    mixed = bench.found(subnets=whole["subnets"], security_groups=bench.network(())["security_groups"])["controllers' network"]
    assert "several VPCs" in mixed.found
    none = bench.found(subnets=("subnet-0123456789abcdef0",), security_groups=whole["security_groups"])["controllers' network"]
    assert "there is no subnet-0123456789abcdef0" in none.found
    vpc = bench.ec2.describe_subnets(SubnetIds=[*whole["subnets"]])["Subnets"][0]["VpcId"]
    address = bench.ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = bench.ec2.create_nat_gateway(SubnetId=whole["subnets"][0], AllocationId=address)["NatGateway"]["NatGatewayId"]
    table = bench.ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"][0]["RouteTableId"]
    bench.ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
    assert bench.found(**whole)["controllers' network"].verdict == "ok"


def test_the_network_of_trials_is_checked_before_their_first_start(bench, tmp_path):
    (tmp_path / "run.py").write_text("")

    def found(services):
        data = {
            "name": "toy",
            "script": "run.py",
            "source_dir": str(tmp_path),
            "space": {"x": {"uniform": [0.0, 1.0]}},
            "arguments": {"instance_type": "ml.m5.large"},
            "objectives": {"loss": "min"},
            "sagemaker": {"image": IMAGE, **(bench.network(services) if services is not None else {})},
        }
        checks = run_checks(
            BenchmarkDefinition.model_validate(data), "sagemaker", ("ml.m5.large",), bench.clients, bench.emulator.environment
        )
        return {check.name: check for check in checks}

    assert "jobs' network" not in found(None)
    bare = found(())["jobs' network"]
    assert (bare.verdict, "s3 has no endpoint" in bare.found, "sts" in bare.found) == ("failed", True, False)
    assert found(("s3",))["jobs' network"].verdict == "ok"
    (tmp_path / "requirements.txt").write_text("numpy\n")
    assert found(("s3",))["jobs' network"].verdict == "warning"
