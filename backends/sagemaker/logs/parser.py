"""What the log of a training job says: whose stream it is, its reports, how its script ended. No I/O."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from backends.progress import ProgressLine
from backends.reports import FROM_FILES, FROM_MATCHES, PROGRESS_MARK, REPORT_MARK, SUMMARY_MARK, Report, ReportParser
from backends.sagemaker.logs.line_order import Line, LineOrder
from definitions.metrics import NO_SOURCES, MetricSources

GROUP = "/aws/sagemaker/TrainingJobs"
END_MARK = "[outrider-end]:"
"""Begins the last line of a job whose script ran to an end, whatever end; written by the job's own entry point."""

PATTERN = f'?"{REPORT_MARK}" ?"{SUMMARY_MARK}" ?"{PROGRESS_MARK}" ?"{END_MARK}"'

_ESCAPE = re.compile(r"#(0[0-3][0-7]|177)")

_ENDED_BY_SERVICE = (137, 143)

_STREAM = re.compile(r"(?P<job>[^/]+)/(?P<host>algo-(?P<number>\d+))(?:-(?P<since>\d+))?")


def message_of(event: Mapping[str, Any]) -> str:
    """Return what was printed, without its end: the service shows control characters as `#` and their number, e.g. a tab as `#011`."""
    text = str(event.get("message", "")).rstrip("\n")
    # No line holds its own end.
    return _ESCAPE.sub(lambda found: found[0] if found[1] == "012" else chr(int(found[1], 8)), text) if "#" in text else text


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
    """How one life of a script ended, and when its last line was printed, by the service's clock, and what it took by itself.

    `kernel_kills` is how many processes the kernel killed meanwhile for lack of memory, where the script was killed and that is known.
    """

    exit_code: int
    printed_at: float
    measured: Mapping[str, Any] = field(default_factory=dict)
    kernel_kills: int | None = None


