"""The last lines of a log, each cut to a bounded length."""

from __future__ import annotations

from collections import deque

TAIL_LINES = 40
TAIL_WIDTH = 1000


class LastLines:
    """Keeps the last lines that have something in them; of the states of a progress bar, which carriage returns end, only the last."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._overwritten = b""

    def texts(self) -> tuple[str, ...]:
        """Return them, oldest first."""
        lines = [*self._lines, *([self._overwritten] if self._overwritten else [])]
        return tuple(line.decode("utf-8", "replace") for line in lines[-TAIL_LINES:])

    @property
    def last(self) -> bytes:
        """The last of them; empty where there is none."""
        return self._overwritten or (self._lines[-1] if self._lines else b"")

    def add(self, lines: bytes) -> None:
        """Take whole lines, with their ends."""
        *rows, last = lines.rsplit(b"\n", 2 * TAIL_LINES)
        if len(rows) == 2 * TAIL_LINES and sum(1 for row in rows[1:] if row.strip(b"\r")) < TAIL_LINES:
            *rows, last = lines.split(b"\n")
        found: list[bytes] = []
        # From the end, as no more than so many are kept.
        for number in range(len(rows) - 1, -1, -1):
            shown = _shown(rows[number]) or (self._overwritten if number == 0 else b"")
            if shown:
                found.append(shown)
                if len(found) == TAIL_LINES:
                    break
        self._lines.extend(reversed(found))
        if rows:
            self._overwritten = b""
        self._overwritten = _shown(last) or self._overwritten


def _shown(row: bytes) -> bytes:
    """Return the last state in a row that is not empty, cut."""
    line = row.rstrip(b"\r")
    line = line[line.rfind(b"\r") + 1 :]
    return line if len(line) <= TAIL_WIDTH else line[:TAIL_WIDTH] + b" ..."
