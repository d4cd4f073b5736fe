"""Objects through fsspec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .base import StoredName


@dataclass(frozen=True)
class Fsspec:
    """Objects through fsspec (for S3: the package s3fs), or files where the location is a path."""

    uri: str

    def entries(self) -> list[StoredName]:
        """Return the URIs or paths of all objects under the channel's location."""
        system, root = self._system()
        return [StoredName(system.unstrip_protocol(name), int(facts["size"])) for name, facts in system.find(root, detail=True).items()]

    def open(self, name: str) -> Any:
        """Open an object through the file system that its URI names."""
        system, _ = self._system()
        return system.open(name, "rb")

    def _system(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs  # type: ignore[import-untyped]  # ships no types

        system, root = url_to_fs(self.uri)  # fsspec keeps one per process
        return system, root
