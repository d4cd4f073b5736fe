"""Ways of writing a checkpoint: one row a kind says where it goes, who writes it, and what has to be installed. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CLIENTS = ("s3torchconnector", "boto3")
"""Who puts a checkpoint of kind `s3` into the store."""

SHARDINGS = ("ddp", "fsdp_full", "fsdp_hybrid")
"""How parameters lie on ranks: all on each; a part on each; a part on each of a group, and each group has all."""


@dataclass(frozen=True)
class CheckpointKind:
    """One way of writing a checkpoint.

    Args:
        name: the user's word.
        writer: `torch` (torch.save, by the first rank), `dcp` (torch.distributed.checkpoint, by all ranks) or `lightning`; empty for none.
        in_s3: whether it goes to an object store; else to a disk.
        packages: what it imports beside torch, as packages are called where they are imported.
        extra: of Outrider, with which those are installed.
        about: what it does, in a few words.
    """

    name: str
    writer: str
    in_s3: bool = False
    packages: tuple[str, ...] = ()
    extra: str = ""
    about: str = ""


KINDS: Mapping[str, CheckpointKind] = {
    one.name: one
    for one in (
        CheckpointKind("none", "", about="nothing is saved"),
        CheckpointKind("disk", "torch", about="torch.save to a file, whole or not at all"),
        CheckpointKind("s3", "torch", True, ("s3torchconnector",), "demo", "torch.save to an object, as a stream or by boto3 in parts"),
        CheckpointKind("dcp_disk", "dcp", about="torch.distributed.checkpoint: each rank writes files of its own"),
        CheckpointKind("dcp_s3", "dcp", True, ("s3torchconnector", "tenacity"), "checkpoints", "the same to objects"),
        CheckpointKind("lightning_disk", "lightning", False, ("lightning",), "lightning", "Lightning's CheckpointIO to a file"),
        CheckpointKind(
            "lightning_s3",
            "lightning",
            True,
            ("lightning", "s3torchconnector"),
            "lightning",
            "the S3 connector's CheckpointIO to an object",
        ),
    )
}
"""All of them, by name."""


def packages_of(kind: CheckpointKind, client: str = "") -> tuple[str, ...]:
    """Return what a kind imports beside torch.

    Args:
        kind: of `KINDS`.
        client: of `CLIENTS`, for kind `s3`.
    """
    return ("boto3",) if kind.name == "s3" and client == "boto3" else kind.packages
