"""Tables of numbers with a label, as CSV or Parquet, a partition a file."""

from __future__ import annotations

import io
from typing import Any

from definitions.datasets import TableDataset


def table_file(spec: TableDataset, partition: int, rows: range) -> tuple[str, int, tuple[bytes]]:
    """Return name, copies and content of one partition.

    Args:
        spec: of the set.
        partition: its number.
        rows: numbers of its rows.
    """
    content = _csv(spec, *_numbers(spec, rows)) if spec.format == "csv" else _parquet(spec, *_numbers(spec, rows))
    return f"part-{partition:05d}.{spec.format}", spec.copies, (content,)


def _numbers(spec: TableDataset, rows: range) -> tuple[Any, Any]:
    """Return features (rows, columns) and labels (rows,): in which of `classes` bands, about equally frequent, their sum falls.

    Each thousand rows has a generator of its own, so that a row does not depend on where partitions are cut.
    """
    import numpy as np

    block = 1000
    first, last = rows[0] // block, rows[-1] // block
    blocks = [np.random.default_rng((spec.seed, number)).standard_normal((block, spec.columns)) for number in range(first, last + 1)]
    features = np.concatenate(blocks)[rows[0] - first * block :][: len(rows)]
    # The logistic function with this slope is within 0.01 of the normal distribution (Johnson and Kotz 1970, ch. 22).
    share = 1 / (1 + np.exp(-1.702 * features.sum(axis=1) / np.sqrt(spec.columns)))
    return features, np.minimum((share * spec.classes).astype(np.int64), spec.classes - 1)


def _names(spec: TableDataset) -> list[str]:
    return [f"x{column}" for column in range(spec.columns)]


def _csv(spec: TableDataset, features: Any, labels: Any) -> bytes:
    lines = [",".join([*_names(spec), "label"])]
    lines += [
        ",".join([*(f"{value:.6g}" for value in row), str(label)]) for row, label in zip(features.tolist(), labels.tolist(), strict=True)
    ]
    return ("\n".join(lines) + "\n").encode()


def _parquet(spec: TableDataset, features: Any, labels: Any) -> bytes:
    import pyarrow as arrow
    from pyarrow import parquet

    columns = dict(zip(_names(spec), features.T, strict=True))
    buffer = io.BytesIO()
    parquet.write_table(arrow.table({**columns, "label": labels}), buffer)
    return buffer.getvalue()
