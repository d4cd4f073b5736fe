"""Writing behind the back of training: the state is copied, and a thread writes the copy."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .base import StoreOptions, copied


class ThreadedStore:
    """What writers share whose first rank writes all, and that have no way of their own to write in the background."""

    def __init__(self, options: StoreOptions) -> None:
        self._options = options
        self._thread: ThreadPoolExecutor | None = None
        self._copy: Any = None
        self._written: Future[Any] | None = None

    def save(self, state: Mapping[str, Any], name: str) -> None:
        """Write a state."""
        raise NotImplementedError

    def begin(self, state: Mapping[str, Any], name: str) -> Future[Any]:
        """Copy the first rank's state, and have a thread write it."""
        if self._options.rank:
            done: Future[Any] = Future()
            done.set_result(None)
            return done
        self._thread = self._thread or ThreadPoolExecutor(1, "checkpoint")
        if self._written is not None:
            self._written.exception()  # the copy's memory is used again
        self._copy = copied(state, self._copy)
        self._written = self._thread.submit(self.save, self._copy, name)
        return self._written

    def close(self) -> None:
        """Wait for the thread, and end it."""
        if self._thread is not None:
            self._thread.shutdown()
