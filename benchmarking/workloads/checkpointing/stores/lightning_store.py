"""Lightning's CheckpointIO, as its Trainer calls it: to a file, or to an object through the S3 connector."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from .base import StoreOptions, region_of, split, synced_folder


class LightningStore:
    """A file or an object a checkpoint, by the first rank.

    Lightning syncs nothing; where that is asked for it is done after its own saving, which is part of the save's time.
    """

    def __init__(self, options: StoreOptions) -> None:
        self._options = options
        self._io: Any = None
        self._behind: Any = None

    def save(self, state: Mapping[str, Any], name: str) -> None:
        """Write the first rank's state; the others have nothing to do."""
        if self._options.rank == 0:
            self._checkpoint_io().save_checkpoint(dict(state), self._at(name))

    def begin(self, state: Mapping[str, Any], name: str) -> Future[Any]:
        """Have Lightning's AsyncCheckpointIO copy the state and write the copy in its thread."""
        done: Future[Any] = Future()
        if self._options.rank:
            done.set_result(None)
            return done
        from lightning.pytorch.plugins.io import AsyncCheckpointIO

        io = self._checkpoint_io()
        if self._behind is None:
            self._behind = AsyncCheckpointIO(_Told(io))
        self._behind.checkpoint_io.awaited.append(done)
        self._behind.save_checkpoint(dict(state), self._at(name))
        return done

    def load(self, name: str, like: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read it, on each rank that asks."""
        found: Mapping[str, Any] = self._checkpoint_io().load_checkpoint(self._at(name), map_location="cpu", weights_only=True)
        return found

    def remove(self, name: str) -> None:
        """Delete it."""
        if self._options.rank == 0:
            self._checkpoint_io().remove_checkpoint(self._at(name))

    def stored_bytes(self, name: str) -> int:
        """Return its size."""
        at = self._at(name)
        return int(self._checkpoint_io()._client.head_object(*split(at)).size) if self._in_s3 else Path(at).stat().st_size

    def close(self) -> None:
        """End Lightning's thread, and remove the folder where nothing is left in it."""
        if self._behind is not None:
            self._behind.teardown()
        if self._options.rank == 0 and not self._in_s3:
            with contextlib.suppress(OSError):
                Path(self._options.place).rmdir()

    @property
    def _in_s3(self) -> bool:
        return self._options.place.startswith("s3://")

    def _at(self, name: str) -> str:
        return f"{self._options.place}/{name}.ckpt"

    def _checkpoint_io(self) -> Any:
        if self._io is None:
            environ = self._options.environ
            if self._in_s3:
                from s3torchconnector.lightning import S3LightningCheckpoint

                endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or None
                self._io = S3LightningCheckpoint(region_of(environ), endpoint=endpoint)
            else:
                from lightning.pytorch.plugins.io import TorchCheckpointIO

                self._io = _Synced(TorchCheckpointIO()) if self._options.fsync else TorchCheckpointIO()
        return self._io


class _Synced:
    """A CheckpointIO whose files are on the device when it is done."""

    def __init__(self, io: Any) -> None:
        self._io = io

    def __getattr__(self, name: str) -> Any:
        return getattr(self._io, name)

    def save_checkpoint(self, checkpoint: Any, path: str) -> None:
        self._io.save_checkpoint(checkpoint, path)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        synced_folder(Path(path).parent)


class _Told:
    """A CheckpointIO that tells when it is done and whether it failed, as Lightning's thread does not."""

    def __init__(self, io: Any) -> None:
        self._io = io
        self.awaited: deque[Future[Any]] = deque()  # in the order of the saves, which is that of the thread

    def save_checkpoint(self, *arguments: Any, **options: Any) -> None:
        done = self.awaited.popleft()
        try:
            self._io.save_checkpoint(*arguments, **options)
        except Exception as error:  # noqa: BLE001 (who waits for it hears of it)
            done.set_exception(error)
        else:
            done.set_result(None)
