"""What an endpoint serves, and how: packages of models, the targets made of them, and the key by which two deployments are one.

Frozen data of the standard library alone, as it is read by the planning, by back-ends, and by the programs that serve.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

MODES = ("single", "multi")
SERVERS = ("ort", "triton", "mms")
PLATFORMS = ("onnx", "pt", "trt")
SERVED: Mapping[str, tuple[str, ...]] = {"ort": ("onnx",), "triton": ("onnx", "pt"), "mms": ("onnx", "pt")}
"""Which platforms a server of this machine serves; `trt` needs a GPU and TensorRT."""

DATATYPES: Mapping[str, int] = {
    "BOOL": 1, "UINT8": 1, "UINT16": 2, "UINT32": 4, "UINT64": 8, "INT8": 1, "INT16": 2, "INT32": 4, "INT64": 8, "FP16": 2, "FP32": 4,
    "FP64": 8,
}  # fmt: skip
"""Data types of tensors by the names of the KServe v2 protocol, with the bytes of one value."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Tensor:
    """An input or output of a model.

    Args:
        name: as the model calls it.
        datatype: one of `DATATYPES`.
        shape: without the batch dimension; -1 where it is free.
    """

    name: str
    datatype: str
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.datatype not in DATATYPES:
            raise ValueError(f"tensor {self.name!r} has the data type {self.datatype!r}; known: {', '.join(DATATYPES)}")


@dataclass(frozen=True)
class ModelPackage:
    """A model as servers load it: an archive of `<name>/config.pbtxt` and `<name>/1/...`.

    Args:
        name: of the model, without `.tar.gz`.
        path: of the archive on this machine; empty where it is in S3 alone.
        uri: `s3://...` where it is there already; else empty.
        sha256: of the archive, in hexadecimal digits; of its address and version where it is in S3 alone.
        platform: one of `PLATFORMS`.
        inputs, outputs: of the model.
        max_batch_size: most samples of a request; 0 where the model has no batch dimension.
        reference: path of a JSON file with inputs and what the model has to answer to them (`inputs` and `outputs` as tensors of the v2
            protocol, `tolerance` with `absolute` and `relative`); empty where there is none.
    """

    name: str
    path: str
    uri: str
    sha256: str
    platform: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    max_batch_size: int
    reference: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name of a package: letters, digits and `_ . -` are, from a letter or digit on")


@dataclass(frozen=True)
class EndpointTarget:
    """What an invocation is addressed to: a copy of a package; `name` is None where the endpoint serves one model alone."""

    name: str | None
    package: ModelPackage


@dataclass(frozen=True)
class Deployment:
    """An endpoint: what it serves, by which server, on what.

    Args:
        packages: distinct ones, by name too.
        mode: `single`, one model that is always loaded; `multi`, targets that are loaded when they are called.
        server: one of `SERVERS`.
        copies: how many targets are made of the packages, in turn; 1 in mode `single`.
        instance_type: e.g. `local.2cpu`, `ml.g4dn.xlarge`; `instance_count`: how many.
        max_batch_size: most samples that the server puts together; None for those of the packages.
        batch_delay_ms: for how long the server waits for more of them; 0 to put none together.
        server_threads: that compute one answer; None for the server's default.
        memory_bytes: that models may take; None for what the instance has.
        client_cores: of this machine for the load; 0 to share the server's.
        deploy_s: that the endpoint may take until it serves, in seconds.
        existing: name of an endpoint that is neither made nor deleted; empty to make one.
    """

    packages: tuple[ModelPackage, ...]
    mode: str
    server: str
    copies: int
    instance_type: str
    instance_count: int = 1
    max_batch_size: int | None = None
    batch_delay_ms: float = 0.0
    server_threads: int | None = None
    memory_bytes: int | None = None
    client_cores: int = 1
    deploy_s: float = 1800.0
    existing: str = ""

    def __post_init__(self) -> None:
        names = [package.name for package in self.packages]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two packages are called {', '.join(twice)}; targets are told apart by name")
        if not names and not self.existing:
            raise ValueError("a deployment needs a package, or an endpoint that exists")
        if self.mode not in MODES or self.server not in SERVERS:
            raise ValueError(f"there is no mode {self.mode!r} with server {self.server!r}; modes: {MODES}, servers: {SERVERS}")
        if self.mode == "single" and (self.copies != 1 or len(names) > 1):
            raise ValueError(f"mode single serves one model once, and not {self.copies} of {len(names)}")
        if self.copies < 1:
            raise ValueError(f"{self.copies} copies cannot be called")

    @property
    def key(self) -> str:
        """What needs another deployment, in hexadecimal digits: equal keys can be served one after the other by one endpoint.

        Copies in mode `multi`, the client and limits of time are no part of it.
        """
        given = asdict(self)
        for name in ("copies", "client_cores", "deploy_s"):
            given.pop(name)
        # Where an archive lies is no matter, and what it has to answer is for clients.
        given["packages"] = [[one.name, one.sha256, one.platform] for one in self.packages]
        return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()

    @property
    def targets(self) -> tuple[EndpointTarget, ...]:
        """What can be called: in mode `multi` `<name>-v<i>.tar.gz`, `i` from 0 in each package, of each package in turn.

        The targets of fewer copies are the first ones of those of more, so that copies are added without a change of the others.
        """
        if self.mode == "single":
            return tuple(EndpointTarget(None, package) for package in self.packages)
        count = len(self.packages)
        chosen = ((self.packages[number % count], number // count) for number in range(self.copies if count else 0))
        return tuple(EndpointTarget(f"{package.name}-v{number}.tar.gz", package) for package, number in chosen)


def deployment_document(deployment: Deployment) -> dict[str, Any]:
    """Return a deployment as JSON has it."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(deployment)))
    return found


def read_deployment(document: Mapping[str, Any]) -> Deployment:
    """Return the deployment of a document that `deployment_document` made; raises ValueError, TypeError or KeyError for another."""
    packages = tuple(
        ModelPackage(**{**one, "inputs": _tensors(one["inputs"]), "outputs": _tensors(one["outputs"])}) for one in document["packages"]
    )
    return Deployment(**{**document, "packages": packages})


def _tensors(documents: list[Mapping[str, Any]]) -> tuple[Tensor, ...]:
    return tuple(Tensor(one["name"], one["datatype"], tuple(one["shape"])) for one in documents)
