"""Where trials keep checkpoints, whichever back-end runs them."""

from __future__ import annotations

import abc
from collections.abc import Sequence


class CheckpointStore(abc.ABC):
    """Where trials keep checkpoints, by key."""

    @abc.abstractmethod
    def copy(self, source: str, target: str) -> None:
        """Copy a checkpoint; one that does not exist copies to nothing."""

    @abc.abstractmethod
    def delete(self, keys: Sequence[str]) -> None:
        """Delete checkpoints; unknown keys are ignored."""

    @abc.abstractmethod
    def exists(self, key: str) -> bool:
        """Return whether the key has a checkpoint that is not empty."""
