"""The bodies of S3 uploads: plain, or in AWS's signed or trailed chunks."""

from __future__ import annotations

from collections.abc import Iterator

from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import Request
from backends.emulator.s3.store import BLOCK_BYTES


def decoded_blocks(request: Request) -> Iterator[bytes]:
    """Yield a request's content piece by piece, without chunk headers, signatures and trailers.

    Raises:
        ServiceError: the body ends too early or is malformed.
    """
    headers = request.headers
    chunked = headers.get("x-amz-content-sha256", "").startswith("STREAMING-") or "aws-chunked" in headers.get("content-encoding", "")
    if not chunked:
        yield from request.blocks(BLOCK_BYTES)
        return
    buffer = _Buffer(request.blocks(65536))
    while True:
        line = buffer.line()
        try:
            size = int(line.split(b";", 1)[0].strip(), 16)
        except ValueError:
            raise ServiceError("InvalidRequest", "Invalid chunk size.") from None
        if size == 0:
            buffer.drain()
            return
        while size > 0:
            block = buffer.take(min(size, BLOCK_BYTES))
            size -= len(block)
            yield block
        buffer.line()


class _Buffer:
    def __init__(self, source: Iterator[bytes]) -> None:
        self._source, self._data = source, bytearray()

    def line(self) -> bytes:
        while (end := self._data.find(b"\n")) < 0:
            self._fill()
        found = bytes(self._data[: end + 1])
        del self._data[: end + 1]
        return found

    def take(self, most: int) -> bytes:
        if not self._data:
            self._fill()
        found = bytes(self._data[:most])
        del self._data[: len(found)]
        return found

    def drain(self) -> None:
        for _ in self._source:
            pass

    def _fill(self) -> None:
        block = next(self._source, b"")
        if not block:
            raise ServiceError("IncompleteBody", "The request body terminated unexpectedly.")
        self._data += block
