"""HTTP requests and responses, apart from sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO
from urllib.parse import parse_qsl


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

    @property
    def credential(self) -> tuple[str, str]:
        """Access key that it is signed with and service that it is signed for; both empty where it is not signed."""
        header = self.headers.get("authorization", "")
        if "Credential=" in header:
            scope = header.split("Credential=", 1)[1].split(",", 1)[0].strip()
        else:
            scope = dict(parse_qsl(self.path.partition("?")[2])).get("X-Amz-Credential", "")
        parts = scope.split("/")
        return (parts[0], parts[-2]) if len(parts) >= 5 else ("", "")

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
        file: open for reading, closed by whoever sends it; None where `body` is all.
        start, length: which part of the file, in bytes; a length without a file is that of a body that is left out (HEAD).
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    file: BinaryIO | None = None
    start: int = 0
    length: int | None = None
