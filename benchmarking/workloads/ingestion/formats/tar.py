"""Samples in TAR archives: members of one stem that follow each other are one sample."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..samples import UNLABELLED, BadSampleError, RawSample, class_of, key_of
from ..tolerance import Tolerance
from .tar_stream import DamagedTarError, members

_IMAGES = ("jpg", "jpeg", "png", "ppm", "webp", "bmp", "gif", "tif", "tiff", "npy")
_LABELS = ("cls", "label")
_NUMBER = re.compile(r"(\d+)(?:\D|$)")


def members_of(file: Any, name: str, labels: str, tolerance: Tolerance) -> Iterator[RawSample]:
    """Yield the samples of a TAR stream; several archives may follow each other in it, as in a FIFO.

    A sample is an image (`<key>.jpg`, `.jpeg`, `.png`, `.npy`, ...; where its stem has none, its first member) and what else has its stem:
    `<key>.cls` is its label.

    Args:
        file: binary, read forwards only.
        name: of the archive, for what is said of what is wrong with it.
        labels: `member`, `folder` (the number that the member's folder is called by, or begins with) or `none`.
        tolerance: where samples without a label are counted, and damaged archives.

    Raises:
        BadSampleError: the archive is damaged or cut, or a label is no number, and no more may be skipped.
    """
    stem, parts = "", dict[str, bytes]()
    try:
        for member, content in members(file):
            folder, _, base = member.rpartition("/")
            start, _, suffix = base.partition(".")
            here = f"{folder}/{start}"
            if here != stem:
                yield from sample_of(stem, parts, name, labels, tolerance)
                stem, parts = here, {}
            parts[suffix.lower()] = content
    except DamagedTarError as error:
        tolerance.skip(BadSampleError(f"{name}: a damaged or cut TAR archive, after member {stem.lstrip('/') or 'none'}: {error}"))
        return
    yield from sample_of(stem, parts, name, labels, tolerance)


def sample_of(stem: str, parts: Mapping[str, bytes], name: str, labels: str, tolerance: Tolerance) -> Iterator[RawSample]:
    """Yield the sample that members of one stem are, if they are one.

    Args:
        stem: of the members' names.
        parts: content by ending, in lower case.
        name: of the archive.
        labels: as of `members_of`.
        tolerance: likewise.

    Raises:
        BadSampleError: its label is no number, and no more may be skipped.
    """
    if not parts:
        return
    main = next((kind for kind in _IMAGES if kind in parts), None) or next((kind for kind in parts if kind not in _LABELS), None)
    member = stem.lstrip("/")
    if main is None:
        return
    place = f"{name}: member {member}.{main}"
    try:
        label = _label(member, parts, place, labels, tolerance)
    except BadSampleError as error:
        tolerance.skip(error)
        return
    yield RawSample(key_of(f"{member}."), parts[main], label, place)


def _label(member: str, parts: Mapping[str, bytes], place: str, labels: str, tolerance: Tolerance) -> int:
    if labels == "none":
        return UNLABELLED
    if labels == "folder":
        folder = class_of(member)
        found = _NUMBER.match(folder)
        if found is None:
            raise BadSampleError(
                f"{place}: its folder {folder!r} begins with no number, by which `labels: folder` counts classes in archives"
            )
        return int(found[1])
    text = next((parts[kind] for kind in _LABELS if kind in parts), None)
    if text is None:
        tolerance.count("unlabelled")
        return UNLABELLED
    try:
        return int(text)
    except ValueError:
        raise BadSampleError(f"{place}: its label {text[:40]!r} is no whole number") from None
