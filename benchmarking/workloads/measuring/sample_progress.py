"""How many samples of a whole job are behind it, as forecasts of its beginning want to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class SampleProgress:
    """Says after each batch how many samples of the whole job are behind it.

    Args:
        of_epoch: samples of one; 0 where that is not known before the first is over.
        epochs: of the job.
        say: called with how many are done, how many there will be, and how many at most.
        is_bounded: whether the job may end before, by its time.
    """

    def __init__(self, of_epoch: int, epochs: int, say: Callable[[float, float | None, float | None], Any], *, is_bounded: bool) -> None:
        self._of_epoch, self._epochs, self._say, self._bounded = of_epoch, epochs, say, is_bounded
        self._done = self._before = 0
        self._epoch = 0

    @property
    def epoch(self) -> int:
        """The epoch that is under way, from 0."""
        return self._epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        if epoch:
            self._of_epoch = self._done // epoch  # what came in fact, without those that were skipped
        self._epoch = epoch

    def stepped(self, samples: int) -> None:
        """Count a batch."""
        self._done += samples
        whole = max(self._of_epoch * self._epochs, self._done) if self._of_epoch else None
        self._say(self._done, None if self._bounded else whole, whole if self._bounded else None)
