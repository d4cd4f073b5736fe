"""Reads HTTP/1.1 messages off the bytes of a connection, as they come. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

_MOST_HEAD_BYTES = 1 << 16
_MOST_LINE_BYTES = 1 << 10
_ONCE = ("content-length", "transfer-encoding", "host", "x-amzn-sagemaker-target-model", "x-outrider-key")
"""Fields that two readers may read differently where they are there twice."""


class BadMessageError(Exception):
    """What came is no HTTP/1.1 message, or one that is cut off; the connection is of no more use."""


@dataclass(frozen=True)
class Message:
    """A request or an answer.

    Args:
        first: its first line, e.g. `POST /status HTTP/1.1`.
        headers: by name in lower case.
        body: whole; empty where there was more of it than is taken.
        body_bytes: how long the body was.
        is_too_large: whether the body was above the reader's limit, and so was thrown away as it came.
    """

    first: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    body_bytes: int = 0
    is_too_large: bool = False

    @property
    def keeps_open(self) -> bool:
        """Whether the connection is kept for a further message."""
        asked = self.headers.get("connection", "").lower()
        return asked != "close" and ("HTTP/1.0" not in self.first or asked == "keep-alive")


class MessageReader:
    """Takes bytes, gives whole messages.

    Args:
        limit_bytes: longest body that is kept.
        answers: whether answers are read, whose body may last until the connection ends.
    """

    def __init__(self, limit_bytes: int, *, answers: bool = False) -> None:
        self._limit_bytes, self._answers = limit_bytes, answers
        self._buffer = bytearray()
        self._head: Message | None = None
        self._pieces: list[bytes] = []
        self._taken_bytes = 0
        self._left: int | None = None
        """Bytes of the body, or of its present chunk, that are still to come; None until the end of the connection."""
        self._is_chunked = False
        self._trailer = self._chunk_ends = False
        self._asks = False

    def wants_go_ahead(self) -> bool:
        """Return, once for a request, whether its sender waits for `100 Continue` before it sends the body."""
        asks, self._asks = self._asks, False
        return asks

    @property
    def is_between(self) -> bool:
        """Whether no message has begun."""
        return self._head is None and not self._buffer

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages that are whole with these bytes.

        Raises:
            BadMessageError: these are no HTTP/1.1 messages.
        """
        if self._head is not None and not self._is_chunked and not self._buffer and (self._left is None or len(data) < self._left):
            # The middle of a long body, which is most of what comes: kept as it is.
            self._keep(data)
            if self._left is not None:
                self._left -= len(data)
            return
        self._buffer += data
        while True:
            if self._head is None and not self._begin():
                return
            if not (self._take_chunks() if self._is_chunked else self._take_body()):
                return
            yield self._finished()

    def end(self) -> Message | None:
        """Return the answer whose body ends with the connection, if there is one.

        Raises:
            BadMessageError: a message was cut off.
        """
        if self._head is not None and self._left is None and not self._is_chunked:
            return self._finished()
        if not self.is_between:
            raise BadMessageError("cut off by the end of the connection")
        return None

    def _begin(self) -> bool:
        while self._buffer[:2] == b"\r\n":
            del self._buffer[:2]
        end = self._buffer.find(b"\r\n\r\n")
        if end > _MOST_HEAD_BYTES or (end < 0 and len(self._buffer) > _MOST_HEAD_BYTES):
            raise BadMessageError(f"headers of more than {_MOST_HEAD_BYTES} bytes")
        if end < 0:
            return False
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        headers = _fields(lines)
        self._head, self._pieces, self._taken_bytes = Message(first, headers), [], 0
        self._asks = headers.get("expect", "").lower() == "100-continue"
        coding = headers.get("transfer-encoding", "").lower()
        if coding not in ("", "identity", "chunked") or (coding == "chunked" and "content-length" in headers):
            raise BadMessageError(f"transfer-encoding {coding!r}")
        self._is_chunked, self._trailer, self._chunk_ends = coding == "chunked", False, False
        length = headers.get("content-length")
        if length is not None and not (length.isascii() and length.isdecimal()):
            raise BadMessageError(f"content-length {length!r}")
        if length is not None or self._is_chunked:
            self._left = int(length or 0)
        else:
            self._left = None if self._answers and not _has_no_body(first) else 0
        return True

    def _take_body(self) -> bool:
        size = len(self._buffer) if self._left is None else min(self._left, len(self._buffer))
        if size:
            self._keep(bytes(self._buffer[:size]))
            del self._buffer[:size]
        if self._left is None:
            return False
        self._left -= size
        return self._left == 0

    def _take_chunks(self) -> bool:
        """Take what there is of a chunked body; return whether that is all of it."""
        while True:
            if self._left:
                size = min(self._left, len(self._buffer))
                self._keep(bytes(self._buffer[:size]))
                del self._buffer[:size]
                self._left -= size
                if self._left:
                    return False
                self._chunk_ends = True
            line = self._buffer.find(b"\r\n")
            if line > _MOST_LINE_BYTES or (line < 0 and len(self._buffer) > _MOST_LINE_BYTES):
                raise BadMessageError("a chunk without a size")
            if line < 0:
                return False
            text = bytes(self._buffer[:line])
            del self._buffer[: line + 2]
            if self._chunk_ends:
                if text:
                    raise BadMessageError("a chunk that is longer than it says")
                self._chunk_ends = False
            elif self._trailer:
                if not text:
                    return True
            else:
                self._left = _chunk_size(text)
                self._trailer = self._left == 0

    def _keep(self, piece: bytes) -> None:
        self._taken_bytes += len(piece)
        if self._taken_bytes <= self._limit_bytes:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def _finished(self) -> Message:
        head, self._head, self._asks = self._head, None, False
        assert head is not None
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces = []
        return Message(head.first, head.headers, body, self._taken_bytes, self._taken_bytes > self._limit_bytes)


def _fields(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        key = name.lower()
        if not colon or not key or key != key.strip() or (key in _ONCE and key in found):
            raise BadMessageError(f"a header that cannot be read: {line[:80]!r}")
        found[key] = f"{found[key]},{value.strip()}" if key in found else value.strip()
    return found


def _chunk_size(line: bytes) -> int:
    digits = line.split(b";")[0].strip()
    if not digits or len(digits) > 15 or digits.strip(b"0123456789abcdefABCDEF"):
        raise BadMessageError(f"a chunk of size {digits[:20]!r}")
    return int(digits, 16)


def _has_no_body(first: str) -> bool:
    status = first.split(" ", 2)[1:2]
    return status in (["204"], ["304"])
