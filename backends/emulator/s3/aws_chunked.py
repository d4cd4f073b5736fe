"""The bodies of S3 uploads: plain, or in AWS's chunks, signed one by one or not, with fields at their end or not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from backends.emulator.http.errors import ServiceError
from backends.emulator.http.messages import HEXADECIMAL, Request
from backends.emulator.http.payload import ChunkSignatures
from backends.emulator.s3.store import BLOCK_BYTES


def decoded_blocks(request: Request) -> Iterator[bytes]:
    """Yield a request's content piece by piece, without chunk headers, signatures and trailers.

    Raises:
        ServiceError: the body ends too early, is malformed, or a chunk is not what was signed.
    """
    headers = request.headers
    chunked = headers.get("x-amz-content-sha256", "").startswith("STREAMING-") or "aws-chunked" in headers.get("content-encoding", "")
    if not chunked:
        yield from request.blocks(BLOCK_BYTES)
        return
    chunks = request.chunks
    buffer = _Buffer(request.blocks(65536))
    while True:
        length, _, extension = buffer.line().partition(b";")
        if not HEXADECIMAL.fullmatch(length.strip()):
            raise ServiceError("InvalidRequest", "Invalid chunk size.")
        size = left = int(length, 16)
        digest = hashlib.sha256()
        while left > 0:
            block = buffer.take(min(left, BLOCK_BYTES))
            left -= len(block)
            if chunks is not None:
                digest.update(block)
            yield block
        if chunks is not None:
            chunks.check(extension.strip().partition(b"=")[2].decode("latin-1"), digest.hexdigest())
        if size == 0:
            _end(buffer, chunks)
            return
        buffer.line()


def _end(buffer: _Buffer, chunks: ChunkSignatures | None) -> None:
    """Read the fields after the last chunk and check their signature, where there is one."""
    if chunks is None or not chunks.trailer:
        buffer.drain()
        return
    fields, signature = "", ""
    while line := buffer.line().strip():
        name, _, value = line.decode("latin-1").partition(":")
        if name.strip().lower() == "x-amz-trailer-signature":
            signature = value.strip()
            break
        fields += f"{name.strip().lower()}:{value.strip()}\n"
    chunks.check_trailer(signature, fields)
    buffer.drain()


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
