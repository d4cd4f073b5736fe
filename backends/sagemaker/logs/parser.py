"""What the log of a training job says: whose stream it is, its reports, how its script ended. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from backends.reports import FROM_MATCHES, REPORT_MARK, SUMMARY_MARK, Report, ReportParser
from definitions.metrics import NO_SOURCES, MetricSources

GROUP = "/aws/sagemaker/TrainingJobs"
END_MARK = "[outrider-end]:"
"""Begins the last line of a job whose script ran to an end, whatever end; written by the job's own entry point."""

PATTERN = f'?"{REPORT_MARK}" ?"{SUMMARY_MARK}" ?"{END_MARK}"'

_STREAM = re.compile(r"(?P<job>[^/]+)/(?P<host>algo-(?P<number>\d+))(?:-(?P<since>\d+))?")


@dataclass(frozen=True)
class StreamName:
    """A log stream's name, taken apart: `job/algo-<number>-<since>`; `since` tells lives of one host apart."""

    job: str
    number: int
    since: int


def stream_name(text: str) -> StreamName | None:
    """Return the parts of a stream's name; None for one that is no training job's."""
    match = _STREAM.match(text)
    return None if match is None else StreamName(match["job"], int(match["number"]), int(match["since"] or 0))


@dataclass(frozen=True)
class ScriptEnd:
    """How one life of a script ended, and when its last line was printed, by the service's clock, and what it took by itself."""

    exit_code: int
    printed_at: float
    measured: Mapping[str, Any] = field(default_factory=dict)


class JobLog:
    """What the log of one job has said so far.

    Args:
        received: (incarnation, sequence) of reports that an earlier controller has recorded.
        sources: where metrics are found beside reports.
    """

    def __init__(self, received: Collection[tuple[int, int]] = (), sources: MetricSources = NO_SOURCES) -> None:
        self._received = set(received)
        self._parser = ReportParser(sources=sources)
        self._lives: list[int] = []
        self._ids: set[str] = set()
        self.streams: set[str] = set()
        self.first_ms: int | None = None
        self._ends: dict[int, ScriptEnd] = {}
        self.delivered = len(self._received)

    @property
    def life(self) -> int:
        """Which life of the script the newest stream belongs to."""
        return max(0, len(self._lives) - 1)

    def end(self, lives: int = 1) -> ScriptEnd | None:
        """Return the end of the script's last life, of so many; None while the log does not tell."""
        return self._ends.get(self._lives[-1]) if self._lives and len(self._lives) >= lives else None

    @property
    def has_gaps(self) -> bool:
        """Whether reports are known to be missing by their numbers, and no garbled line says where they went."""
        if self._parser.counts.alien:
            return False
        # Numbers of one kind of report begin anew with each life.
        kinds: dict[tuple[int, int], list[int]] = {}
        for incarnation, sequence in self._received:
            kinds.setdefault((incarnation, sequence // FROM_MATCHES), []).append(sequence % FROM_MATCHES)
        return any(max(numbers) + 1 > len(numbers) for numbers in kinds.values())

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines that were fed."""
        return self._parser.tail

    def usage(self) -> dict[str, Any]:
        """Return the reporter's totals, and how many lines looked like reports and were none."""
        found = self._parser.usage()
        if self._parser.counts.alien:
            found["alien_lines"] = self._parser.counts.alien
        return found

    def feed(self, event: Mapping[str, Any]) -> Iterator[Report]:
        """Yield the reports in a log event that are new; events fed before, and those of other hosts than the first, yield none."""
        identity = str(event.get("eventId", ""))
        if identity and identity in self._ids:
            return
        self._ids.add(identity)
        text = str(event.get("logStreamName", ""))
        name = stream_name(text)
        self.streams.add(text)
        at_ms = int(event.get("timestamp", 0))
        self.first_ms = at_ms if self.first_ms is None else min(self.first_ms, at_ms)
        if name is None or name.number != 1:
            return
        if name.since not in self._lives:
            self._lives = sorted([*self._lives, name.since])
        life = self._lives.index(name.since)
        message = str(event.get("message", ""))
        self._parser.incarnation = life
        # What stands before the mark is a last line of the script that had no end of its own.
        line, mark, end = message.partition(END_MARK)
        if line or not mark:
            yield from self._new(self._parser.feed(line.encode() + b"\n"))
        if mark:
            self._end(end, name.since, at_ms)
            yield from self.finish()

    def finish(self) -> Iterator[Report]:
        """Yield what was gathered and is not told yet, as nothing follows."""
        yield from self._new(self._parser.finish())

    def _new(self, reports: Iterable[Report]) -> Iterator[Report]:
        for report in reports:
            identity_of_report = (report.incarnation, report.sequence)
            if identity_of_report not in self._received:
                self._received.add(identity_of_report)
                self.delivered += 1
                yield report

    def _end(self, text: str, since: int, at_ms: int) -> None:
        try:
            said = json.loads(text)
            self._ends[since] = ScriptEnd(int(said["exit_code"]), at_ms / 1000, dict(said.get("measured") or {}))
        except (ValueError, KeyError, TypeError):
            return


def is_marked(line: str) -> bool:
    """Return whether a line is one of ours, for this program and not for people."""
    return any(mark in line for mark in (REPORT_MARK, SUMMARY_MARK, END_MARK))
