"""torch.save to a file, by the first rank."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .base import StoreOptions, whole_file
from .threaded import ThreadedStore


class TorchFile(ThreadedStore):
    """A file a checkpoint."""

    def __init__(self, options: StoreOptions) -> None:
        super().__init__(options)
        self._folder = Path(options.place)

    def save(self, state: Mapping[str, Any], name: str) -> None:
        """Write the first rank's state; the others have nothing to do."""
        import torch

        if self._options.rank == 0:
            with whole_file(self._path(name), fsync=self._options.fsync) as file:
                torch.save(dict(state), file)

    def load(self, name: str, like: Mapping[str, Any]) -> Mapping[str, Any]:
        """Read it, on each rank that asks."""
        import torch

        found: Mapping[str, Any] = torch.load(self._path(name), map_location="cpu", weights_only=True)
        return found

    def remove(self, name: str) -> None:
        """Delete the file."""
        if self._options.rank == 0:
            self._path(name).unlink(missing_ok=True)

    def stored_bytes(self, name: str) -> int:
        """Return the size of the file."""
        return self._path(name).stat().st_size

    def close(self) -> None:
        """End the thread, and remove the folder where nothing is left in it."""
        super().close()
        if self._options.rank == 0:
            with contextlib.suppress(OSError):
                self._folder.rmdir()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.pt"
