"""A model, an endpoint configuration or an endpoint as the emulator keeps it, and as Describe and List show it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from backends.emulator.core.settings import Settings
from backends.emulator.endpoints.life import EndpointLife


class _Names(NamedTuple):
    operation: str
    part: str


NAMES = {
    "model": _Names("Model", "model"),
    "config": _Names("EndpointConfig", "endpoint-config"),
    "endpoint": _Names("Endpoint", "endpoint"),
}
"""By kind: what operations call it, and what ARNs do."""


@dataclass
class HostingResource:
    """One of them.

    Args:
        kind: `model`, `config` or `endpoint`.
        number: in the order of creation.
        request: what it was made of, without its tags.
        created_at: in seconds since the epoch.
        life: of an endpoint; None for the others.
        config: of an endpoint: the configuration as it was at its creation; `models`: those that it names, by name.
    """

    kind: str
    name: str
    number: int
    request: dict[str, Any]
    tags: dict[str, str]
    created_at: float
    life: EndpointLife | None = None
    config: dict[str, Any] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def variant(self) -> dict[str, Any]:
        """The endpoint's production variant."""
        found: dict[str, Any] = self.config["ProductionVariants"][0]
        return found

    @property
    def instance_type(self) -> str:
        """The endpoint's instance type; empty for one without instances of its own."""
        return str(self.variant.get("InstanceType", ""))

    @property
    def instance_count(self) -> int:
        """How many instances the endpoint has."""
        return int(self.variant.get("InitialInstanceCount", 1))

    @property
    def modified_at(self) -> float:
        """When it was last changed, in seconds since the epoch."""
        return self.created_at if self.life is None else self.life.modified_at


def to_json(resource: HostingResource) -> dict[str, Any]:
    """Return what `from_json` makes the same resource of."""
    return asdict(resource)


def from_json(data: Mapping[str, Any]) -> HostingResource:
    """Return the resource that `to_json` was given."""
    life = data["life"]
    return HostingResource(**{**data, "life": None if life is None else EndpointLife(**life)})


def arn(kind: str, name: str, settings: Settings) -> str:
    """Return the ARN of one; names are in lower case in it."""
    return f"arn:aws:sagemaker:{settings.region}:{settings.account}:{NAMES[kind].part}/{name.lower()}"


def described(resource: HostingResource, settings: Settings, ahead_s: float) -> dict[str, Any]:
    """Return what Describe shows.

    Args:
        resource: to be shown.
        settings: of the emulator.
        ahead_s: how far the service's clock is ahead, in seconds.
    """
    found = {**resource.request, **_named(resource, settings, ahead_s)}
    if resource.kind == "model":
        found.setdefault("EnableNetworkIsolation", False)
    if resource.kind == "config":
        usual = {"InitialVariantWeight": 1.0}
        found["ProductionVariants"] = [{**usual, **variant} for variant in resource.request["ProductionVariants"]]
        found.setdefault("EnableNetworkIsolation", False)
    life = resource.life
    if life is not None:
        found |= _state(resource, life, ahead_s)
        found.pop("DeploymentConfig", None)
        if life.status == "Failed" and life.reason:
            found["FailureReason"] = life.reason
        if life.status in ("InService", "Deleting") and life.served_from is not None:
            found["ProductionVariants"] = [_deployed(resource, life.served_from + ahead_s)]
    return found


def listed(resource: HostingResource, settings: Settings, ahead_s: float) -> dict[str, Any]:
    """Return what List shows; arguments as for `described`."""
    found = _named(resource, settings, ahead_s)
    return found if resource.life is None else {**found, **_state(resource, resource.life, ahead_s)}


def _named(resource: HostingResource, settings: Settings, ahead_s: float) -> dict[str, Any]:
    name = NAMES[resource.kind].operation
    return {
        f"{name}Name": resource.name,
        f"{name}Arn": arn(resource.kind, resource.name, settings),
        "CreationTime": resource.created_at + ahead_s,
    }


def _state(resource: HostingResource, life: EndpointLife, ahead_s: float) -> dict[str, Any]:
    return {"EndpointStatus": life.status, "LastModifiedTime": resource.modified_at + ahead_s}


def _deployed(resource: HostingResource, since: float) -> dict[str, Any]:
    variant = resource.variant
    weight = variant.get("InitialVariantWeight", 1.0)
    container = main_container(resource.models[variant["ModelName"]])
    image = container.get("Image", "")
    return {
        "VariantName": variant["VariantName"],
        "DeployedImages": [{"SpecifiedImage": image, "ResolvedImage": image, "ResolutionTime": since}],
        "CurrentWeight": weight,
        "DesiredWeight": weight,
        "CurrentInstanceCount": resource.instance_count,
        "DesiredInstanceCount": resource.instance_count,
    }


def main_container(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the container that a model's request names first."""
    containers = model.get("Containers") or [model.get("PrimaryContainer", {})]
    return dict(containers[0])
