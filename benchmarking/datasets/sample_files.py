"""Writes samples into files: one each, TAR shards, or TFRecords; with the checksum that the manifest keeps."""

from __future__ import annotations

import io
import os
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from benchmarking.datasets import chunks
from benchmarking.datasets.made_sample import MadeSample
from benchmarking.datasets.manifest import MADE_S, FileEntry
from benchmarking.workloads.ingestion.tfrecord import Value, example, framed

Wanted = Callable[[str], bool]


def tar_members(sample: MadeSample) -> bytes:
    """Return what a TAR archive holds of a sample: `<key>.<ending>`, and `<key>.cls` with its label."""
    content = (npy_header(sample.shape), *sample.content) if sample.shape else sample.content
    parts = _member(f"{sample.key}.{sample.ending}", content)
    if sample.label is not None:
        parts += _member(f"{sample.key}.cls", (str(sample.label).encode(),))
    return b"".join(parts)


def _member(name: str, content: tuple[bytes, ...]) -> list[bytes]:
    info = tarfile.TarInfo(name)
    info.size = sum(map(len, content))
    return [info.tobuf(tarfile.USTAR_FORMAT), *content, bytes(-info.size % tarfile.BLOCKSIZE)]


def npy_header(shape: tuple[int, ...]) -> bytes:
    """Return what stands before bytes of this shape in a file of NumPy's own format."""
    from numpy.lib import format as npy

    buffer = io.BytesIO()
    npy.write_array_header_1_0(buffer, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def record(sample: MadeSample) -> bytes:
    """Return the TFRecord of a sample: `image`, `label`, and for pixels `height`, `width`, `depth`; `data` for bytes that are no image."""
    content = b"".join(sample.content)
    features: dict[str, Value] = {"data" if sample.ending == "bin" else "image": content, "key": sample.key.encode()}
    if sample.label is not None:
        features["label"] = sample.label
    if sample.shape:
        features.update(zip(("height", "width", "depth"), sample.shape, strict=True))
    return framed(example(features))


_END_OF_TAR = bytes(2 * tarfile.BLOCKSIZE)


def shard(layout: str, samples: Iterable[MadeSample]) -> Iterator[bytes]:
    """Yield the bytes of a shard of layout `shards` or of a file of layout `records`, a sample at a time; those of a chunk at once."""
    if layout == "chunks":
        yield chunks.chunk(samples)
        return
    for sample in samples:
        yield record(sample) if layout == "records" else tar_members(sample)
    if layout == "shards":
        yield _END_OF_TAR


def stored_bytes(layout: str, sample: MadeSample) -> int:
    """Return how many bytes a sample takes in a shard."""
    if layout == "chunks":
        return chunks.stored_bytes(sample)
    return len(tar_members(sample) if layout == "shards" else record(sample))


def write_file(data: Path, name: str, copies: int, content: Iterable[bytes], wanted: Wanted) -> list[FileEntry]:
    """Write a file and its copies, those that are wanted, and return the entries of all.

    Args:
        data: folder of the set's files.
        name: of the file; copies are `copy-2/<name>` and so on, files of their own, as a link would share its cached pages.
        copies: how often it is there, itself included.
        content: its bytes, in parts.
        wanted: says of a name whether it is to be written.

    Raises:
        OSError: it cannot be written.
    """
    names = [name, *(f"copy-{number}/{name}" for number in range(2, copies + 1))]
    files = [_opened(f"{data}/{one}") for one in names if wanted(one)]
    size, checksum = 0, 0
    try:
        for part in content:
            size += len(part)
            checksum = zlib.crc32(part, checksum)
            for file in files:
                _write(file, part)
        for file in files:
            os.utime(file, (MADE_S, MADE_S))
    finally:
        for file in files:
            os.close(file)
    return [FileEntry(one, size, checksum) for one in names]


def _opened(path: str) -> int:
    # Descriptors: with small files, objects of Python would cost as much as what is written.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o644)
    except FileNotFoundError:
        os.makedirs(path.rpartition("/")[0], exist_ok=True)  # noqa: PTH103  # as above
        return os.open(path, flags, 0o644)


def _write(file: int, content: bytes) -> None:
    written = os.write(file, content)
    while written < len(content):
        written += os.write(file, content[written:])
