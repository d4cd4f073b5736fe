"""Finds reports in the output of a job, fed in pieces of any size.

A log is written by programs of any kind: lines are cut off, mixed, repeated, or as long as the disk. None of it is an error here;
what looked like a report and was none is counted.
"""

from __future__ import annotations

import bisect
import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from backends.metrics.patterns import MetricMatcher
from backends.tracebacks import TracebackFinder
from definitions.metrics import NO_SOURCES, MetricSources
from definitions.scalars import is_number

REPORT_MARK = "[tune-metric]:"
SUMMARY_MARK = "[outrider-summary]:"

FROM_MATCHES, FROM_FILES = 1_000_000_000, 2_000_000_000
"""What the numbers of reports begin with that are found in a job's own words, and in files: so that they are none of its reporter's."""

MAX_LINE_BYTES = 1 << 20
TAIL_LINES = 40
TAIL_WIDTH = 1000

_CARRIAGE_RETURN = ord("\r")
_OURS = ("st_", "outrider_")
_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception|Exit|Interrupt)\b")
_decode = json.JSONDecoder().raw_decode


@dataclass(frozen=True)
class Report:
    """One report as it stands in a log.

    Args:
        metrics: the values exactly as parsed, NaN and infinities included; without Syne Tune's and our own keys.
        sequence: number within the incarnation: by our reporter, else Syne Tune's `st_worker_iter`, else by order; of what is no line of a
            reporter from `FROM_MATCHES` or `FROM_FILES` on.
        elapsed_s: seconds since the script started by its own clock; None where the line does not say.
        sent_at: the script's wall clock, UTC seconds since the epoch; None where the line does not say.
    """

    metrics: Mapping[str, Any]
    sequence: int
    incarnation: int = 0
    elapsed_s: float | None = None
    sent_at: float | None = None


@dataclass
class Counts:
    """What a parser has seen besides the reports that it delivered.

    Args:
        lines: lines of any kind.
        alien: marks that no report of ours follows: cut off, mixed, or another program's.
        repeated: reports seen before; `other_ranks`: reports of ranks other than 0.
        too_long: lines dropped for their length.
    """

    lines: int = 0
    delivered: int = 0
    alien: int = 0
    repeated: int = 0
    other_ranks: int = 0
    too_long: int = 0


