"""What a VPC means for the jobs in it, those of trials and those of controllers: one check for each. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from backends.checks import Check, CheckStatus
from backends.sagemaker.aws.errors import CallFailure, FailureKind
from backends.sagemaker.aws.network_lookups import JobNetwork
from backends.sagemaker.aws.network_needs import GATEWAY, HELPFUL, INTERFACES
from definitions.program import command


@dataclass(frozen=True)
class NetworkUsers:
    """Jobs that are in one VPC.

    Args:
        whose: what they are called.
        interfaces: services that they call there, beside S3.
        helpful: likewise such that they do without.
        otherwise: what becomes of them where those are not reached.
        unpacked: what to do where they reach no index of packages, from which they install; empty where they install nothing.
    """

    whose: str
    interfaces: tuple[str, ...]
    helpful: tuple[str, ...]
    otherwise: str
    unpacked: str


CONTROLLERS = NetworkUsers(
    "controllers", INTERFACES, HELPFUL, "controllers would hang", "give --image of your own that has what the dry run lists"
)


def trials(*, installs: bool) -> NetworkUsers:
    """Return jobs of trials, which get code and data from S3; what they print SageMaker itself brings to the logs.

    Args:
        installs: whether their source has a requirements.txt.
    """
    unpacked = "give `image` of your own that has what requirements.txt lists, and leave that file out" if installs else ""
    return NetworkUsers("jobs", (), (), "jobs would get neither code nor data", unpacked)


def check_network(network: JobNetwork | CallFailure | None, users: NetworkUsers) -> Check:
    """Return the check of the network of jobs.

    Args:
        network: what it leads to, or why that cannot be told; None where they are in no VPC.
        users: the jobs.
    """
    title = f"{users.whose}' network"
    if network is None:
        return Check(title, CheckStatus.OK, "in no VPC of yours: AWS and the index of packages are reached")
    if isinstance(network, CallFailure):
        if network.kind is FailureKind.DENIED:
            text = f"could not be looked up: {network.operation} is not allowed"
            return Check(title, CheckStatus.UNKNOWN, text, _endpoints_advice((GATEWAY, *users.interfaces)))
        return Check(title, CheckStatus.UNKNOWN, str(network), network.advice)
    if network.missing:
        return Check(title, CheckStatus.FAILED, f"there is no {', '.join(network.missing)} in this account and region", "check the ids")
    if len(network.vpcs) > 1:
        text = f"subnets and security groups are of several VPCs: {', '.join(network.vpcs)}"
        return Check(title, CheckStatus.FAILED, text, "give those of one")
    if network.is_shut:
        text = "its security groups let nothing out to port 443, where all of AWS is"
        return Check(title, CheckStatus.FAILED, text, "allow TCP 443 to go out")
    return _reach(title, network, users)


def _reach(title: str, network: JobNetwork, users: NetworkUsers) -> Check:
    """Return whether what jobs call can be reached, by endpoints or by a way out."""
    is_out = not network.without_way_out
    bad = {service: "has no endpoint" for service in (GATEWAY, *users.interfaces) if service not in network.services}
    bad |= dict.fromkeys(sorted(network.unnamed & {*users.interfaces}), "has an endpoint without private DNS")
    bad |= {GATEWAY: f"has an endpoint that {', '.join(network.without_gateway)} does not lead to"} if network.without_gateway else {}
    # Where an endpoint has the usual name nothing else is asked, not even where there is a way out.
    closed = sorted((network.closed - network.unnamed) & {*users.interfaces})
    bad = ({} if is_out else bad) | dict.fromkeys(closed, "has an endpoint whose security groups let no controller in")
    if bad:
        where = "" if is_out else f", and nothing leads from {', '.join(network.without_way_out)} to the internet"
        text = "; ".join(f"{service} {why}" for service, why in bad.items())
        return Check(title, CheckStatus.FAILED, f"{text}{where}: {users.otherwise}", _endpoints_advice(bad))
    if is_out:
        return Check(title, CheckStatus.OK, f"{network.vpcs[0]}: all is reached, by a way out or an endpoint")
    needed = (GATEWAY, *users.interfaces)
    reached = f"{network.vpcs[0]}: {', '.join(needed)} {'is' if len(needed) == 1 else 'are'} reached by endpoint{'s' * (len(needed) > 1)}"
    if not users.unpacked:
        return Check(title, CheckStatus.OK, reached)
    slower = [service for service in users.helpful if service not in network.services]
    advice = users.unpacked + f"; without {', '.join(slower)} a start takes longer" * bool(slower)
    return Check(title, CheckStatus.WARNING, f"{reached}, and no index of packages", advice)


def _endpoints_advice(services: Iterable[str]) -> str:
    return f"`{command('doctor', '--cloudformation', 'network')}` prints a template with endpoints for {', '.join(services)}"
