"""A store whose listings lag: what was just written is there to be read, and is not shown yet."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Protocol

from backends.emulator.s3.store import S3Store, StoredObject


class Selects(Protocol):
    """What a listing is made from."""

    def select(self, bucket: str, prefix: str = "", after: str = "", limit: int = -1) -> list[StoredObject]:
        """Return objects by key; see `S3Store`."""
        ...


class ShownObjects:
    """The objects that a listing shows.

    Args:
        store: all of them.
        lag_s: for how many seconds an object is not shown after it was written, by pattern of its key.
    """

    def __init__(self, store: S3Store, lag_s: Mapping[str, float]) -> None:
        self._store, self._lag_s = store, lag_s

    def select(self, bucket: str, prefix: str = "", after: str = "", limit: int = -1) -> list[StoredObject]:
        """Return those that are shown; as many as are asked for, where there are as many."""
        shown: list[StoredObject] = []
        now = self._store.now()
        while True:
            batch = self._store.select(bucket, prefix, after, limit)
            shown += [one for one in batch if now >= one.modified + self._longest_s(one.key)]
            if limit < 0 or len(batch) < limit or len(shown) >= limit:
                return shown if limit < 0 else shown[:limit]
            after = batch[-1].key

    def _longest_s(self, key: str) -> float:
        return max((seconds for pattern, seconds in self._lag_s.items() if fnmatch.fnmatchcase(key, pattern)), default=0.0)
