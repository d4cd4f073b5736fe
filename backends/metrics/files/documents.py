"""Reads a JSON file that is written whole: one object, or objects in a list."""

from __future__ import annotations

import json
import os

from backends.metrics.files.rows import Reader, RowMemory, flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LARGEST_BYTES = 1 << 26
_LISTS = ("log_history", "history", "metrics")


class JsonReader(Reader):
    """Reads a JSON file each time that it was written: its object is one report, of a list each object.

    A list may also stand within the object, alone or as `log_history`, where transformers' state of a trainer has it. An object of lists
    of one length, as the history of Keras is, has a row for each place.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._state: tuple[int, int, int] | None = None
        self._last: dict[str, Any] | None = None
        self._memory = RowMemory()
        self._is_broken = False

    def read(self) -> tuple[list[dict[str, Any]], bool]:
        """Return rows, and whether there may be more, as `Reader.read` does."""
        state = self._status()
        if state is None or state == self._state:
            return [], False
        try:
            with open(self._path, encoding="utf-8-sig") as file:  # noqa: PTH123
                content = json.loads(file.read(_LARGEST_BYTES))
        except (OSError, ValueError, RecursionError):
            # Half written; what is whole comes later.
            self._is_broken = True
            return [], False
        self._state, self._is_broken = state, False
        return self._new(content), False

    def look_again(self) -> None:
        """Trust no time, as `Reader.look_again` says; what was there before the start stays what it was."""
        if self.columns:
            self._state = None

    def finish(self, is_whole: bool) -> list[dict[str, Any]]:
        """Return what was written last, as `Reader.finish` does."""
        found, _ = self.read()
        self.unreadable += self._is_broken
        return found

    def begin(self) -> None:
        """Pass over what is there, as `Reader.begin` does."""
        self._state = self._status()

    def _status(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self._path)  # noqa: PTH116
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _new(self, content: Any) -> list[dict[str, Any]]:
        rows, is_list = _rows(content)
        if not rows:
            self.unreadable += 1
        for row in rows:
            self.columns.update(dict.fromkeys(row))
        if not is_list and rows:
            last, self._last = self._last, rows[0]
            return [] if repr(last) == repr(rows[0]) else rows
        self._memory.restart()
        return [row for row in rows if self._memory.is_new(row)]


def _rows(content: Any) -> tuple[list[dict[str, Any]], bool]:
    """Return the rows of a document, and whether they stand in a list."""
    if isinstance(content, list):
        return [row for row in (flat(one) for one in content if isinstance(one, dict)) if row], True
    if not isinstance(content, dict):
        return [], False
    for name in _LISTS:
        if isinstance(content.get(name), list) and any(isinstance(one, dict) for one in content[name]):
            return _rows(content[name])
    lists = {name: value for name, value in content.items() if isinstance(value, list)}
    row = flat(content)
    if lists and not row and len({len(value) for value in lists.values()}) == 1:
        length = len(next(iter(lists.values())))
        return _rows([{name: value[place] for name, value in lists.items()} for place in range(length)])
    return [row] if row else [], False
