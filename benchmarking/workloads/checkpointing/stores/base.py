"""What a writer of checkpoints is."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class StoreOptions:
    """What a writer is made with.

    Args:
        place: a folder, or an `s3://` prefix.
        threads: files or parts that a rank writes at once.
        fsync: whether a save is over only when the device has it.
        client: of kind `s3`.
        rank, world: of this process, and how many there are.
        environ: of the job.
    """

    place: str
    threads: int = 1
    fsync: bool = True
    client: str = "s3torchconnector"
    rank: int = 0
    world: int = 1
    environ: Mapping[str, str] = field(default_factory=dict)


class CheckpointWriter(Protocol):
    """Saves a state under a name and loads it again. All ranks call each method, in the same order."""

    def save(self, state: Mapping[str, Any], name: str) -> None:
        """Write a state in place of an earlier one of this name; over when it is written, and on the device where that is asked for."""
        ...

    def begin(self, state: Mapping[str, Any], name: str) -> Future[Any]:
        """Begin to write, and return as soon as the state may change; the future is done when `save` would have returned."""
        ...

    def load(self, name: str, like: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a state on the CPU.

        Args:
            name: under which it was saved.
            like: a state of the same shapes, which may be overwritten.
        """
        ...

    def remove(self, name: str) -> None:
        """Delete a state; nothing where there is none."""
        ...

    def stored_bytes(self, name: str) -> int:
        """Return the bytes that a state takes in the store, written by all ranks; asked for on the first rank alone."""
        ...

    def close(self) -> None:
        """End threads and connections."""
        ...


def copied(state: Any, into: Any = None) -> Any:
    """Return a copy of a state on the CPU that does not change with it.

    Args:
        state: tensors, numbers, texts, and mappings and lists of them.
        into: an earlier copy that nobody needs, whose memory is taken where it fits: memory that is there costs a fraction of new memory.
    """
    import torch

    if isinstance(state, torch.Tensor):
        own = state.detach()
        fits = isinstance(into, torch.Tensor) and (into.shape, into.dtype) == (own.shape, own.dtype)
        return into.copy_(own) if fits else own.to("cpu", copy=True)
    if isinstance(state, Mapping):
        known = into if isinstance(into, Mapping) else {}
        return {key: copied(value, known.get(key)) for key, value in state.items()}
    if isinstance(state, list | tuple):
        parts = into if isinstance(into, list | tuple) and len(into) == len(state) else [None] * len(state)
        return type(state)(copied(value, part) for value, part in zip(state, parts, strict=True))
    return state


@contextlib.contextmanager
def whole_file(path: Path, *, fsync: bool) -> Iterator[Any]:
    """Give a binary file that takes the place of an earlier one when the block ends, whole or not at all.

    Args:
        path: of the file, whose folder is made.
        fsync: whether it is on the device then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        yield file
        file.flush()
        if fsync:
            os.fsync(file.fileno())
    part.replace(path)
    if fsync:
        synced_folder(path.parent)


def synced_folder(folder: Path) -> None:
    """Make the names in a folder last; nothing where the file system cannot."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def split(uri: str) -> tuple[str, str]:
    """Return bucket and key of an `s3://` URI."""
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return bucket, key


def region_of(environ: Mapping[str, str]) -> str:
    """Return the region that a job's environment names, else that of S3 where nobody names one."""
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or "us-east-1"
