"""Takes a job's output: copies it to the log and finds the reports in it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from backends.reports import Report, ReportParser
from definitions.metrics import NO_SOURCES, MetricSources

CHUNK_BYTES = 65536
"""Most bytes taken at a time, so that a talkative job does not keep others waiting."""


class Output:
    """The reading end of a job's pipe.

    Args:
        descriptor: the pipe, not blocking; closed with `close`.
        log: the file that everything is appended to. A log that cannot be written ends nothing: the lost bytes are counted.
        sources: where metrics are found beside reports.
    """

    def __init__(self, descriptor: int, log: Path, sources: MetricSources = NO_SOURCES) -> None:
        self.descriptor = descriptor
        self.parser = ReportParser(sources=sources)
        self.at_end = False
        self.lost_bytes = 0
        try:
            self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            self._log = -1

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
        if self._log >= 0:
            with contextlib.suppress(OSError):
                os.close(self._log)
        return found

    def _copy(self, chunk: bytes) -> None:
        rest = memoryview(chunk)
        try:
            while rest and self._log >= 0:
                rest = rest[os.write(self._log, rest) :]
        except OSError:
            pass
        self.lost_bytes += len(rest)
