"""Checkpoints as folders on this machine, one per key."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from backends.checkpoint_store import CheckpointStore
from backends.common.disk import remove_folder
from definitions.files import making_folder

_OWN_FILES = (".outrider-*",)


class LocalCheckpoints(CheckpointStore):
    """Folders `<folder>/<key>/`.

    Args:
        folder: where they are; created when the first one is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._within = f"{folder}/"

    def path(self, key: str) -> Path:
        """Return the folder of a key.

        Raises:
            ValueError: the key is no plain name or relative path.
        """
        return Path(self._text(key))

    def _text(self, key: str) -> str:
        # Asked several times between two jobs, and a `Path` takes ten times as long.
        parts = key.split("/")
        if not key.strip("./") or ".." in parts or not parts[0]:
            raise ValueError(f"checkpoint key {key!r} is no plain name")
        return self._within + key

    def copy(self, source: str, target: str) -> None:
        """Copy a checkpoint in place of the target's; one that does not exist copies to nothing."""
        if source == target:
            return
        self.delete([target])
        if not self.exists(source):
            return
        with making_folder(self.path(target)) as making:
            shutil.copytree(self.path(source), making, symlinks=True, ignore=shutil.ignore_patterns(*_OWN_FILES), dirs_exist_ok=True)

    def create(self, key: str) -> None:
        """Make an empty checkpoint, in place of one that is there."""
        path = self._text(key)
        try:
            os.mkdir(path)  # noqa: PTH102 (between two jobs, so in the cheapest way: the first try succeeds for all but retried trials)
        except FileExistsError:
            self.delete([key])
            os.makedirs(path, exist_ok=True)  # noqa: PTH103 (as above)
        except FileNotFoundError:
            os.makedirs(path, exist_ok=True)  # noqa: PTH103 (as above)

    def delete(self, keys: Sequence[str]) -> None:
        """Delete checkpoints; unknown keys are ignored."""
        for key in keys:
            remove_folder(self._text(key))

    def exists(self, key: str) -> bool:
        """Return whether the key has a checkpoint that is not empty."""
        path = self.path(key)
        return path.is_dir() and any(not item.match(_OWN_FILES[0]) for item in path.iterdir())
