"""What answers of AWS mean for a launch: one check for each. Pure; the calls are made in `aws`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from backends.checks import Check, CheckStatus
from backends.sagemaker.aws.errors import CallFailure, FailureKind, masked
from backends.sagemaker.aws.network_lookups import JobNetwork
from backends.sagemaker.aws.network_needs import GATEWAY, HELPFUL, INTERFACES
from backends.sagemaker.aws.role_permissions import Lacking
from definitions.program import command

_FOR_MORE = ("sagemaker:Search", "cloudwatch:PutMetricData", "servicequotas:ListServiceQuotas", "servicequotas:ListAWSDefaultServiceQuotas")
"""What a study does without: its trackers, its metrics in the console, its knowledge of quotas."""
_POLICY = command("doctor", "--policy", "controller")


def check_permissions(name: str, lacking: Sequence[Lacking] | CallFailure) -> Check:
    """Return the check of what the controllers' role may.

    Args:
        name: of the role.
        lacking: what it may not do, or why that could not be told.
    """
    title = "controllers' role may"
    if isinstance(lacking, CallFailure):
        if lacking.kind is FailureKind.DENIED:
            return Check(title, CheckStatus.UNKNOWN, "iam:SimulatePrincipalPolicy is not allowed", f"compare its policy with `{_POLICY}`")
        return Check(title, CheckStatus.UNKNOWN, str(lacking), lacking.advice)
    if not lacking:
        return Check(title, CheckStatus.OK, f"{name} may create, stop and list jobs, pass its role and theirs, keep state in S3, read logs")
    forbidden = [one.action for one in lacking if one.is_forbidden]
    if forbidden:
        found = f"{name}: a policy forbids {', '.join(dict.fromkeys(forbidden))}, whatever else is allowed"
        return Check(title, CheckStatus.FAILED, found, "only the account's administrator can lift that")
    lines = [json.dumps({"Effect": "Allow", "Action": one.action, "Resource": _any_account(one.resource)}) for one in lacking]
    verdict = CheckStatus.WARNING if all(one.action in _FOR_MORE for one in lacking) else CheckStatus.FAILED
    actions = ", ".join(dict.fromkeys(one.action for one in lacking))
    return Check(title, verdict, f"{name} may not {actions}", f"add {', '.join(lines)}; `{_POLICY}` prints all that it needs")


def check_conditions(where: str, found: CallFailure | bool) -> Check:
    """Return the check of writing objects under conditions.

    Args:
        where: URI of the place.
        found: whether a second write of one object was refused, as it was to be, or why it could not be tried.
    """
    title, where = "bucket keeps conditions", masked(where)
    if isinstance(found, CallFailure):
        return Check(title, CheckStatus.FAILED, f"{where}: {found}", found.advice, refused=True)
    if not found:
        text = f"{where}: an object that was there was written over although only a new one was asked for"
        return Check(title, CheckStatus.FAILED, text, "controllers take turns by that: give a bucket in S3 itself")
    return Check(title, CheckStatus.OK, f"{where}: of two writes of a new object the second was refused")


def check_network(network: JobNetwork | CallFailure | None) -> Check:
    """Return the check of the network of controllers; None where they are in no VPC."""
    title = "controllers' network"
    if network is None:
        return Check(title, CheckStatus.OK, "in no VPC of yours: AWS and the index of packages are reached")
    if isinstance(network, CallFailure):
        if network.kind is FailureKind.DENIED:
            text = f"could not be looked up: {network.operation} is not allowed"
            return Check(title, CheckStatus.UNKNOWN, text, _endpoints_advice((GATEWAY, *INTERFACES)))
        return Check(title, CheckStatus.UNKNOWN, str(network), network.advice)
    if network.missing:
        return Check(title, CheckStatus.FAILED, f"there is no {', '.join(network.missing)} in this account and region", "check the ids")
    if len(network.vpcs) > 1:
        text = f"subnets and security groups are of several VPCs: {', '.join(network.vpcs)}"
        return Check(title, CheckStatus.FAILED, text, "give those of one")
    if network.is_shut:
        text = "its security groups let nothing out to port 443, where all of AWS is"
        return Check(title, CheckStatus.FAILED, text, "allow TCP 443 to go out")
    return _reach(title, network)


def _reach(title: str, network: JobNetwork) -> Check:
    """Return whether what a controller calls can be reached, by endpoints or by a way out."""
    is_out = not network.without_way_out
    bad = {service: "has no endpoint" for service in (GATEWAY, *INTERFACES) if service not in network.services}
    bad |= dict.fromkeys(sorted(network.unnamed & {*INTERFACES}), "has an endpoint without private DNS")
    bad |= {GATEWAY: f"has an endpoint that {', '.join(network.without_gateway)} does not lead to"} if network.without_gateway else {}
    # Where an endpoint has the usual name nothing else is asked, not even where there is a way out.
    closed = sorted((network.closed - network.unnamed) & {*INTERFACES})
    bad = ({} if is_out else bad) | dict.fromkeys(closed, "has an endpoint whose security groups let no controller in")
    if bad:
        where = "" if is_out else f", and nothing leads from {', '.join(network.without_way_out)} to the internet"
        text = "; ".join(f"{service} {why}" for service, why in bad.items())
        return Check(title, CheckStatus.FAILED, f"{text}{where}: controllers would hang", _endpoints_advice(bad))
    if is_out:
        return Check(title, CheckStatus.OK, f"{network.vpcs[0]}: all is reached, by a way out or an endpoint")
    slower = [service for service in HELPFUL if service not in network.services]
    text = f"{network.vpcs[0]}: {', '.join((GATEWAY, *INTERFACES))} are reached by endpoints, and no index of packages"
    advice = "give --image of your own that has what the dry run lists" + (
        f"; without {', '.join(slower)} a start takes longer" * bool(slower)
    )
    return Check(title, CheckStatus.WARNING, text, advice)


def _endpoints_advice(services: Sequence[str] | dict[str, str]) -> str:
    return f"`{command('doctor', '--cloudformation', 'network')}` prints a template with endpoints for {', '.join(services)}"


def _any_account(resource: str) -> str:
    return masked(resource).replace("*" * 12, "*").replace("/outrider-doctor", "/*")
