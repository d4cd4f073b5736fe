"""What a job's log says of how far it is: lines of its reporter, or else what an expression finds; in bounded number. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backends.metrics.progress_lines import Count, ProgressLines
from backends.progress import ProgressLine, read_progress
from definitions.metrics import ProgressSources

_APART_S = (0.1, 10.0)
_SHARE = 0.05
"""What has no time of its own is told so many seconds apart, and by this share of the time of the loop, as the reporter does."""


class ProgressIntake:
    """Gathers the progress of one job.

    Args:
        sources: where it is found beside the reporter's lines.
    """

    def __init__(self, sources: ProgressSources) -> None:
        self.lines = ProgressLines(sources) if sources else None
        self._told: list[ProgressLine] = []
        self._newest = (0, -1)
        self._found: Count | None = None
        self._life = 0
        self._number = 0
        self._from_s: float | None = None
        self._next_s = 0.0
        self._reports = False

    def say(self, said: Mapping[str, Any], incarnation: int) -> None:
        """Take the object of a reporter's line; one that is read again, or comes after later ones, says nothing new."""
        found = read_progress(said, incarnation)
        if found is not None and (found.incarnation, found.number) > self._newest:
            self._newest = found.incarnation, found.number
            self._told.append(found)
            # Who counts steps for its throughput does not say how far it is, and its own lines may.
            self._reports = self._reports or not found.by_step

    def look(self, text: str, incarnation: int) -> None:
        """Look for counters in a line that is not the reporter's."""
        if self.lines is None or self._reports:
            return
        if incarnation > self._life:
            self.lines.begin_anew()
            self._life, self._number, self._from_s, self._next_s = incarnation, 0, None, 0.0
        self._found = self.lines.take(text) or self._found

    def take(self, elapsed_s: float) -> list[ProgressLine]:
        """Return what is new since the last call.

        Args:
            elapsed_s: seconds since the script began, which is when the newest line was printed.
        """
        told, self._told = self._told, []
        found = self._found
        if found is None or self._reports:
            return told
        if self._from_s is None:
            self._from_s = elapsed_s
        if elapsed_s < self._next_s and found.done != found.total:
            return told
        least_s, most_s = _APART_S
        self._next_s = elapsed_s + min(max(least_s, _SHARE * (elapsed_s - self._from_s)), most_s)
        self._found = None
        told.append(ProgressLine(found.done, found.total, elapsed_s, incarnation=self._life, number=self._number, at_most=found.at_most))
        self._number += 1
        return told
