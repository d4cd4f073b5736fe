"""HTTP requests and responses, apart from sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Request:
    """A request whose body may not have been read yet.

    Args:
        path: with its query; `headers`: names in lower case.
        read: returns up to so many bytes of the body, none at its end.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    read: Callable[[int], bytes]
    _body: bytes | None = field(default=None, repr=False)

    def body(self) -> bytes:
        """Return the whole body."""
        if self._body is None:
            self._body = b"".join(self.blocks(1 << 20))
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
        file: where the body is; `start`, `length`: which part of it, in bytes.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None
    start: int = 0
    length: int = 0
