"""Looks up what the network of a job in a VPC leads to: subnets, security groups, endpoints, ways out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.lookups import Lookups

_HTTPS = 443


@dataclass(frozen=True)
class JobNetwork:
    """What jobs in some subnets and security groups have.

    Args:
        vpcs: ids of the VPCs of subnets and groups; one where all is well.
        services: that have an endpoint there, by the end of its name, e.g. `sagemaker.api`.
        unnamed: those of them whose usual name leads elsewhere, as the endpoint has no private DNS.
        closed: those whose security groups let no job in.
        without_gateway: subnets whose routes do not lead to the endpoint of S3.
        without_way_out: subnets from which nothing leads to the internet.
        is_shut: whether the security groups of jobs let nothing out to port 443.
        missing: ids that there are not.
    """

    vpcs: tuple[str, ...] = ()
    services: frozenset[str] = frozenset()
    unnamed: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    without_gateway: tuple[str, ...] = ()
    without_way_out: tuple[str, ...] = ()
    is_shut: bool = False
    missing: tuple[str, ...] = ()


def network_of(lookups: Lookups, subnets: Sequence[str], groups: Sequence[str], region: str) -> JobNetwork | CallFailure:
    """Return what jobs there have, or why that cannot be told.

    Args:
        lookups: makes the calls.
        subnets: their ids.
        groups: ids of their security groups.
        region: of the jobs.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for key, operation, kind, ids in (
        ("Subnets", "describe_subnets", "SubnetIds", subnets),
        ("SecurityGroups", "describe_security_groups", "GroupIds", groups),
    ):
        answer = lookups.call("ec2", operation, **{kind: [*ids]})
        if isinstance(answer, CallFailure):
            is_missing = answer.kind is FailureKind.MISSING or ".NotFound" in answer.code or ".Malformed" in answer.code
            return JobNetwork(missing=tuple(one for one in ids if one in answer.message) or tuple(ids)) if is_missing else answer
        found[key] = answer[key]
    vpcs = tuple(dict.fromkeys(str(one["VpcId"]) for one in (*found["Subnets"], *found["SecurityGroups"])))
    own = {"Filters": [{"Name": "vpc-id", "Values": [*vpcs]}]}
    endpoints, tables = lookups.call("ec2", "describe_vpc_endpoints", **own), lookups.call("ec2", "describe_route_tables", **own)
    for answer in (endpoints, tables):
        if isinstance(answer, CallFailure):
            return answer
    return _network(vpcs, found, endpoints["VpcEndpoints"], tables["RouteTables"], _rules(lookups, endpoints["VpcEndpoints"]), region)


def _rules(lookups: Lookups, endpoints: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[Mapping[str, Any]]] | None:
    """Return what comes in by the security groups of endpoints, by group; None where that cannot be told."""
    ids = list(dict.fromkeys(group["GroupId"] for one in endpoints for group in one.get("Groups", ())))
    if not ids:
        return {}
    answer = lookups.call("ec2", "describe_security_groups", GroupIds=ids)
    return None if isinstance(answer, CallFailure) else {one["GroupId"]: one["IpPermissions"] for one in answer["SecurityGroups"]}


def _network(
    vpcs: tuple[str, ...],
    found: Mapping[str, Sequence[Mapping[str, Any]]],
    endpoints: Sequence[Mapping[str, Any]],
    tables: Sequence[Mapping[str, Any]],
    rules: Mapping[str, Sequence[Mapping[str, Any]]] | None,
    region: str,
) -> JobNetwork:
    there = [one for one in endpoints if str(one.get("State", "available")).lower() in ("available", "pending")]
    interfaces = {_service(one, region): one for one in there if one["VpcEndpointType"] == "Interface"}
    gateways = [one for one in there if one["VpcEndpointType"] == "Gateway" and _service(one, region) == "s3"]
    tabled = {str(one["SubnetId"]): _table(tables, str(one["SubnetId"])) for one in found["Subnets"]}
    led = {table for one in gateways for table in one.get("RouteTableIds", ())}
    has_s3 = bool(gateways) or "s3" in interfaces
    return JobNetwork(
        vpcs=vpcs,
        services=frozenset({*interfaces, *(["s3"] if has_s3 else [])}),
        unnamed=frozenset(name for name, one in interfaces.items() if not one.get("PrivateDnsEnabled", True)),
        closed=frozenset(name for name, one in interfaces.items() if rules is not None and _lets_none_in(one, rules, found)),
        without_gateway=()
        if "s3" in interfaces
        else tuple(name for name, table in tabled.items() if gateways and table.get("RouteTableId") not in led),
        without_way_out=tuple(name for name, table in tabled.items() if not _leads_out(table)),
        is_shut=not any(_opens_https(rule) for one in found["SecurityGroups"] for rule in one.get("IpPermissionsEgress", ())),
    )


def _service(endpoint: Mapping[str, Any], region: str) -> str:
    return str(endpoint["ServiceName"]).partition(f".{region}.")[2]


def _table(tables: Sequence[Mapping[str, Any]], subnet: str) -> Mapping[str, Any]:
    """Return the route table of a subnet: its own, else the main one."""
    main: Mapping[str, Any] = {}
    for table in tables:
        for one in table.get("Associations", ()):
            if one.get("SubnetId") == subnet:
                return table
            if one.get("Main"):
                main = table
    return main


def _leads_out(table: Mapping[str, Any]) -> bool:
    """Return whether jobs reach the internet: by a NAT or a transit; not by an internet gateway, as they have no public address."""
    ways = ("NatGatewayId", "TransitGatewayId", "InstanceId", "NetworkInterfaceId", "VpcPeeringConnectionId")
    return any(
        one.get("DestinationCidrBlock") == "0.0.0.0/0"
        and (any(one.get(way) for way in ways) or str(one.get("GatewayId", "")).startswith("vgw-"))
        for one in table.get("Routes", ())
    )


def _opens_https(rule: Mapping[str, Any]) -> bool:
    return rule.get("IpProtocol") == "-1" or (
        rule.get("IpProtocol") == "tcp" and int(rule.get("FromPort", 0)) <= _HTTPS <= int(rule.get("ToPort", 65535))
    )


def _lets_none_in(
    endpoint: Mapping[str, Any], rules: Mapping[str, Sequence[Mapping[str, Any]]], found: Mapping[str, Sequence[Mapping[str, Any]]]
) -> bool:
    """Return whether no rule of an endpoint's groups is for jobs: ranges of addresses are taken to be theirs."""
    jobs = {str(one["GroupId"]) for one in found["SecurityGroups"]}
    own = [str(group["GroupId"]) for group in endpoint.get("Groups", ())]
    return bool(own) and not any(_opens_https(rule) and _sources(rule, jobs) for group in own for rule in rules.get(group, ()))


def _sources(rule: Mapping[str, Any], jobs: set[str]) -> bool:
    return bool(rule.get("IpRanges") or rule.get("PrefixListIds")) or any(_named(rule, jobs))


def _named(rule: Mapping[str, Any], jobs: set[str]) -> Iterator[bool]:
    return (one.get("GroupId") in jobs for one in rule.get("UserIdGroupPairs", ()))
