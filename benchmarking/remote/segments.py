"""How a piece of a journal is written as one object: a line about it, and a line of JSON for each record. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarking.controller import journal_versions
from benchmarking.controller.journal import ControllerSession
from benchmarking.controller.sqlite_journal import Row
from definitions import strict_json
from definitions.errors import UserError

SEGMENT_VERSION = 1
"""Of the form of segments; the records in them have the journal's version."""


@dataclass(frozen=True)
class Writer:
    """Who writes segments.

    Args:
        token: drawn at random by one life of one controller.
        controller: its name for people; `generation` of it, 0 where it is no job.
    """

    token: str
    controller: str = ""
    generation: int = 0


@dataclass(frozen=True)
class Segment:
    """A piece of a journal.

    Args:
        number: its place, from 1 without gaps.
        writer: who wrote it.
        first: sequence number of its first record; of the next one where it has none.
        rows: its records, in order.
        sessions: controllers' lives that began since the segment before.
    """

    number: int
    writer: Writer
    first: int
    rows: tuple[Row, ...] = ()
    sessions: tuple[ControllerSession, ...] = ()

    @property
    def last(self) -> int:
        """Sequence number of the last record that is in this or an earlier segment."""
        return self.first + len(self.rows) - 1


def encoded(segment: Segment) -> bytes:
    """Return the object's content."""
    writer = segment.writer
    head = {
        "schema_version": SEGMENT_VERSION,
        "journal_version": journal_versions.SCHEMA_VERSION,
        "number": segment.number,
        "token": writer.token,
        "controller": writer.controller,
        "generation": writer.generation,
        "first": segment.first,
        "records": len(segment.rows),
        "sessions": [[one.after, one.last_at, one.started_at] for one in segment.sessions],
    }
    # A body is JSON already; that it is not read again makes the bytes the same on every way.
    lines = [f"[{strict_json.dumps(at)},{strict_json.dumps(kind)},{body}]" for _, at, kind, body in segment.rows]
    return "\n".join([strict_json.dumps(head), *lines, ""]).encode()


def decoded(content: bytes, name: str) -> Segment:
    """Return the segment that an object holds, its records as the journal's present version has them.

    Args:
        content: of the object.
        name: of the object, for messages.

    Raises:
        UserError: it is damaged, or of a version that this Outrider does not read.
    """
    head_line, *lines = content.decode("utf-8", "surrogateescape").split("\n")
    head = _head(head_line, name)
    if len(lines) != head["records"] + 1 or lines[-1]:
        raise damaged(name, f"it is to hold {head['records']} records, and has {len(lines) - 1} lines")
    version = int(head["journal_version"])
    try:
        first = int(head["first"])
        rows = [_row(sequence, line) for sequence, line in zip(itertools.count(first), lines[:-1], strict=False)]
        if version != journal_versions.SCHEMA_VERSION:
            rows = [_upgraded(version, row) for row in rows]
        sessions = [ControllerSession(int(after), float(last), float(start)) for after, last, start in head["sessions"]]
        writer = Writer(str(head["token"]), str(head["controller"]), int(head["generation"]))
        return Segment(int(head["number"]), writer, first, (*rows,), (*sessions,))
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(name, f"{type(error).__name__}: {error}") from error


def writer_of(content: bytes, name: str) -> Writer:
    """Return who wrote a segment; raises `UserError` as `decoded`."""
    head = _head(content.split(b"\n", 1)[0].decode("utf-8", "replace"), name)
    return Writer(str(head.get("token")), str(head.get("controller", "")), int(head.get("generation", 0)))


def damaged(name: str, fact: str) -> UserError:
    """Return the error for what is no segment."""
    return UserError(f"{name} is damaged", fact, "take it from a backup or an earlier version of the object; nothing of it is guessed")


def _head(line: str, name: str) -> Mapping[str, Any]:
    try:
        head = strict_json.loads(line)
    except ValueError as error:
        raise damaged(name, str(error)) from error
    if not isinstance(head, dict) or "schema_version" not in head:
        raise damaged(name, "its first line does not say what it is")
    versions = (head["schema_version"], head.get("journal_version"))
    if versions[0] != SEGMENT_VERSION or versions[1] not in journal_versions.READABLE_VERSIONS:
        raise UserError(
            f"{name} has version {versions[0]}, of a journal of version {versions[1]}",
            f"this Outrider reads version {SEGMENT_VERSION}, of journals {' and '.join(map(str, journal_versions.READABLE_VERSIONS))}",
            "use the Outrider that wrote it or a later one",
        )
    return head


def _row(sequence: int, line: str) -> Row:
    # `[1.5,"kind",{...}]`, where neither the time nor the kind holds a comma.
    at, kind, body = line[1:-1].split(",", 2)
    if (line[:1], line[-1:], kind[:1], kind[-1:], body[:1], body[-1:]) != ("[", "]", '"', '"', "{", "}"):
        raise ValueError(f"no record: {line[:60]}")
    return sequence, float(at), kind[1:-1], body


def _upgraded(version: int, row: Row) -> Row:
    sequence, at, kind, body = row
    if kind not in journal_versions.CHANGED_KINDS:
        return row
    return sequence, at, kind, strict_json.dumps(journal_versions.upgraded(version, kind, strict_json.loads(body)))
