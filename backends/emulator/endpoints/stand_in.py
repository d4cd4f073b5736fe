"""What stands in here for the container of an endpoint: which server, with how much memory, and where its models are. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backends.emulator.endpoints.resource import HostingResource, main_container
from backends.serving.front.settings import FrontSettings

SERVER_VARIABLE = "OUTRIDER_SERVER"
"""In a container's environment: the server that stands in for its image."""
MEMORY_VARIABLE = "OUTRIDER_MEMORY_BYTES"
"""In a container's environment: bytes that models may take; else all that the instance has."""
USUAL = "ort"
_BY_IMAGE = ((r"tritonserver", "triton"), (r"multi-model|mms|pytorch-inference|mxnet-inference", "mms"))
_START_S, _LOAD_S = 120.0, 300.0
_MODEL = "model.tar.gz"


@dataclass(frozen=True)
class FrontPlaces:
    """Where a front keeps its files, and where it is let in.

    Args:
        work: folder of its own; `log`: file.
        s3_endpoint, region: of the store that its models are in.
        key: by which it knows who may ask.
    """

    work: str
    log: str
    s3_endpoint: str
    region: str
    key: str


def server_of(container: Mapping[str, Any], missing: Callable[[str], str]) -> str:
    """Return the server that stands in for a container's image.

    One that is asked for by name is taken whether it is here or not, so that what is missing is said; an image is stood in for by what is.

    Args:
        container: of a model's request.
        missing: returns why a server cannot run here, empty where it can.
    """
    asked = container.get("Environment", {}).get(SERVER_VARIABLE, "")
    by_image = next((server for pattern, server in _BY_IMAGE if re.search(pattern, container.get("Image", ""))), USUAL)
    if asked and asked != by_image:
        return str(asked)
    return by_image if not missing(by_image) else USUAL


def front_settings(
    endpoint: HostingResource, places: FrontPlaces, instance_memory_bytes: int | None, missing: Callable[[str], str]
) -> FrontSettings:
    """Return how one instance of an endpoint is served.

    Args:
        endpoint: to be served.
        places: of its front.
        instance_memory_bytes: that an instance of its type has; None where that is not known.
        missing: see `server_of`.
    """
    variant = endpoint.variant
    container = main_container(endpoint.models[variant["ModelName"]])
    is_multi = container.get("Mode") == "MultiModel"
    uri = str(container.get("ModelDataUrl", ""))
    given = str(container.get("Environment", {}).get(MEMORY_VARIABLE, ""))
    return FrontSettings(
        work=places.work,
        log=places.log,
        server=server_of(container, missing),
        endpoint=endpoint.name,
        mode="multi" if is_multi else "single",
        model="" if is_multi else _MODEL,
        uri=uri if is_multi else "",
        uris={} if is_multi else {_MODEL: uri},
        s3_endpoint=places.s3_endpoint,
        region=places.region,
        limit_bytes=int(given) if given.isdigit() else instance_memory_bytes,
        key=places.key,
        start_s=float(variant.get("ContainerStartupHealthCheckTimeoutInSeconds", _START_S)),
        load_s=float(variant.get("ModelDataDownloadTimeoutInSeconds", _LOAD_S)),
        variant=str(variant["VariantName"]),
    )
