"""What the network of a job leads to, as EC2 describes it."""

from __future__ import annotations

from typing import Any

import pytest

from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.network_lookups import network_of

OUT = [{"IpProtocol": "-1"}]
ALL = {"DestinationCidrBlock": "0.0.0.0/0"}


def endpoint(service: str, kind: str = "Interface", **more: Any) -> dict[str, Any]:
    return {"ServiceName": f"com.amazonaws.eu-west-1.{service}", "VpcEndpointType": kind, "State": "available", **more}


class Answers:
    """Answers of EC2 about one VPC."""

    def __init__(self, endpoints: Any = (), tables: Any = (), egress: Any = OUT, rules: Any = ()) -> None:
        self.groups = {"sg-job": {"GroupId": "sg-job", "VpcId": "vpc-1", "IpPermissionsEgress": egress, "IpPermissions": []}}
        self.groups["sg-end"] = {"GroupId": "sg-end", "VpcId": "vpc-1", "IpPermissionsEgress": [], "IpPermissions": [*rules]}
        self.given: dict[str, Any] = {
            "describe_subnets": {"Subnets": [{"SubnetId": "subnet-a", "VpcId": "vpc-1"}]},
            "describe_vpc_endpoints": {"VpcEndpoints": [*endpoints]},
            "describe_route_tables": {"RouteTables": [*tables]},
        }

    def call(self, service: str, operation: str, **arguments: Any) -> Any:
        if operation == "describe_security_groups":
            return {"SecurityGroups": [self.groups[name] for name in arguments["GroupIds"]]}
        return self.given[operation]


def network(answers: Answers) -> Any:
    return network_of(answers, ["subnet-a"], ["sg-job"], "eu-west-1")  # type: ignore[arg-type]


def table(*routes: Any, subnet: str = "", is_main: bool = False, name: str = "rtb-1") -> dict[str, Any]:
    tied = {"SubnetId": subnet} if subnet else {"Main": is_main}
    return {"RouteTableId": name, "Routes": [*routes], "Associations": [tied]}


@pytest.mark.parametrize(
    ("tables", "is_out"),
    [
        ([table({**ALL, "NatGatewayId": "nat-1"}, subnet="subnet-a")], True),
        ([table({**ALL, "TransitGatewayId": "tgw-1"}, is_main=True)], True),  # without one of its own a subnet has the main table
        ([table({**ALL, "GatewayId": "vgw-1"}, is_main=True)], True),
        # Jobs have no public address, with which alone an internet gateway would do.
        ([table({**ALL, "GatewayId": "igw-1"}, subnet="subnet-a")], False),
        ([table({"DestinationCidrBlock": "10.0.0.0/8", "NatGatewayId": "nat-1"}, subnet="subnet-a")], False),
        ([table({**ALL, "NatGatewayId": "nat-1"}, is_main=True), table(subnet="subnet-a", name="rtb-2")], False),
        ([], False),
    ],
)
def test_ways_out(tables, is_out):
    assert (network(Answers(tables=tables)).without_way_out == ()) is is_out


def test_the_gateway_of_s3_is_in_the_routes_of_the_subnet():
    tables = [table(subnet="subnet-a", name="rtb-2")]
    gateway = endpoint("s3", "Gateway", RouteTableIds=["rtb-1"])
    beside = network(Answers([gateway], tables))
    assert (beside.services, beside.without_gateway) == ({"s3"}, ("subnet-a",))
    assert network(Answers([{**gateway, "RouteTableIds": ["rtb-2"]}], tables)).without_gateway == ()
    assert network(Answers([gateway, endpoint("s3")], tables)).without_gateway == ()
    assert network(Answers([{**gateway, "State": "deleted"}], tables)).services == frozenset()


@pytest.mark.parametrize(
    ("rules", "is_closed"),
    [
        ([{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "UserIdGroupPairs": [{"GroupId": "sg-job"}]}], False),
        ([{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.0/16"}]}], False),
        ([{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "UserIdGroupPairs": [{"GroupId": "sg-other"}]}], True),
        ([{"IpProtocol": "tcp", "FromPort": 80, "ToPort": 80, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}], True),
        ([], True),
    ],
)
def test_endpoints_that_let_jobs_in(rules, is_closed):
    found = network(Answers([endpoint("logs", Groups=[{"GroupId": "sg-end"}], PrivateDnsEnabled=False)], rules=rules))
    assert (found.closed, found.unnamed) == ({"logs"} if is_closed else frozenset(), {"logs"})


def test_security_groups_that_let_nothing_out():
    assert network(Answers(egress=[{"IpProtocol": "tcp", "FromPort": 0, "ToPort": 80}])).is_shut
    assert not network(Answers(egress=[{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}])).is_shut


def test_what_there_is_not_and_what_may_not_be_asked():
    answers = Answers()
    answers.given["describe_subnets"] = CallFailure(
        FailureKind.OTHER, "DescribeSubnets", "InvalidSubnetID.NotFound", "The subnet ID 'subnet-a' does not exist"
    )
    assert network(answers).missing == ("subnet-a",)
    for operation in ("describe_subnets", "describe_vpc_endpoints", "describe_route_tables"):
        answers = Answers()
        answers.given[operation] = CallFailure(FailureKind.DENIED, "X", "UnauthorizedOperation", "no")
        assert network(answers).kind is FailureKind.DENIED
