"""A fake object store: objects in memory, with faults that can be switched on."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from backends.object_store import ListedObject, ReadObject
from definitions.errors import OutriderError, UserError
from definitions.files import replacing_with


class StoreFaultError(OutriderError):
    """A call that did not get done."""


class MemoryStore:
    """An `ObjectStore` in memory; several with the same `objects` are the same bucket seen by several.

    Args:
        uri: of its root.
        objects: what there is, by key; shared by stores that are one.
        now: clock for `modified_at`, in seconds.

    `failing` is asked before each call, with the operation and the key, and returns `""`, `"refused"` (nothing happens), `"denied"`
    (likewise, for want of a permission) or `"unanswered"` (it takes effect, and the caller is told that it failed).
    `hidden` are keys that a listing does not show yet.
    """

    def __init__(
        self,
        uri: str = "s3://bucket/outrider/runs/t",
        objects: dict[str, tuple[bytes, str, float]] | None = None,
        now: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.uri = uri
        self.objects = {} if objects is None else objects
        self.failing: Callable[[str, str], str] = lambda operation, key: ""
        self.hidden: set[str] = set()
        self.calls: Counter[str] = Counter()
        self.asked: list[tuple[str, str]] = []
        self._now, self._lock, self._written = now, threading.RLock(), 0

    def put(self, key: str, body: bytes) -> str:
        with self._calling("put", key):
            return self._write(key, body)

    def create(self, key: str, body: bytes) -> bool:
        with self._calling("create", key):
            there = self.objects.get(key)
            if there is not None:
                return there[0] == body
            self._write(key, body)
            return True

    def replace(self, key: str, body: bytes, etag: str) -> str | None:
        with self._calling("replace", key):
            there = self.objects.get(key)
            if there is None or (there[1] != etag and there[0] != body):
                return None
            return self._write(key, body)

    def get(self, key: str) -> ReadObject | None:
        with self._calling("get", key):
            there = self.objects.get(key)
            return None if there is None else ReadObject(there[0], there[1])

    def list(self, prefix: str = "") -> list[ListedObject]:
        with self._calling("list", prefix):
            found = sorted((key, one) for key, one in self.objects.items() if key.startswith(prefix) and key not in self.hidden)
            return [ListedObject(key, len(body), etag, at) for key, (body, etag, at) in found]

    def delete(self, keys: Sequence[str]) -> None:
        with self._calling("delete", ""):
            for key in keys:
                self.objects.pop(key, None)

    def upload(self, path: Path, key: str) -> None:
        with self._calling("upload", key):
            self._write(key, path.read_bytes())

    def download(self, key: str, path: Path) -> None:
        with self._calling("download", key):
            if key not in self.objects:
                raise UserError(f"{self.uri}/{key}: it cannot be read", "there is no such object")
            with replacing_with(path) as temporary:
                temporary.write_bytes(self.objects[key][0])

    def _write(self, key: str, body: bytes) -> str:
        etag = f'"{hashlib.md5(body).hexdigest()}"'
        self.objects[key] = (bytes(body), etag, self._now())
        return etag

    @contextlib.contextmanager
    def _calling(self, operation: str, key: str) -> Iterator[None]:
        self.calls[operation] += 1
        self.asked.append((operation, key))
        fault = self.failing(operation, key)
        if fault in ("refused", "denied"):
            error = StoreFaultError(f"{operation} {key}: {fault}")
            error.is_denied = fault == "denied"
            raise error
        with self._lock:
            yield
        if fault == "unanswered":
            raise StoreFaultError(f"{operation} {key}: not answered")
