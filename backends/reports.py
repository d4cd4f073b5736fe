"""Finds reports in the output of a job, fed in pieces of any size.

A log is written by programs of any kind: lines are cut off, mixed, repeated, or as long as the disk. None of it is an error here;
what looked like a report and was none is counted.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeGuard

from backends.last_lines import LastLines
from backends.metrics.patterns import EscapeRemover, MetricMatcher, decoded
from backends.metrics.prefilter import LineFilter, line_end
from backends.metrics.progress_lines import ProgressLines
from backends.progress import ProgressLine
from backends.progress_intake import ProgressIntake
from backends.tracebacks import BEGINNINGS, TracebackFinder
from definitions.metrics import NO_SOURCES, MetricSources, counted
from definitions.scalars import is_number

REPORT_MARK = "[tune-metric]:"
SUMMARY_MARK = "[outrider-summary]:"
PROGRESS_MARK = "[outrider-progress]:"

FROM_MATCHES, FROM_FILES = 1_000_000_000, 2_000_000_000
"""What the numbers of reports begin with that are found in a job's own words, and in files: so that they are none of its reporter's."""

MAX_LINE_BYTES = 1 << 20

_RETURN = ord("\r")
_TRACEBACK = b"Traceback"
_OURS = ("st_", "outrider_")
_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception|Exit|Interrupt)\b")
_decode = json.JSONDecoder().raw_decode


class Report(NamedTuple):
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
        alien: marks that no report of ours follows: cut off, mixed, or another program's.
        repeated: reports seen before; `other_ranks`: reports of ranks other than 0.
        too_long: lines dropped for their length.
    """

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
        self._matcher = MetricMatcher(sources) if sources.has_metrics else None
        self._matched = 0
        self._from_zero = sources.from_zero
        self.counts = Counts()
        self.tracebacks = TracebackFinder()
        self._partial = bytearray()
        self._overlong = False
        self._escapes = EscapeRemover()
        self._lines = LastLines()
        self._progress = ProgressIntake(sources.progress)
        self._filter = _filter_of(self._matcher, self._progress.lines)
        self._seen: dict[int, _Numbers] = {}
        self._summaries: dict[int, Mapping[str, Any]] = {}

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines of the log, each cut to a bounded length."""
        return self._lines.texts()

    def feed(self, chunk: bytes) -> list[Report]:
        """Take the next bytes of the log; return the reports that they complete."""
        found: list[Report] = []
        if b"\0" in chunk:
            # UTF-16, as some consoles write it, is ASCII with a zero beside each letter.
            chunk = chunk.replace(b"\0", b"")
        # Of a piece no longer than a line may be, no whole line is too long.
        for at in range(0, len(chunk), MAX_LINE_BYTES):
            self._feed(chunk[at : at + MAX_LINE_BYTES], found)
        return found

    def _feed(self, chunk: bytes, found: list[Report]) -> None:
        # First what ends the line that the last piece began, then the whole lines, then what begins another.
        begins = line_end(chunk, 0) if self._partial or self._overlong else 0
        ends = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if begins < 0:
            ends = begins = 0
        elif begins:
            self._extend(chunk[:begins].rstrip(b"\r\n"))
            self._end_partial(found, chunk[begins - 1 : begins])
        self._take_lines(chunk[begins:ends], found)
        self._extend(chunk[max(begins, ends) :])

    def finish(self) -> list[Report]:
        """Take what has no line end as the last line; return the reports in it."""
        found: list[Report] = []
        if self._partial:
            self._end_partial(found, b"\n")
        if self._matcher is not None:
            self._add(self._matcher.finish(), found)
        self.tracebacks.finish()
        return found

    def take_progress(self, elapsed_s: float = 0.0) -> list[ProgressLine]:
        """Return what the log has said since the last call of how far the script is, none of it twice.

        Args:
            elapsed_s: seconds from the script's start to the newest line, for lines that do not say when they were printed.
        """
        return self._progress.take(elapsed_s)

    def remarks(self) -> list[str]:
        """Return a sentence on each thing that kept metrics from being found."""
        return [] if self._matcher is None else self._matcher.remarks()

    def usage(self) -> dict[str, Any]:
        """Return the totals of the reporter's summaries over all incarnations: `phases_s`, `steps`, `samples`, `elapsed_s`, `delayed_s`.

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
            for name in ("steps", "samples", "elapsed_s", "delayed_s"):
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

    def _end_partial(self, found: list[Report], end: bytes) -> None:
        line, overlong = bytes(self._partial), self._overlong
        self._partial.clear()
        self._overlong = False
        if _TRACEBACK in line:
            self._recall(self._lines.last)
        self._lines.add(line + end)
        if overlong:
            self.counts.too_long += 1
        else:
            self._take_line(self._escapes.plain(line), end == b"\r", found)

    def _take_lines(self, body: bytes, found: list[Report]) -> None:
        """Take whole lines, of which those are looked at that may have something in them."""
        if not body:
            return
        before = self._lines.last
        self._lines.add(body)
        body = self._escapes.plain(body)
        spans = iter(() if self._filter is None else self._filter.spans(body, before))
        start, end = next(spans, (len(body), 0))
        at = 0
        while at < len(body):
            if self._filter is not None and at < start and self.tracebacks.is_idle and not (self._matcher and self._matcher.is_open):
                if self._matcher is not None:
                    self._pass(self._matcher, body[at:start], found)
                at = start
                continue
            upto = end if at == start else line_end(body, at)
            line = body[at:upto].rstrip(b"\r\n")
            if _TRACEBACK in line:
                self._recall(_last_of(body[:at]) or before)
            self._take_line(line, body[upto - 1] == _RETURN, found)
            at = upto
            while start < at:
                start, end = next(spans, (len(body), 0))

    def _pass(self, matcher: MetricMatcher, lines: bytes, found: list[Report]) -> None:
        """Take whole lines that mean nothing but by what an expression without words finds in them."""
        has_reported = False
        for line, matched in matcher.passed(lines):
            self._add(matched, found)
            has_reported = has_reported or _EXCEPTION.match(line) is None
        if has_reported:
            self.tracebacks.reported()

    def _recall(self, line: bytes) -> None:
        """Look at the line before a traceback, which may have been passed over and may say that the traceback is of no account."""
        if self.tracebacks.is_idle:
            self.tracebacks.feed(decoded(self._escapes.plain(line)))

    def _take_line(self, line: bytes, is_rewritten: bool, found: list[Report]) -> None:
        if len(line) > MAX_LINE_BYTES:
            self.counts.too_long += 1
        elif line:
            text = decoded(line)
            if b"]:" in line and self._scan(text, found):
                return
            if self._progress.lines is not None:
                self._progress.look(text, self.incarnation)
            if self._matcher is not None and (matched := self._matcher.take(text, is_rewritten)):
                self._add(matched, found)
                if _EXCEPTION.match(text) is None:
                    self.tracebacks.reported()
                    return
            self.tracebacks.feed(text)
        elif self._matcher is not None and not is_rewritten:
            self._add(self._matcher.take("", is_rewritten), found)

    def _add(self, matched: Iterable[Mapping[str, Any]], found: list[Report]) -> None:
        for metrics in matched:
            found.append(Report(metrics, FROM_MATCHES + self._matched, self.incarnation))
            self._matched += 1
            self.counts.delivered += 1

    def _scan(self, text: str, found: list[Report]) -> bool:
        """Take the summary and the reports that a line holds; return whether it has our marks."""
        is_ours = False
        if SUMMARY_MARK in text:
            is_ours = True
            self._take_summary(text)
        if PROGRESS_MARK in text:
            is_ours = True
            self._take_progress(text)
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
        metrics = {key: value for key, value in payload.items() if not key.startswith(_OURS)}
        return Report(
            # What is read in files is counted where it is read.
            metrics=metrics if from_files is not None else counted(metrics, self._from_zero),
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

    def _take_progress(self, text: str) -> None:
        said, _ = _object(text, text.index(PROGRESS_MARK) + len(PROGRESS_MARK))
        incarnation = None if said is None else self._life(said)
        if said is None or not _is_count(incarnation):
            self.counts.alien += 1
            return
        self._progress.say(said, incarnation)


def _last_of(lines: bytes) -> bytes:
    """Return the last of several lines that is not empty."""
    lines = lines.rstrip(b"\r\n")
    return lines[max(lines.rfind(b"\n"), lines.rfind(b"\r")) + 1 :]


def _filter_of(matcher: MetricMatcher | None, lines: ProgressLines | None) -> LineFilter | None:
    """Return what finds the lines that may hold something; None where each has to be looked at."""
    texts: list[bytes] = [mark.encode() for mark in (REPORT_MARK, SUMMARY_MARK, PROGRESS_MARK, *BEGINNINGS)]
    words = [text for text in (matcher.texts if matcher is not None else None) or () if len(text) > 2]
    ignores_case = False
    for one in (matcher, lines):
        if one is not None:
            if one.texts is None:
                return None
            texts += one.texts
            ignores_case = ignores_case or one.ignores_case
    return LineFilter(texts, words, ignores_case=ignores_case)


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
