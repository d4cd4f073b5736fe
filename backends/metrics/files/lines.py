"""Reads files of lines as they grow: CSV, and JSON objects one a line."""

from __future__ import annotations

import csv
import json
import re

from backends.metrics.files.rows import CHUNK_BYTES, Reader, RowMemory, flat
from backends.metrics.files.tail import FileTail
from backends.metrics.gathering import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LONGEST_LINE = 1 << 20
_MOST_JOINED = 100
_IS_NUMBER = re.compile(r"[-+]?[0-9.]+$")
_BOM = "\ufeff"


class LineReader(Reader):
    """Reads whole lines; subclasses know what is in them."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._tail = FileTail(path)
        self._memory = RowMemory()
        self._rest = b""
        self._old_rest = b""
        self._is_overlong = False

    def read(self) -> tuple[list[dict[str, Any]], bool]:
        """Return rows, and whether there may be more, as `Reader.read` does."""
        is_anew, data = self._tail.take(CHUNK_BYTES)
        if is_anew:
            self._rest = self._old_rest = b""
            self._is_overlong = False
            self._memory.restart()
            self.restart()
            return [], True
        *lines, self._rest = (self._rest + data).split(b"\n")
        if lines and self._is_overlong:
            lines, self._is_overlong = lines[1:], False
        if len(self._rest) > _LONGEST_LINE:
            # No row is that long; what follows up to its end is of it.
            self.unreadable += not self._is_overlong
            self._rest, self._is_overlong = b"", True
        return self._new(lines), bool(data)

    def look_again(self) -> None:
        """Trust no time, as `Reader.look_again` says."""
        self._tail.look_again()

    def finish(self, is_whole: bool) -> list[dict[str, Any]]:
        """Return the row of a last line without an end, as `Reader.finish` does."""
        rest, self._rest = self._rest, b""
        self._tail.close()
        if not rest or rest == self._old_rest or self._is_overlong:
            return []
        if is_whole:
            return self._new([rest])
        self.unreadable += 1
        return []

    def begin(self) -> None:
        """Pass over what is there, as `Reader.begin` does."""
        while self.read()[1]:
            pass
        self._old_rest = self._rest
        self.unreadable = 0
        self._memory.forget()

    def rows(self, line: str) -> Iterator[dict[str, Any]]:
        """Yield the rows in one line, without its end."""
        raise NotImplementedError

    def restart(self) -> None:
        """The file begins anew."""

    def _new(self, lines: list[bytes]) -> list[dict[str, Any]]:
        found = []
        for line in lines:
            text = _decoded(line).rstrip("\r")
            for row in self.rows(text) if text.strip() else ():
                self.columns.update(dict.fromkeys(row))
                if row and self._memory.is_new(row):
                    found.append(row)
        return found


class CsvReader(LineReader):
    """Reads a CSV file with a header: columns by comma, semicolon or tab; without a header they are called 1, 2, ...

    A header may come again, and another one, as programs that append do. A row of another length than its header's is none.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._header: list[str] | None = None
        self._separator = ","
        self._open = ""
        self._joined = 0

    def restart(self) -> None:
        """The file begins anew, with a header."""
        self._header, self._open = None, ""

    def rows(self, line: str) -> Iterator[dict[str, Any]]:
        """Yield the row in a line, if it is whole with it."""
        text = f"{self._open}\n{line}" if self._open else line
        if text.count('"') % 2 and self._joined < _MOST_JOINED and len(text) < _LONGEST_LINE:
            # A line end within quotes.
            self._open, self._joined = text, self._joined + 1
            return
        self._open, self._joined = "", 0
        if self._header is None:
            self._separator = max(",;\t", key=text.count) if any(mark in text for mark in ",;\t") else ","
        cells = self._cells(text)
        if self._is_header(cells):
            self._header = [cells[0].lstrip("# "), *cells[1:]]
            return
        if self._header is None:
            self._header = [str(place) for place in range(1, len(cells) + 1)]
        if not cells or len(cells) != len(self._header):
            self.unreadable += 1
            return
        yield {name: number(cell) for name, cell in zip(self._header, cells) if cell and name}  # noqa: B905 (not in Python 3.8)

    def _cells(self, text: str) -> list[str]:
        if '"' not in text:
            return [cell.strip() for cell in text.split(self._separator)]
        try:
            return [cell.strip() for cell in next(csv.reader([text], delimiter=self._separator, skipinitialspace=True), [])]
        except csv.Error:
            return []

    def _is_header(self, cells: list[str]) -> bool:
        if not cells or (self._header and cells[-1] == self._header[-1] and [cells[0].lstrip("# "), *cells[1:]] == self._header):
            return bool(cells)
        if self._header is not None and _IS_NUMBER.match(cells[0]):
            return False
        texts = [cell for cell in cells if cell and isinstance(number(cell), str)]
        if self._header is None:
            return bool(texts) and len([cell for cell in cells if cell]) == len(texts)
        return len(texts) == len(cells) and all(cells) and len(set(cells)) == len(cells) and len(set(cells) & set(self._header)) > 0


class JsonLinesReader(LineReader):
    """Reads JSON objects, one a line; several in one are as many rows, as where two processes write to one file."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._decode = json.JSONDecoder().raw_decode

    def rows(self, line: str) -> Iterator[dict[str, Any]]:
        """Yield the objects in a line."""
        at = 0
        while at < len(line):
            try:
                value, end = self._decode(line, at)
            except (ValueError, RecursionError):
                # What follows a cut-off object in the same line may be a whole one.
                self.unreadable += 1
                at = line.find("{", at + 1)
                if at < 0:
                    return
                continue
            if isinstance(value, dict):
                yield flat(value)
            else:
                self.unreadable += 1
            at = end
            while line[at : at + 1] in (" ", "\t", ","):
                at += 1


def _decoded(line: bytes) -> str:
    if b"\0" in line:
        # UTF-16 is ASCII with a zero beside each letter.
        line = line.replace(b"\0", b"").lstrip(b"\xff\xfe")
    try:
        return line.decode().lstrip(_BOM)
    except UnicodeDecodeError:
        return line.decode("latin-1")
