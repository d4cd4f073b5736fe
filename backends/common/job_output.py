"""Takes a job's output: copies it to the log and finds the reports in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from backends.common.capped_log import CappedLog
from backends.reports import Report, ReportParser
from definitions.metrics import NO_SOURCES, MetricSources

CHUNK_BYTES = 65536
"""Most bytes taken at a time, so that a talkative job does not keep others waiting."""


class Output:
    """The reading end of a job's pipe.

    Args:
        descriptor: the pipe, not blocking; closed with `close`.
        log: the file that everything is appended to.
        sources: where metrics are found beside reports.
        cap_bytes: most bytes that the log may have; None for any number.
        copy: is given all that the log is.
    """

    def __init__(
        self,
        descriptor: int,
        log: Path,
        sources: MetricSources = NO_SOURCES,
        cap_bytes: int | None = None,
        copy: Callable[[bytes], None] | None = None,
    ) -> None:
        self._copy = copy
        self.descriptor = descriptor
        self.parser = ReportParser(sources=sources)
        self.at_end = False
        self.log = CappedLog(log, cap_bytes)

    def take(self, most_chunks: int = 1) -> list[Report]:
        """Take what is there, up to a number of chunks; return the reports in it."""
        found: list[Report] = []
        for _ in range(most_chunks):
            if self.at_end:
                break
            try:
                chunk = os.read(self.descriptor, CHUNK_BYTES)
            except BlockingIOError:
                break
            except OSError:
                # A pipe that cannot be read is at its end; the job itself goes on.
                chunk = b""
            if chunk:
                self.log.write(chunk)
                if self._copy is not None:
                    self._copy(chunk)
                found += self.parser.feed(chunk)
            else:
                self.at_end = True
                found += self.parser.finish()
        return found

    def close(self) -> list[Report]:
        """Release the descriptors; return the report in a last line without an end, if there is one."""
        found = [] if self.at_end else self.parser.finish()
        os.close(self.descriptor)
        self.log.close()
        return found
