"""What the readers of all formats return, and which rows of a file that was written anew were delivered before."""

from __future__ import annotations

from array import array
from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CHUNK_BYTES = 1 << 16
"""Most bytes read of a file at a time."""


class Reader:
    """Reads one file, as far as it is written.

    Attributes:
        unreadable: rows, lines or records that could not be read so far.
        columns: names that were seen, in their order.
    """

    def __init__(self) -> None:
        self.unreadable = 0
        self.columns: dict[str, None] = {}

    def read(self) -> tuple[list[dict[str, Any]], bool]:
        """Return the next rows that were not returned before, and whether there may be more at once."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Trust no time of a file at the next call, as nothing comes after it."""

    def finish(self, is_whole: bool) -> list[dict[str, Any]]:
        """Return what the file ends with, and release it.

        Args:
            is_whole: whether the script ended by itself, so that a last line without an end is not cut off.
        """
        raise NotImplementedError

    def begin(self) -> None:
        """Pass over what is there: it is not of the job that is about to start, unless the file is written anew."""
        raise NotImplementedError


class RowMemory:
    """Rows that were delivered, so that they are not delivered again where a file is written anew with what it had before."""

    def __init__(self) -> None:
        self._delivered = array("q")
        self._known: Counter[int] = Counter()

    def restart(self) -> None:
        """The file begins anew: each row that was delivered may stand there once more."""
        self._known = Counter(self._delivered)

    def is_new(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row was not delivered yet, and take it as delivered."""
        # Columns that have no value in it may have come since.
        digest = hash(repr(sorted(row.items())))
        if self._known.get(digest, 0) > 0:
            self._known[digest] -= 1
            return False
        self._delivered.append(digest)
        return True

    def forget(self) -> None:
        """Take nothing as delivered."""
        self._delivered = array("q")
        self._known.clear()


def flat(value: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return a mapping with the values of mappings within it under joined names, `test.acc`; lists and nulls are left out."""
    found: dict[str, Any] = {}
    for name, inner in value.items():
        if isinstance(inner, dict):
            found.update(flat(inner, f"{above}{name}."))
        elif isinstance(inner, (bool, int, float, str)):
            found[f"{above}{name}"] = inner
    return found
