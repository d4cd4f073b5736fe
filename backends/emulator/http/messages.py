"""HTTP requests and responses, apart from sockets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from backends.emulator.http.errors import ServiceError
from backends.emulator.http.payload import ChunkSignatures
from backends.emulator.http.signature import Signature, SignatureFormError, signature_of
from backends.emulator.http.transfer import Transfer

HEXADECIMAL = re.compile(rb"[0-9a-fA-F]{1,16}")
"""What the size of a chunk is written in, with no sign and no prefix."""


@dataclass
class Request:
    """A request whose body may not have been read yet.

    Args:
        path: with its query; `headers`: names in lower case.
        read: returns up to so many bytes of the body, none at its end.
        length: of the body in bytes; None where only its end tells.
        chunks: the signatures of its chunks, where it has such.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    read: Callable[[int], bytes]
    length: int | None = None
    chunks: ChunkSignatures | None = None
    _signature: Signature | None = field(default=None, repr=False)
    _body: bytes | None = field(default=None, repr=False)

    @property
    def service(self) -> str:
        """Service that it is signed for; empty where it is not signed."""
        try:
            signature = self.signature()
        except SignatureFormError:
            return ""
        return "" if signature is None else signature.service

    def signature(self) -> Signature | None:
        """Return how it is signed; None where it is not; raises `SignatureFormError`."""
        if self._signature is None:
            self._signature = signature_of(self.path, self.headers)
        return self._signature

    def body(self, most_bytes: int | None = None) -> bytes:
        """Return the whole body; raises `ServiceError` where it is longer than is asked for at most."""
        if self._body is None:
            found = bytearray()
            for block in self.blocks(1 << 20):
                found += block
                if most_bytes is not None and len(found) > most_bytes:
                    raise ServiceError("RequestEntityTooLarge", f"The body is longer than {most_bytes} bytes.", 413)
            self._body = bytes(found)
        return self._body

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the body piece by piece."""
        if self._body is not None:
            if self._body:
                yield self._body
            return
        while block := self.read(size):
            yield block


@dataclass
class Response:
    """A response: a body, or part of a file.

    Args:
        file: open for reading, closed by whoever sends it; None where `body` is all.
        start, length: which part of the file, in bytes; a length without a file is that of a body that is left out (HEAD).
        transfer: how it is sent; None for as fast as it goes.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    file: BinaryIO | None = None
    start: int = 0
    length: int | None = None
    transfer: Transfer | None = None
