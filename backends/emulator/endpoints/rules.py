"""What CreateModel, CreateEndpointConfig and CreateEndpoint refuse beyond the model of their requests. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.emulator.endpoints.resource import main_container
from backends.emulator.endpoints.words import not_imitated
from backends.emulator.http.errors import invalid


def check_model(request: Mapping[str, Any]) -> None:
    """Raise a `ValidationException` where a model breaks a documented rule.

    Args:
        request: CreateModel's, valid by the service's model.
    """
    _check_tags(request)
    if ("PrimaryContainer" in request) == bool(request.get("Containers")):
        raise invalid("You must provide exactly one of PrimaryContainer and Containers.")
    for container in request.get("Containers") or [request["PrimaryContainer"]]:
        if not container.get("Image") and not container.get("ModelPackageName"):
            raise invalid("Either Image or ModelPackageName must be given for a container.")
        if container.get("Mode") == "MultiModel" and not container.get("ModelDataUrl"):
            raise invalid("ModelDataUrl is required for a container in MultiModel mode: the prefix under which its models are.")
        if "ModelDataUrl" in container and "ModelDataSource" in container:
            raise invalid("ModelDataUrl and ModelDataSource cannot be given together.")


def check_config(request: Mapping[str, Any]) -> None:
    """Raise a `ValidationException` where an endpoint configuration breaks a documented rule.

    Args:
        request: CreateEndpointConfig's, valid by the service's model.
    """
    _check_tags(request)
    variants = request["ProductionVariants"]
    names = [variant["VariantName"] for variant in variants]
    if len(set(names)) < len(names):
        raise invalid("Production variants must have unique names.")
    for variant in variants:
        where = f"Production variant {variant['VariantName']}"
        if "ModelName" not in variant and "ExecutionRoleArn" not in request:
            raise invalid(f"{where}: ModelName is required unless the endpoint hosts inference components.")
        if "ServerlessConfig" in variant:
            if "InstanceType" in variant or "InitialInstanceCount" in variant:
                raise invalid(f"{where}: ServerlessConfig cannot be given with InstanceType or InitialInstanceCount.")
        elif "InstancePools" not in variant and ("InstanceType" not in variant or "InitialInstanceCount" not in variant):
            raise invalid(f"{where}: InstanceType and InitialInstanceCount are required.")
    if sum(variant.get("InitialVariantWeight", 1.0) for variant in variants) <= 0:
        raise invalid("At least one production variant must have a weight above 0.")


def check_endpoint(request: Mapping[str, Any], config: Mapping[str, Any], models: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise where an endpoint breaks a documented rule, or is one of a kind that nothing here serves.

    Args:
        request: CreateEndpoint's, valid by the service's model.
        config: the configuration that it names.
        models: that the configuration names, by name.
    """
    _check_tags(request)
    variants = config["ProductionVariants"]
    if len(variants) > 1 or config.get("ShadowProductionVariants"):
        raise not_imitated("endpoints of several production variants")
    if "ServerlessConfig" in variants[0]:
        raise not_imitated("serverless endpoints")
    if "InstancePools" in variants[0] or "ManagedInstanceScaling" in variants[0]:
        raise not_imitated("instance pools and scaling of endpoints")
    if "AsyncInferenceConfig" in config:
        raise not_imitated("asynchronous endpoints")
    if config.get("DataCaptureConfig", {}).get("EnableCapture"):
        raise not_imitated("data capture")
    if "ModelName" not in variants[0]:
        raise not_imitated("inference components")
    for model in models.values():
        if len(model.get("Containers", [])) > 1:
            raise not_imitated("models of several containers")
        container = main_container(model)
        if "ModelPackageName" in container or "ModelDataSource" in container:
            raise not_imitated("model packages and ModelDataSource; give Image and ModelDataUrl")


def _check_tags(request: Mapping[str, Any]) -> None:
    keys = [tag["Key"] for tag in request.get("Tags", [])]
    if len(set(keys)) < len(keys):
        raise invalid("Duplicate tag keys")
    if any(key.lower().startswith("aws:") for key in keys):
        raise invalid("Tag keys that start with aws: are reserved")
