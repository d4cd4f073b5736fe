"""What a load script is told of its endpoint: address, targets, and the tensors of their models. Read from the environment of the job."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .tensors import BadTensorError, TensorValue, tensor_of


@dataclass(frozen=True)
class TensorShape:
    """A tensor of a model, as declared: `shape` without the batch dimension, -1 where a size is free."""

    name: str
    datatype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class ServedModel:
    """What requests to a model look like.

    Args:
        inputs, outputs: as declared.
        max_batch_size: rows of a request at most; 0 where tensors have no batch dimension.
        reference_inputs, reference_outputs: what was run when the model was packaged; empty where nothing was.
        absolute, relative: how far outputs may be off.
    """

    inputs: tuple[TensorShape, ...]
    outputs: tuple[TensorShape, ...]
    max_batch_size: int = 0
    reference_inputs: tuple[TensorValue, ...] = ()
    reference_outputs: tuple[TensorValue, ...] = ()
    absolute: float = 1e-4
    relative: float = 1e-3


@dataclass(frozen=True)
class LoadTarget:
    """One model that can be called: `name` is sent as the target model, None on an endpoint of one model; `model`: of which package."""

    name: str | None
    model: str


@dataclass(frozen=True)
class CalledEndpoint:
    """The endpoint under load.

    Args:
        url: where an invocation is posted; `region`: to sign for, empty where requests are not signed; `key`: shown instead, may be empty.
        targets: at least one; `models`: by the name of their package.
        status_url: where it tells of itself; empty where it does not.
        server, platform, instance_type: what it is, for tables.
        shares_cores: whether this client runs on the cores of the server.
    """

    url: str
    targets: tuple[LoadTarget, ...]
    models: Mapping[str, ServedModel]
    region: str = ""
    key: str = field(default="", repr=False)
    status_url: str = ""
    server: str = ""
    platform: str = ""
    instance_type: str = ""
    shares_cores: bool = False

    @property
    def parts(self) -> urllib.parse.SplitResult:
        """The address in parts."""
        return urllib.parse.urlsplit(self.url)


def announced(environ: Mapping[str, str]) -> CalledEndpoint:
    """Return the endpoint that the environment tells of.

    Args:
        environ: of the job: OUTRIDER_ENDPOINT_URL and OUTRIDER_ENDPOINT_TARGETS (a JSON file); OUTRIDER_ENDPOINT_REGION, _KEY, _STATUS_URL.

    Raises:
        SystemExit: a variable is missing, or the file cannot be read.
    """
    url, path = environ.get("OUTRIDER_ENDPOINT_URL", ""), environ.get("OUTRIDER_ENDPOINT_TARGETS", "")
    if not url or not path:
        raise SystemExit(
            "endpoint_load.py: no endpoint is told of (OUTRIDER_ENDPOINT_URL and OUTRIDER_ENDPOINT_TARGETS are set by whoever serves one); "
            "give the benchmark a block `endpoint`, or set both"
        )
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SystemExit(f"OUTRIDER_ENDPOINT_URL={url!r}: it must begin with http:// or https:// and name a host")
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8"))
        models = {name: _model(name, one) for name, one in held["packages"].items()}
        targets = tuple(LoadTarget(one["target"], one["package"]) for one in held["targets"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SystemExit(f"OUTRIDER_ENDPOINT_TARGETS={path}: it cannot be used ({type(error).__name__}: {error})") from error
    unknown = sorted({one.model for one in targets} - models.keys())
    if not targets or unknown:
        raise SystemExit(
            f"OUTRIDER_ENDPOINT_TARGETS={path}: " + (f"no package is called {unknown[0]!r}" if unknown else "there is no target")
        )
    words = {name: str(held.get(name) or "") for name in ("server", "platform", "instance_type")}
    return CalledEndpoint(
        url,
        targets,
        models,
        region=environ.get("OUTRIDER_ENDPOINT_REGION", ""),
        key=environ.get("OUTRIDER_ENDPOINT_KEY", ""),
        status_url=environ.get("OUTRIDER_ENDPOINT_STATUS_URL", ""),
        shares_cores=bool(held.get("client_shares_cores")),
        **words,
    )


def _model(name: str, held: Mapping[str, Any]) -> ServedModel:
    inputs, outputs = (tuple(_shape(one) for one in held.get(side) or ()) for side in ("inputs", "outputs"))
    if not inputs:
        raise ValueError(f"package {name!r} has no inputs")
    reference = held.get("reference") or {}
    tolerance = reference.get("tolerance") or {}
    try:
        given, wanted = (tuple(tensor_of(one) for one in reference.get(side) or ()) for side in ("inputs", "outputs"))
    except BadTensorError as error:
        raise ValueError(f"package {name!r}: its reference: {error}") from error
    absolute, relative = (float(tolerance.get(key, default)) for key, default in (("absolute", 1e-4), ("relative", 1e-3)))
    return ServedModel(inputs, outputs, int(held.get("max_batch_size") or 0), given, wanted, absolute, relative)


def _shape(held: Mapping[str, Any]) -> TensorShape:
    return TensorShape(str(held["name"]), str(held["datatype"]), tuple(int(size) for size in held["shape"]))
