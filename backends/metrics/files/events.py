"""Scalars of TensorBoard event files, folder by folder."""

from __future__ import annotations

import bisect
import os
import struct
from array import array

from backends.metrics.files.records import RecordTail, masked_crc32c
from backends.metrics.files.rows import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Field = tuple[int, int, Any]

STEP = ""
"""The name of a row's step, which no tag can have."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_OTHERS = ("_hparams_/",)
# By the number of a data type: how one of its values stands in the content of a tensor.
_CONTENTS = {1: "<f", 2: "<d", 3: "<i", 9: "<q", 19: "<e"}
# Fields of a tensor that hold values, and how: float, double, int, int64.
_VALUES = {5: "<f", 6: "<d", 7: "", 10: ""}


class _Steps:
    """A set of steps, which come in ascending order as a rule."""

    def __init__(self) -> None:
        self._steps = array("q")

    def add(self, step: int) -> bool:
        """Add a step; return whether it is new."""
        if not self._steps or step > self._steps[-1]:
            self._steps.append(step)
            return True
        at = bisect.bisect_left(self._steps, step)
        if self._steps[at] == step:
            return False
        self._steps.insert(at, step)
        return True


class EventsReader(Reader):
    """Reads all event files of a folder and of those in it: several processes and restarts write one each.

    A scalar is known by its tag and step, whichever file has it. Tags of a folder within have its name before them, `validation/loss`.

    Args:
        path: of the folder, or of one event file.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._files: dict[str, RecordTail] = {}
        self._delivered: dict[str, _Steps] = {}

    def read(self) -> tuple[list[dict[str, Any]], bool]:
        """Return a row for each step, and whether there may be more, as `Reader.read` does."""
        rows: dict[int, dict[str, Any]] = {}
        is_more = False
        for path, prefix in self._found():
            if path not in self._files:
                self._files[path] = RecordTail(path)
            records, more = self._files[path].take()
            is_more = is_more or more
            for data, crc in records:
                self._take(data, crc, prefix, rows)
        self.unreadable += sum(tail.unreadable for tail in self._files.values())
        for tail in self._files.values():
            tail.unreadable = 0
        return [{STEP: step, **rows[step]} for step in sorted(rows)], is_more

    def finish(self, is_whole: bool) -> list[dict[str, Any]]:
        """Release the files, as `Reader.finish` does; a record that is cut off is none."""
        self.unreadable += sum(tail.close() for tail in self._files.values())
        return []

    def begin(self) -> None:
        """Pass over what is there, as `Reader.begin` does."""
        while self.read()[1]:
            pass
        # The same steps may come again in files of the job's own.
        self._delivered.clear()
        self.columns.clear()
        self.unreadable = 0

    def _found(self) -> Iterator[tuple[str, str]]:
        """Yield the event files, each with what comes before its tags."""
        if not os.path.isdir(self._path):  # noqa: PTH112
            if os.path.exists(self._path):  # noqa: PTH110
                yield self._path, ""
            return
        for folder, inner, names in os.walk(self._path):
            inner.sort()
            below = os.path.relpath(folder, self._path)
            for name in sorted(names):
                if "tfevents" in name:
                    yield os.path.join(folder, name), "" if below == os.curdir else below.replace(os.sep, "/") + "/"  # noqa: PTH118

    def _take(self, data: bytes, crc: int, prefix: str, rows: dict[int, dict[str, Any]]) -> None:
        try:
            step, scalars = scalars_of(data)
        except (ValueError, struct.error, IndexError):
            self.unreadable += 1
            return
        # Compared only where something is taken from it: checksums in Python are slow, and most bytes are images and histograms.
        if not scalars:
            return
        if masked_crc32c(data) != crc:
            self.unreadable += 1
            return
        for tag, value in scalars.items():
            name = prefix + tag
            if self._delivered.setdefault(name, _Steps()).add(step):
                self.columns[name] = None
                rows.setdefault(step, {})[name] = value


def scalars_of(data: bytes) -> tuple[int, Mapping[str, float]]:
    """Return the step of an event, and its scalars by tag (tensorflow/core/util/event.proto, framework/summary.proto).

    Raises:
        ValueError, IndexError, struct.error: it is none.
    """
    step, found = 0, {}
    for number, kind, value in _fields(data):
        if number == 2 and kind == _VARINT:
            step = value - (1 << 64) if value >= 1 << 63 else value
        elif number == 5 and kind == _BYTES:
            for inner, inner_kind, one in _fields(value):
                if inner == 1 and inner_kind == _BYTES:
                    tag, scalar = _scalar(one)
                    if scalar is not None and not tag.startswith(_OTHERS):
                        found[tag] = scalar
    return step, found


def _scalar(data: bytes) -> tuple[str, float | None]:
    """Return the tag of a summary's value, and its number where it is one."""
    tag, scalar = "", None
    for number, kind, value in _fields(data):
        if number == 1 and kind == _BYTES:
            tag = value.decode("utf-8", "replace")
        elif number == 2 and kind == _FIXED32:
            scalar = _rounded(struct.unpack("<f", value)[0])
        elif number == 8 and kind == _BYTES:
            scalar = _of_tensor(value)
    return tag, scalar


def _of_tensor(data: bytes) -> float | None:
    """Return the number of a tensor with one element (tensorflow/core/framework/tensor.proto); None for any other."""
    kind_of_data, size, content, values = 0, 1, b"", []
    for number, kind, value in _fields(data):
        if number == 1 and kind == _VARINT:
            kind_of_data = value
        elif number == 2 and kind == _BYTES:
            for inner, _, dimension in _fields(value):
                if inner == 2:
                    size *= next((length for field, _, length in _fields(dimension) if field == 1), 0)
        elif number == 4 and kind == _BYTES:
            content = value
        elif number in _VALUES:
            values += _numbers(kind, value, _VALUES[number])
    form = _CONTENTS.get(kind_of_data)
    if size != 1 or form is None:
        return None
    found = values[0] if len(values) == 1 else struct.unpack(form, content)[0] if len(content) == struct.calcsize(form) else None
    return _rounded(found) if form in ("<f", "<e") and found is not None else found


def _numbers(kind: int, value: Any, form: str) -> list[Any]:
    if kind == _BYTES and form:
        return [one for (one,) in struct.iter_unpack(form, value)]
    if kind == _BYTES:
        found, at = [], 0
        while at < len(value):
            one, at = _varint(value, at)
            found.append(one - (1 << 64) if one >= 1 << 63 else one)
        return found
    if form:
        return [struct.unpack(form, value)[0]]
    return [value - (1 << 64) if value >= 1 << 63 else value]


def _rounded(value: float) -> float:
    """Return what a number of 32 bits was most likely written from: 0.1, not 0.10000000149011612."""
    return float(f"{value:.7g}") if struct.pack("<f", float(f"{value:.7g}")) == struct.pack("<f", value) else value


def _fields(data: bytes) -> Iterator[Field]:
    """Yield the fields of a protocol buffer: number, kind, value (protobuf.dev/programming-guides/encoding)."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield number, kind, value
            continue
        if kind == _BYTES:
            length, at = _varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"{kind} is no kind of a field")
        if at + length > len(data):
            raise ValueError("a field is longer than what it is in")
        yield number, kind, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value & (1 << 64) - 1, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")
