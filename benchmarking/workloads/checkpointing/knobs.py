"""The knobs of checkpoints: what can be set, what is taken where nothing is, and what cannot go together. Standard library only."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from .kinds import CLIENTS, KINDS, SHARDINGS, CheckpointKind

_EVERY = re.compile(r"\s*(\d+)\s*(steps?|epochs?|)\s*")
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


@dataclass(frozen=True)
class Every:
    """How often something is done: after so many `steps`, or `epochs`."""

    count: int
    unit: str

    @classmethod
    def parsed(cls, text: str) -> Every:
        """Return what `50 steps`, `50steps`, `1 epoch` or a number of epochs says; raises `ValueError` where it says nothing."""
        found = _EVERY.fullmatch(str(text))
        if found is None or int(found[1]) < 1:
            raise ValueError(f"{text!r} is no interval: say 50steps, 1epoch, or a number of epochs")
        return cls(int(found[1]), "steps" if found[2].startswith("step") else "epochs")

    def is_due(self, done: int, unit: str) -> bool:
        """Return whether it is done after so many steps or epochs."""
        return unit == self.unit and done > 0 and done % self.count == 0

    def __str__(self) -> str:
        return f"{self.count}{self.unit if self.count > 1 else self.unit.removesuffix('s')}"


@dataclass(frozen=True)
class CheckpointKnobs:
    """How checkpoints are saved.

    Args:
        checkpoint: one of `KINDS`.
        checkpoint_every: see `Every.parsed`.
        checkpoint_async: whether training goes on as soon as the state is copied.
        checkpoint_threads: files or parts that a rank writes at once.
        checkpoint_fsync: whether a save is over only when the device has it; of S3 it always is.
        checkpoint_sharding: one of `SHARDINGS`.
        checkpoint_client: one of `CLIENTS`, for kind `s3`.
        checkpoint_to: folder or `s3://` prefix; empty for the job's own.
    """

    checkpoint: str = "none"
    checkpoint_every: str = "1epoch"
    checkpoint_async: bool = False
    checkpoint_threads: int = 1
    checkpoint_fsync: bool = True
    checkpoint_sharding: str = "ddp"
    checkpoint_client: str = "s3torchconnector"
    checkpoint_to: str = ""

    def __post_init__(self) -> None:
        found = problem(asdict(self))
        if found is not None:
            raise SystemExit(found)

    @property
    def kind(self) -> CheckpointKind:
        """The row of its kind."""
        return KINDS[self.checkpoint]

    @property
    def every(self) -> Every:
        """How often it is saved."""
        return Every.parsed(self.checkpoint_every)

    def recorded(self) -> dict[str, Any]:
        """Return all of them by name, also those that were not given."""
        return {**asdict(self), "checkpoint_every": str(self.every)}


NAMES = tuple(field.name for field in fields(CheckpointKnobs))
"""Of all knobs."""

_DEFAULTS = {field.name: field.default for field in fields(CheckpointKnobs)}


def problem(settings: Mapping[str, Any]) -> str | None:
    """Return why checkpoints cannot be saved as asked for, or None where they can.

    Args:
        settings: knobs by name, `processes` and `instance_count`, and whatever else; knobs that are not there are as by default.
    """
    found = {**_DEFAULTS, **{name: settings[name] for name in NAMES if settings.get(name) is not None}}
    listed: dict[str, Collection[str]] = {
        "checkpoint": KINDS, "checkpoint_sharding": SHARDINGS, "checkpoint_client": CLIENTS,
    }  # fmt: skip
    for name, known in listed.items():
        if found[name] not in known:
            near = difflib.get_close_matches(str(found[name]), known, 1)
            return f"{name} is {found[name]!r}: it is one of {', '.join(known)}" + (f"; did you mean {near[0]}?" if near else "")
    try:
        Every.parsed(found["checkpoint_every"])
        threads = int(found["checkpoint_threads"])
    except ValueError as error:
        return f"checkpoint_every: {error}" if "interval" in str(error) else f"checkpoint_threads: {error}"
    if threads < 1:
        return f"checkpoint_threads is {threads}: it is at least 1"
    return _contradiction(KINDS[found["checkpoint"]], found, threads) or _too_few_ranks(found["checkpoint_sharding"], settings)


def _too_few_ranks(sharding: str, settings: Mapping[str, Any]) -> str | None:
    """Return why so many ranks cannot shard; None where they can, or nobody says how many there are (`processes`, on each host)."""
    if sharding == "ddp" or not str(settings.get("processes", "")).isdigit():
        return None
    ranks = int(settings["processes"]) * int(settings.get("instance_count") or 1)
    if ranks < 2:
        return f"checkpoint_sharding is {sharding}, and there is one rank: use processes of at least 2, or ddp"
    if sharding == "fsdp_hybrid" and ranks % 2:
        return f"checkpoint_sharding is fsdp_hybrid, for two groups of ranks, and there are {ranks}: use an even number"
    return None


def _contradiction(kind: CheckpointKind, found: Mapping[str, Any], threads: int) -> str | None:
    if not kind.writer:
        return None
    client, to = found["checkpoint_client"], found["checkpoint_to"]
    if client == "boto3" and kind.name != "s3":
        return f"checkpoint_client is boto3, which writes checkpoint s3 only, not {kind.name}"
    if threads > 1 and kind.writer != "dcp" and not (kind.name == "s3" and client == "boto3"):
        return f"checkpoint_threads is {threads}, and checkpoint {kind.name} is one stream; use dcp_disk, dcp_s3, or s3 by boto3"
    if to and to.startswith("s3://") != kind.in_s3:
        return f"checkpoint_to is {to}, and checkpoint {kind.name} goes to {'an object store' if kind.in_s3 else 'a disk'}"
    if kind.writer == "lightning" and found["checkpoint_sharding"] != "ddp":
        return f"checkpoint_sharding is {found['checkpoint_sharding']}: Lightning's CheckpointIO writes whole states; use dcp_* or ddp"
    return None


def add_checkpoint_knobs(parser: argparse.ArgumentParser) -> None:
    """Add an option for each knob to a script's parser."""
    for field in fields(CheckpointKnobs):
        kind = flag if isinstance(field.default, bool) else type(field.default)
        parser.add_argument(f"--{field.name}", type=kind, default=field.default, help=_HELP[field.name])


def checkpoint_knobs_from(asked: argparse.Namespace) -> CheckpointKnobs:
    """Return the knobs that a command line asks for; raises `SystemExit` where one cannot be."""
    return CheckpointKnobs(**{field.name: getattr(asked, field.name) for field in fields(CheckpointKnobs)})


def flag(text: str) -> bool:
    """Return what an option that is true or false says; raises `argparse.ArgumentTypeError` where it is neither."""
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")


_HELP = {
    "checkpoint": ", ".join(KINDS),
    "checkpoint_every": "50steps, 1epoch, or a number of epochs",
    "checkpoint_async": "whether training goes on once the state is copied",
    "checkpoint_threads": "files (dcp_*) or parts (s3 by boto3) that a rank writes at once",
    "checkpoint_fsync": "whether a save is over only when the device has it",
    "checkpoint_sharding": ", ".join(SHARDINGS),
    "checkpoint_client": f"of checkpoint s3: {', '.join(CLIENTS)}",
    "checkpoint_to": "folder or s3:// prefix; empty for the job's own",
}
