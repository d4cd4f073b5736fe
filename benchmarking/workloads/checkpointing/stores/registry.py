"""Writers by kind, imported when they are asked for."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from ..kinds import CheckpointKind, packages_of
from .base import CheckpointWriter, StoreOptions

_PLACES = {
    ("torch", False): "torch_file:TorchFile",
    ("torch", True): "torch_object:TorchObject",
    ("dcp", False): "dcp_store:DcpFolder",
    ("dcp", True): "dcp_store:DcpObjects",
    ("lightning", False): "lightning_store:LightningStore",
    ("lightning", True): "lightning_store:LightningStore",
}


def make_store(kind: CheckpointKind, options: StoreOptions) -> CheckpointWriter:
    """Return the writer of a kind.

    Args:
        kind: any but `none`.
        options: what it is made with.

    Raises:
        SystemExit: what it imports is not installed.
    """
    missing = [name for name in packages_of(kind, options.client) if find_spec(name) is None]
    if missing:
        raise SystemExit(f"checkpoint {kind.name} needs what is not installed: pip install {' '.join(missing)}")
    place = _PLACES[kind.writer, kind.in_s3]
    if kind.name == "s3" and options.client == "boto3":
        place = "torch_object:Boto3Object"
    module, _, name = place.partition(":")
    made: CheckpointWriter = getattr(import_module(f".{module}", __package__), name)(options)
    return made