class JobLog:
    """What the log of one job has said so far.

    Args:
        received: metrics of reports that an earlier controller has recorded, by (incarnation, sequence).
        sources: where metrics are found beside reports.
    """

    def __init__(
        self, received: Mapping[tuple[int, int], Mapping[str, Any]] = MappingProxyType({}), sources: MetricSources = NO_SOURCES
    ) -> None:
        self._received = set(received)
        # What is found by expression is numbered as it comes, which may be another order this time: it is known by what it says.
        self._known = Counter(_said(life, metrics) for (life, sequence), metrics in received.items() if _is_matched(sequence))
        self._numbers = Counter(life for life, sequence in received if _is_matched(sequence))
        self._parser = ReportParser(sources=sources)
        # Where lines of a level are gathered, one in the wrong place would be counted to another level.
        self._order = LineOrder() if sources.level is not None or sources.presets or sources.progress else None
        self._progress: list[ProgressLine] = []
        # Expressions that were written after what the service shows find it as it shows it.
        self._as_shown = any(_ESCAPE.search(regex) for _, regex in sources.expressions)
        self._lives: list[int] = []
        self._ids: set[str] = set()
        self.streams: set[str] = set()
        self._first_ms: int | None = None
        self._last_ms = 0
        self._ends: dict[int, ScriptEnd] = {}
        # By number and life, of hosts but the first.
        self._other_ends: dict[tuple[int, int], ScriptEnd] = {}
        self._reporting: set[int] = set()
        self.delivered = len(self._received)

    @property
    def life(self) -> int:
        """Which life of the script the newest stream belongs to."""
        return max(0, len(self._lives) - 1)

    def end(self, lives: int = 1) -> ScriptEnd | None:
        """Return the end of the script's last life, of so many; None while the log does not tell."""
        return self._ends.get(self._lives[-1]) if self._lives and len(self._lives) >= lives else None

    @property
    def has_ended(self) -> bool:
        """Whether some host's script said that it ended, in its newest life."""
        return bool(self._other_ends) or self.end() is not None

    def failed_host(self, lives: int = 1) -> tuple[int, ScriptEnd] | None:
        """Return the number of the host that failed first, and its end; None while no log tells of one that failed by itself.

        Args:
            lives: of the script; only the last one counts.
        """
        newest = {number: max(since for other, since in self._other_ends if other == number) for number, _ in self._other_ends}
        ends = {number: self._other_ends[number, since] for number, since in newest.items()}
        own = self.end(lives)
        if own is not None:
            ends[1] = own
        failed = [(number, end) for number, end in ends.items() if end.exit_code]
        # The others are ended by the service as soon as one has failed.
        return min(failed, key=lambda one: (one[1].exit_code in _ENDED_BY_SERVICE, one[1].printed_at, one[0]), default=None)

    @property
    def elsewhere(self) -> list[str]:
        """Hosts but the first that printed reports."""
        return [f"algo-{number}" for number in sorted(self._reporting)]

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

    def take_progress(self) -> list[ProgressLine]:
        """Return what the log has said since the last call of how far the script is."""
        found, self._progress = self._progress, []
        return found

    def remarks(self) -> list[str]:
        """Return a sentence on each thing that kept metrics from being found."""
        return self._parser.remarks()

    def usage(self) -> dict[str, Any]:
        """Return the reporter's totals, and how many lines looked like reports and were none."""
        found = self._parser.usage()
        if self._parser.counts.alien:
            found["alien_lines"] = self._parser.counts.alien
        return found

    def feed(self, event: Mapping[str, Any], now: float = 0.0) -> Iterator[Report]:
        """Yield the reports that are new with a log event.

        Events fed before, and those of other hosts than the first, yield none. Where the order of lines matters they are held back; `due`
        yields what is in them.

        Args:
            event: of the service.
            now: by this machine's clock.
        """
        identity = str(event.get("eventId", ""))
        if identity and identity in self._ids:
            return
        self._ids.add(identity)
        text = str(event.get("logStreamName", ""))
        name = stream_name(text)
        self.streams.add(text)
        at_ms = int(event.get("timestamp", 0))
        self._first_ms = at_ms if self._first_ms is None else min(self._first_ms, at_ms)
        if name is None:
            return
        if name.number != 1:
            self._of_another_host(name, message_of(event), at_ms)
            return
        if name.since not in self._lives:
            self._lives = sorted([*self._lives, name.since])
        line = Line(at_ms, len(self._ids), name.since, str(event.get("message", "")) if self._as_shown else message_of(event), now)
        if END_MARK in line.text:
            # Known at once, as it says that no more lines are to be awaited than have been late.
            end = _end(line.text, at_ms)
            if end is not None:
                self._ends[name.since] = end
        if self._order is None:
            yield from self._take(line)
        else:
            self._order.add(line, max(0.0, (int(event.get("ingestionTime", at_ms)) - at_ms) / 1000))

    def due(self, looked_at: float) -> Iterator[Report]:
        """Yield the reports in lines that were held back, as far as no line can be missing before them.

        Args:
            looked_at: when it began that was looked for new lines last, and all that was found then has been fed.
        """
        for line in self._order.ripe(looked_at) if self._order is not None else ():
            yield from self._take(line)

    def finish(self) -> Iterator[Report]:
        """Yield what was held back or gathered and is not told yet, as nothing follows."""
        for line in self._order.rest() if self._order is not None else ():
            yield from self._take(line)
        yield from self._new(self._parser.finish(), self._last_ms)

    def _take(self, line: Line) -> Iterator[Report]:
        self._parser.incarnation = self._lives.index(line.since)
        self._last_ms = max(self._last_ms, line.at_ms)
        # What stands before the mark is a last line of the script that had no end of its own.
        text, mark, _ = line.text.partition(END_MARK)
        if text or not mark:
            yield from self._new(self._parser.feed(text.encode() + b"\n"), line.at_ms)
        if mark:
            yield from self._new(self._parser.finish(), line.at_ms)

    def _new(self, reports: Iterable[Report], at_ms: int) -> Iterator[Report]:
        since_first_s = max(0.0, (at_ms - (self._first_ms or 0)) / 1000)
        self._progress += self._parser.take_progress(since_first_s)
        for found in reports:
            report = found
            if _is_matched(found.sequence):
                said = _said(found.incarnation, found.metrics)
                if self._known[said] > 0:
                    self._known[said] -= 1
                    continue
                report = found._replace(sequence=FROM_MATCHES + self._numbers[found.incarnation])
                self._numbers[found.incarnation] += 1
            if (report.incarnation, report.sequence) not in self._received:
                self._received.add((report.incarnation, report.sequence))
                self.delivered += 1
                yield report._replace(elapsed_s=since_first_s) if report.elapsed_s is None else report

    def _of_another_host(self, name: StreamName, text: str, at_ms: int) -> None:
        if REPORT_MARK in text:
            self._reporting.add(name.number)
        end = _end(text, at_ms) if END_MARK in text else None
        if end is not None:
            self._other_ends[name.number, name.since] = end


def _end(text: str, at_ms: int) -> ScriptEnd | None:
    """Return the end that a line tells of; None where it is none."""
    try:
        said = json.loads(text.partition(END_MARK)[2])
        return ScriptEnd(int(said["exit_code"]), at_ms / 1000, dict(said.get("measured") or {}), said.get("kernel_kills"))
    except (ValueError, KeyError, TypeError):
        return None


def _is_matched(sequence: int) -> bool:
    """Return whether a report was found by expression, by its number."""
    return FROM_MATCHES <= sequence < FROM_FILES


def _said(life: int, metrics: Mapping[str, Any]) -> tuple[int, str]:
    return life, repr(sorted(metrics.items()))


def is_marked(line: str) -> bool:
    """Return whether a line is one of ours, for this program and not for people."""
    return any(mark in line for mark in (REPORT_MARK, SUMMARY_MARK, PROGRESS_MARK, END_MARK))
