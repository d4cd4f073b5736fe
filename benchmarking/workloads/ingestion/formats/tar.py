"""Samples in TAR archives: members of one stem that follow each other are one sample."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import Any

from ..samples import Sample, decoded, key_of

_BUFFER_BYTES = 1 << 18


def unpacked(file: Any) -> Iterator[Sample]:
    """Yield the samples of a TAR stream, whose members `<key>.jpg` and `<key>.cls` follow each other; several archives may follow too."""
    key = ""
    parts: dict[str, bytes] = {}
    with tarfile.open(fileobj=file, mode="r|", ignore_zeros=True, bufsize=_BUFFER_BYTES) as archive:
        for member in archive:
            stem, _, suffix = member.name.rpartition(".")
            content = archive.extractfile(member)
            if content is None:
                continue
            if stem != key:
                key, parts = stem, {}
            parts[suffix] = content.read()
            if "jpg" in parts and "cls" in parts:
                yield key_of(member.name), decoded(parts["jpg"]), int(parts["cls"])
                parts = {}
