"""Reads one HTTP/1.1 answer after another from the bytes of a connection: with a length, chunked, or until the end. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

MOST_HEADER_BYTES = 65_536
MOST_BODY_BYTES = 256 * 1024 * 1024

_NO_BODY = (204, 304)


@dataclass(frozen=True)
class HttpAnswer:
    """A whole answer: `headers` by lower-case names; `keeps_open`: whether the connection takes a further request."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    keeps_open: bool = True


@dataclass
class _Head:
    status: int
    headers: dict[str, str] = field(default_factory=dict)
    keeps_open: bool = True


class BadAnswerError(Exception):
    """What came is no HTTP/1.1 answer, or is too large: the kind of error that it is, and in a sentence why."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class AnswerReader:
    """Takes the bytes of one connection, in pieces of any size, and gives whole answers."""

    def __init__(self, most_body_bytes: int = MOST_BODY_BYTES) -> None:
        self._held = bytearray()
        self._most = most_body_bytes
        self._head: _Head | None = None
        self._length: int | None = None
        self._is_chunked = False
        self._chunks = bytearray()
        self._left_in_chunk: int | None = None
        self._in_trailer = False

    @property
    def has_begun(self) -> bool:
        """Whether a part of an answer is held."""
        return bool(self._held) or self._head is not None

    def feed(self, data: bytes) -> HttpAnswer | None:
        """Return the answer that these bytes complete; None where more must come.

        Raises:
            BadAnswerError: it is none, or is too large.
        """
        self._held += data
        if self._head is None and not self._read_head():
            return None
        head = self._head
        assert head is not None
        if self._is_chunked:
            return self._whole(head, bytes(self._chunks)) if self._read_chunks() else None
        if self._length is None:
            self._check_size(len(self._held))
            return None  # until the end of the connection
        if len(self._held) < self._length:
            return None
        body = bytes(self._held[: self._length])
        del self._held[: self._length]
        return self._whole(head, body)

    def end(self) -> HttpAnswer | None:
        """Return the answer that the end of the connection completes; None where it is cut off, or none had begun."""
        if self._head is None or self._is_chunked or self._length is not None:
            return None
        return self._whole(_Head(self._head.status, self._head.headers, False), bytes(self._held))

    def _whole(self, head: _Head, body: bytes) -> HttpAnswer:
        # Bytes beyond an answer belong to no request: the connection is not used again.
        keeps_open = head.keeps_open and not self._held
        self._head, self._chunks = None, bytearray()
        return HttpAnswer(head.status, head.headers, body, keeps_open)

    def _read_head(self) -> bool:
        while True:
            end = self._held.find(b"\r\n\r\n")
            if end < 0:
                if len(self._held) > MOST_HEADER_BYTES:
                    raise BadAnswerError("malformed", f"more than {MOST_HEADER_BYTES} bytes came without the end of a header")
                return False
            head = _parsed(bytes(self._held[:end]))
            del self._held[: end + 4]
            if head.status >= 200:
                break  # what is below it announces the answer
        self._head = head
        self._is_chunked = "chunked" in head.headers.get("transfer-encoding", "").lower()
        self._left_in_chunk, self._in_trailer = None, False
        self._length = 0 if head.status in _NO_BODY else _length(head.headers.get("content-length"))
        if not self._is_chunked and self._length is not None:
            self._check_size(self._length)
        return True

    def _read_chunks(self) -> bool:
        while True:
            if self._in_trailer or self._left_in_chunk is None:
                end = self._held.find(b"\r\n")
                if end < 0:
                    if len(self._held) > MOST_HEADER_BYTES:
                        raise BadAnswerError("malformed", "a chunk's length does not end")
                    return False
                line = bytes(self._held[:end])
                del self._held[: end + 2]
                if self._in_trailer:
                    if not line:
                        return True
                    continue
                self._left_in_chunk = _chunk_length(line)
                self._in_trailer = self._left_in_chunk == 0
                continue
            if len(self._held) < self._left_in_chunk + 2:
                self._check_size(len(self._chunks) + len(self._held))
                return False
            self._chunks += self._held[: self._left_in_chunk]
            del self._held[: self._left_in_chunk + 2]
            self._check_size(len(self._chunks))
            self._left_in_chunk = None

    def _check_size(self, size: int) -> None:
        if size > self._most:
            raise BadAnswerError("too_large", f"the answer has {size} bytes and more; at most {self._most} are taken")


def _parsed(head: bytes) -> _Head:
    first, *lines = head.split(b"\r\n")
    words = first.split(None, 2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        raise BadAnswerError("malformed", f"the answer begins with {first[:60]!r}, which is no status line of HTTP/1.1")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if colon:
            headers[name.decode("latin-1").strip().lower()] = value.decode("latin-1").strip()
    asked = headers.get("connection", "").lower()
    keeps_open = "close" not in asked and (words[0] != b"HTTP/1.0" or "keep-alive" in asked)
    return _Head(int(words[1]), headers, keeps_open)


def _length(said: str | None) -> int | None:
    if said is None:
        return None
    if not said.isascii() or not said.isdigit():
        raise BadAnswerError("malformed", f"the answer's Content-Length is {said[:40]!r}")
    return int(said)


def _chunk_length(line: bytes) -> int:
    digits = line.split(b";")[0].strip()
    try:
        length = int(digits, 16)
    except ValueError:
        length = -1
    if length < 0:
        raise BadAnswerError("malformed", f"a chunk's length is {line[:40]!r}")
    return length
