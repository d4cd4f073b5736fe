"""Reports of a job on this machine from files that its script writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backends.metrics.files.watcher import MetricFiles
from backends.reports import FROM_FILES, Report
from definitions.file_source import FileSource

_EVERY_S = 0.25
_MOST_SHARE = 0.05
"""Part of the time that reading may take; large folders are looked at less often."""


class FileReports:
    """The reports in one job's files, numbered in the order in which they are found.

    Args:
        sources: what is read.
        folder: where the job starts.
        places: what `${place}` in a path stands for.
        cpu_clock: seconds, to measure what reading takes.
    """

    def __init__(
        self, sources: Sequence[FileSource], folder: str, places: Mapping[str, str], cpu_clock: Callable[[], float] = time.thread_time
    ) -> None:
        self._files = MetricFiles(sources, folder, places)
        self._cpu_clock = cpu_clock
        self._next_at = 0.0
        self.delivered = 0
        self._files.begin()

    def read(self, now: float) -> list[Report]:
        """Return the reports that have come since, unless it was looked a moment ago."""
        if now < self._next_at:
            return []
        begun_s = self._cpu_clock()
        found = self._files.read()
        self._next_at = now + max(_EVERY_S, (self._cpu_clock() - begun_s) / _MOST_SHARE)
        return self._reports(found)

    def finish(self, is_whole: bool) -> list[Report]:
        """Return what is left; `is_whole` says whether the script ended by itself."""
        return self._reports(self._files.finish(is_whole))

    def problems(self) -> list[str]:
        """Return a sentence for each source that gave less than it should have."""
        return self._files.problems()

    def _reports(self, found: Sequence[Mapping[str, Any]]) -> list[Report]:
        reports = [Report(metrics, FROM_FILES + self.delivered + place) for place, metrics in enumerate(found)]
        self.delivered += len(reports)
        return reports
