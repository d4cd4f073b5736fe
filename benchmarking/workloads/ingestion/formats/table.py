"""Samples in tables: each row of a CSV or Parquet file is one, read by pyarrow a block of rows at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from ..samples import UNLABELLED, BadSampleError, RawSample
from ..tolerance import Tolerance

_LABEL = ("label", "class", "target", "y")
_KEY = ("key", "id", "filename")
_HEAD_BYTES = 1 << 20
_ROWS = 4096


def rows_of(file: Any, name: str, labels: str, tolerance: Tolerance) -> Iterator[RawSample]:
    """Yield the rows of a table.

    A row's content are its numbers as float32 (columns,), those of the label and of the key left out, a missing one as NaN; where a column
    holds bytes (alone, or as `bytes` within a structure, as tables of images have it) these are the content; text where there is neither.

    Args:
        file: binary; of a Parquet file read from its end where it can be, else as a whole.
        name: of the file.
        labels: `feature` (a column `label`, `class`, `target` or `y`) or `none`.
        tolerance: where rows without a label are counted, and damaged files: what follows damage is not read.

    Raises:
        BadSampleError: the file is cut or damaged, or a label is no whole number, and no more may be skipped.
        SystemExit: pyarrow is not installed.
    """
    try:
        import pyarrow as arrow
    except ImportError:
        raise SystemExit(f"{name}: tables are read by the package pyarrow, which is not installed: pip install pyarrow") from None
    row = 0
    try:
        for batch in _blocks(file, name):
            yield from _samples(batch, name, row, labels, tolerance)
            row += batch.num_rows
    except (arrow.ArrowException, OSError) as error:
        tolerance.skip(BadSampleError(f"{name}: a damaged or cut table, after row {row - 1 if row else 'none'}: {error}"))


def _blocks(file: Any, name: str) -> Iterator[Any]:
    if name.lower().endswith(".csv"):
        return iter(_csv(file, name))
    from pyarrow import parquet

    whole = file if hasattr(file, "seek") and _can_seek(file) else io.BytesIO(file.read())
    # Loader workers are as many as there are cores for it: threads of each would take those of the others.
    return iter(parquet.ParquetFile(whole).iter_batches(batch_size=_ROWS, use_threads=False))


def _can_seek(file: Any) -> bool:
    try:
        file.seek(0)
    except (OSError, AttributeError, io.UnsupportedOperation):
        return False
    return True


def _csv(file: Any, name: str) -> Any:
    """Return a reader of blocks of rows whose whole numbers may turn out to be others further down."""
    import pyarrow as arrow
    from pyarrow import csv

    head = _exactly(file, _HEAD_BYTES)
    whole_lines = head[: head.rfind(b"\n") + 1] or head
    if not whole_lines.strip():
        raise BadSampleError(f"{name}: it is empty")
    found = csv.read_csv(io.BytesIO(whole_lines), csv.ReadOptions(use_threads=False)).schema
    kept = {*_LABEL, *_KEY}
    numbers = {
        field.name: arrow.float64()
        for field in found
        if field.name.lower() not in kept and (arrow.types.is_integer(field.type) or arrow.types.is_null(field.type))
    }
    options = csv.ConvertOptions(column_types={field.name: numbers.get(field.name, field.type) for field in found})
    return csv.open_csv(_Continued(head, file), csv.ReadOptions(use_threads=False), convert_options=options)


class _Continued(io.RawIOBase):
    """A file of which the beginning was read before."""

    def __init__(self, head: bytes, rest: Any) -> None:
        self._head, self._rest = io.BytesIO(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._head.read(len(buffer)) or self._rest.read(len(buffer))
        buffer[: len(part)] = part
        return len(part)


def _exactly(file: Any, size: int) -> bytes:
    parts, missing = [], size
    while missing and (part := file.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _samples(batch: Any, name: str, first: int, labels: str, tolerance: Tolerance) -> Iterator[RawSample]:
    names = {column.lower(): number for number, column in reversed(list(enumerate(batch.schema.names)))}
    label = next((names[one] for one in _LABEL if one in names), None)
    key = next((names[one] for one in _KEY if one in names), None)
    contents = _contents(batch, {label, key}, name)
    numbers = batch.column(label).to_pylist() if label is not None and labels != "none" else None
    keys = batch.column(key).to_pylist() if key is not None else None
    stem = name.rpartition("/")[2].rpartition(".")[0]
    for at in range(batch.num_rows):
        place = f"{name}: row {first + at}"
        try:
            number = UNLABELLED if numbers is None else _label(numbers[at], place)
        except BadSampleError as error:
            tolerance.skip(error)
            continue
        if labels != "none" and (numbers is None or numbers[at] is None):
            tolerance.count("unlabelled")
        content = contents[at]
        if content is None:
            tolerance.skip(BadSampleError(f"{place}: its content is missing"))
            continue
        yield RawSample(f"{stem}-{first + at:06d}" if keys is None else str(keys[at]), content, number, place)


def _label(value: Any, place: str) -> int:
    if value is None:
        return UNLABELLED
    try:
        return int(value)
    except (TypeError, ValueError):
        raise BadSampleError(f"{place}: its label {str(value)[:40]!r} is no whole number") from None


def _contents(batch: Any, left_out: set[int | None], name: str) -> Any:
    """Return the contents of rows (rows,): bytes of the first column of such, else all numbers, else text of the first column of such."""
    import numpy as np
    import pyarrow as arrow

    kinds = arrow.types
    columns = [batch.column(number) for number in range(batch.num_columns) if number not in left_out]
    for column in columns:
        if kinds.is_struct(column.type) and column.type.get_field_index("bytes") >= 0:
            column = column.field(column.type.get_field_index("bytes"))
        if kinds.is_binary(column.type) or kinds.is_large_binary(column.type):
            return list(column.to_pylist())
    numbers = [one for one in columns if kinds.is_integer(one.type) or kinds.is_floating(one.type) or kinds.is_boolean(one.type)]
    if numbers:
        return np.column_stack([one.to_numpy(zero_copy_only=False).astype(np.float32) for one in numbers])
    texts = [one for one in columns if kinds.is_string(one.type) or kinds.is_large_string(one.type)]
    if texts:
        return [None if value is None else value.encode() for value in texts[0].to_pylist()]
    raise BadSampleError(f"{name}: none of its columns holds numbers, bytes or text (it has {', '.join(batch.schema.names) or 'none'})")
