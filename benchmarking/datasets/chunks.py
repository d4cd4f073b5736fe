"""Chunks of litdata: written by its own writer, one at a time, and the index that its readers begin with."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarking.datasets.made_sample import MadeSample
from definitions import strict_json

INDEX = "index.json"

_OVERHEAD_BYTES = 48
"""Of a sample in a chunk beside its content, about: its place, sizes of its fields, key and label."""


def chunk_name(number: int) -> str:
    """Return what the library calls the chunk of this number."""
    return f"chunk-0-{number}.bin"


def item_of(sample: MadeSample) -> dict[str, Any]:
    """Return a sample as `litdata.optimize` would be given it: `key`, `image` (bytes, or an array of pixels) or `data`, and `label`."""
    content: Any = b"".join(sample.content)
    if sample.shape:
        import numpy as np

        content = np.frombuffer(content, np.uint8).reshape(sample.shape)
    found = {"key": sample.key, "data" if sample.ending == "bin" else "image": content}
    return found if sample.label is None else {**found, "label": sample.label}


def chunk(samples: Iterable[MadeSample]) -> bytes:
    """Return the bytes of one chunk."""
    items = [item_of(sample) for sample in samples]
    with tempfile.TemporaryDirectory(prefix="outrider-chunk-") as folder:
        writer = _writer(folder, len(items))
        for number, item in enumerate(items):
            writer[number] = item
        (path,) = writer.done()
        return Path(path).read_bytes()


def index(sample: MadeSample, chunks: Sequence[tuple[str, int, int]], per_chunk: int) -> bytes:
    """Return the index of a set.

    Args:
        sample: one of its samples, which tells of what kind its fields are.
        chunks: (name, bytes, samples) of each chunk, in order.
        per_chunk: samples of a chunk, but of the last one.
    """
    with tempfile.TemporaryDirectory(prefix="outrider-chunk-") as folder:
        writer = _writer(folder, per_chunk)
        writer[0] = item_of(sample)
        writer.done()
        config = writer.get_config()
    rows = [{"chunk_bytes": size, "chunk_size": samples, "dim": None, "filename": name} for name, size, samples in chunks]
    return strict_json.dumps({"chunks": rows, "config": config}).encode()


def stored_bytes(sample: MadeSample) -> int:
    """Return how many bytes a sample takes in a chunk, about."""
    return sum(map(len, sample.content)) + _OVERHEAD_BYTES


def _writer(folder: str, per_chunk: int) -> Any:
    from litdata.streaming.writer import BinaryWriter

    return BinaryWriter(folder, chunk_size=per_chunk)