@dataclass
class _Numbers:
    """A set of whole numbers, kept as ranges: a log's sequence numbers take one range, however many they are."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def add(self, number: int) -> bool:
        """Add a number; return whether it is new."""
        at = bisect.bisect_right(self.starts, number)
        if at and number <= self.ends[at - 1]:
            return False
        joins_left = at > 0 and self.ends[at - 1] == number - 1
        joins_right = at < len(self.starts) and self.starts[at] == number + 1
        if joins_left and joins_right:
            self.ends[at - 1] = self.ends[at]
            del self.starts[at], self.ends[at]
        elif joins_left:
            self.ends[at - 1] = number
        elif joins_right:
            self.starts[at] = number
        else:
            self.starts.insert(at, number)
            self.ends.insert(at, number)
        return True

    def next_free(self) -> int:
        """Return the number after the largest."""
        return self.ends[-1] + 1 if self.ends else 0


class ReportParser:
    """Splits output into lines and reports, in bounded memory, whatever the sizes of the pieces.

    Args:
        incarnation: which life of the script lines belong to at least, whatever they say; a back-end raises it when a job is restarted.
        sources: where metrics are found beside reports.
    """

    def __init__(self, incarnation: int = 0, sources: MetricSources = NO_SOURCES) -> None:
        self.incarnation = incarnation
        self._matcher = MetricMatcher(sources) if sources else None
        self._matched = 0
        self.counts = Counts()
        self.tracebacks = TracebackFinder()
        self._partial = bytearray()
        self._overlong = False
        self._overwritten: bytes | None = None
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._seen: dict[int, _Numbers] = {}
        self._summaries: dict[int, Mapping[str, Any]] = {}

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines of the log, each cut to a bounded length."""
        lines = [*self._tail, *([] if self._overwritten is None else [self._overwritten])]
        return tuple(line.decode("utf-8", "replace") for line in lines[-TAIL_LINES:])

    def feed(self, chunk: bytes) -> list[Report]:
        """Take the next bytes of the log; return the reports that they complete."""
        found: list[Report] = []
        if b"\0" in chunk:
            # UTF-16, as some consoles write it, is ASCII with a zero beside each letter.
            chunk = chunk.replace(b"\0", b"")
        for piece in chunk.splitlines(keepends=True):
            line = piece.rstrip(b"\r\n")
            self._extend(line)
            for end in piece[len(line) :]:
                self._end_line(found, rewritten=end == _CARRIAGE_RETURN)
        return found

    def finish(self) -> list[Report]:
        """Take what has no line end as the last line; return the reports in it."""
        found: list[Report] = []
        if self._partial:
            self._end_line(found, rewritten=False)
        if self._matcher is not None:
            found += [self._of_match(metrics) for metrics in self._matcher.finish()]
        self.tracebacks.finish()
        return found

    def usage(self) -> dict[str, Any]:
        """Return the totals of the reporter's summaries over all incarnations: `phases_s`, `steps`, `samples`, `elapsed_s`.

        And `usage`, where it was sampled: for each phase what the last incarnation that had the phase used in it.
        """
        phases: dict[str, float] = {}
        totals: dict[str, Any] = {}
        used: dict[str, Any] = {}
        for summary in self._summaries.values():
            spent = summary.get("phases_s")
            for name, seconds in spent.items() if isinstance(spent, dict) else ():
                if is_number(seconds):
                    phases[name] = phases.get(name, 0.0) + seconds
            for name in ("steps", "samples", "elapsed_s"):
                if is_number(summary.get(name)):
                    totals[name] = totals.get(name, 0) + summary[name]
            sampled = summary.get("usage")
            used.update({name: value for name, value in sampled.items() if isinstance(value, dict)} if isinstance(sampled, dict) else {})
        if not self._summaries:
            return {}
        return {"phases_s": phases, **totals, **({"usage": used} if used else {})}

    def _extend(self, piece: bytes) -> None:
        # The beginning of a dropped line is kept for the tail, so that the limit depends on the line alone and not on its pieces.
        left = MAX_LINE_BYTES - len(self._partial)
        if len(piece) > left:
            self._overlong = True
        if left > 0:
            self._partial += piece[:left]

    def _end_line(self, found: list[Report], *, rewritten: bool) -> None:
        line, overlong = bytes(self._partial), self._overlong
        self._partial.clear()
        self._overlong = False
        self._remember(line, rewritten)
        if not line:
            return
        self.counts.lines += 1
        if overlong:
            self.counts.too_long += 1
            return
        text = line.decode("utf-8", "replace")
        if b"]:" in line and self._scan(text, found):
            return
        matched = [] if self._matcher is None else [self._of_match(metrics) for metrics in self._matcher.take(line, rewritten)]
        found += matched
        if matched and _EXCEPTION.match(text) is None:
            self.tracebacks.reported()
        else:
            self.tracebacks.feed(text)

    def _of_match(self, metrics: Mapping[str, Any]) -> Report:
        self.counts.delivered += 1
        self._matched += 1
        return Report(metrics, FROM_MATCHES + self._matched - 1, self.incarnation)

    def _remember(self, line: bytes, rewritten: bool) -> None:
        # A progress bar ends its states with a carriage return; of those only the last belongs in the tail, or nothing else would be left.
        shown = line if len(line) <= TAIL_WIDTH else line[:TAIL_WIDTH] + b" ..."
        if rewritten:
            self._overwritten = shown or self._overwritten
            return
        if shown or self._overwritten:
            self._tail.append(shown or self._overwritten or b"")
        self._overwritten = None

    def _scan(self, text: str, found: list[Report]) -> bool:
        """Take the summary and the reports that a line holds; return whether it has our marks."""
        is_ours = SUMMARY_MARK in text
        if is_ours:
            self._take_summary(text)
        at = text.find(REPORT_MARK)
        is_ours = is_ours or at >= 0
        while at >= 0:
            payload, end = _object(text, at + len(REPORT_MARK))
            if payload is None:
                self.counts.alien += 1
            elif (report := self._report(payload)) is not None:
                self.counts.delivered += 1
                self.tracebacks.reported()
                found.append(report)
            at = text.find(REPORT_MARK, end)
        return is_ours

    def _report(self, payload: dict[str, Any]) -> Report | None:
        rank = payload.get("outrider_rank", 0)
        incarnation = self._life(payload)
        sequence = payload.get("outrider_sequence", payload.get("st_worker_iter"))
        from_files = payload.get("outrider_files")
        if _is_count(from_files):
            sequence = FROM_FILES + from_files
        if not (_is_count(rank) and _is_count(incarnation) and (sequence is None or _is_count(sequence))):
            self.counts.alien += 1
            return None
        if rank != 0:
            self.counts.other_ranks += 1
            return None
        seen = self._seen.setdefault(incarnation, _Numbers())
        sequence = seen.next_free() if sequence is None else sequence
        if not seen.add(sequence):
            self.counts.repeated += 1
            return None
        elapsed_s, sent_at = payload.get("st_worker_time"), payload.get("st_worker_timestamp")
        return Report(
            metrics={key: value for key, value in payload.items() if not key.startswith(_OURS)},
            sequence=sequence,
            incarnation=incarnation,
            elapsed_s=float(elapsed_s) if is_number(elapsed_s) and elapsed_s >= 0 else None,
            sent_at=float(sent_at) if is_number(sent_at) else None,
        )

    def _life(self, payload: Mapping[str, Any]) -> Any:
        # A script counts its lives in its checkpoint folder, which an interruption may have kept from being saved.
        said = payload.get("outrider_incarnation", self.incarnation)
        return max(said, self.incarnation) if _is_count(said) else said

    def _take_summary(self, text: str) -> None:
        summary, _ = _object(text, text.index(SUMMARY_MARK) + len(SUMMARY_MARK))
        incarnation = None if summary is None else self._life(summary)
        if summary is None or not _is_count(incarnation):
            self.counts.alien += 1
        elif summary.get("outrider_rank", 0) == 0:
            self._summaries[incarnation] = summary


def _object(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    """Return the JSON object that begins at a place of the text, and where it ends; None where there is none."""
    while text[at : at + 1] == " ":
        at += 1
    try:
        value, end = _decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return (value, end) if isinstance(value, dict) else (None, at)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
