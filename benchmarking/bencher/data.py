"""Data sets of SageMaker Bencher as Outrider's. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from definitions.errors import UserError

FORMATS: Mapping[str, tuple[str, str | None]] = {
    "jpg": ("jpg", None),
    "tar/jpg": ("tar", "jpg"),
    "tfrecord/jpg": ("tfrecord", "jpg"),
    "tfrecord/raw": ("tfrecord", "raw"),
}
"""Their formats -> ours, and what is inside."""

PLACEHOLDER = "fs-00000000000000000"

_KNOWN = {
    "synthetic": {"type", "format", "bucket", "prefix", "dimension", "num_records", "num_files", "num_copies", "num_classes"},
    "caltech": {"type", "format", "bucket", "prefix", "num_records", "num_copies"},
    "s3prefix": {"type", "format", "bucket", "prefix"},
}


def dataset_of(name: str, given: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return a data set as a definition describes it.

    Args:
        name: of it.
        given: as Bencher describes it.
        notes: what has no counterpart is added to them.

    Raises:
        UserError: it is of a type or format that Bencher has not, or lacks what it needs.
    """
    kind = given.get("type")
    if kind not in _KNOWN:
        raise UserError(f"data set {name}: type {kind!r}", f"SageMaker Bencher knows {', '.join(_KNOWN)}")
    form, inside = _format(name, given)
    notes += [f"data set {name}: {key} has no counterpart" for key in given if key not in _KNOWN[kind]]
    if kind == "s3prefix":
        return _prefix(name, given, form)
    if given.get("bucket"):
        notes.append(f"data set {name}: bucket and prefix are left out: what is made here is uploaded to sagemaker.bucket, by its content")
    if kind == "caltech":
        found: dict[str, Any] = {"type": "caltech256", "format": form}
    else:
        found = {"type": "images", "content": "noise", "format": form, **dict(_synthetic(name, given, form, inside, notes))}
    if form != "jpg":
        found["encoding"] = inside
        found["samples_per_shard"] = _count(name, given, "num_records")
    copies = _count(name, given, "num_copies", 1)
    return {**found, **({"copies": copies} if copies > 1 else {})}


def mounted(name: str, given: Mapping[str, Any], fsx: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """Return a data set as it lies in the FSx file system; arguments as above, and `fsx`, the block of that name.

    Raises:
        UserError: the block is missing.
    """
    if not fsx:
        raise UserError(f"data set {name}: input mode fsx", "the file has no block `fsx`", "add it, or leave these trials out")
    system = str(fsx.get("fsx_file_system_id") or "")
    digits = system.removeprefix("fs-")
    if not system.startswith("fs-") or not 8 <= len(digits) <= 18 or set(digits) - set("0123456789abcdef"):
        notes.append(f"fsx.fsx_file_system_id: {system or 'nothing'} is no file system: put yours in the place of {PLACEHOLDER}")
        system = PLACEHOLDER
    folders = (fsx.get("fsx_file_system_directory_path"), given.get("prefix") or "datasets", name)
    directory = "/" + "/".join(part for folder in folders for part in str(folder or "").split("/") if part)
    return {"type": "filesystem", "kind": "fsx", "id": system, "directory": directory, "format": _format(name, given)[0]}


def _format(name: str, given: Mapping[str, Any]) -> tuple[str, str | None]:
    form = str(given.get("format"))
    if form not in FORMATS:
        raise UserError(f"data set {name}: format {form!r}", f"SageMaker Bencher knows {', '.join(FORMATS)}")
    return FORMATS[form]


def _prefix(name: str, given: Mapping[str, Any], form: str) -> dict[str, Any]:
    bucket, prefix = given.get("bucket"), str(given.get("prefix") or "datasets").strip("/")
    if not bucket:
        raise UserError(
            f"data set {name}: no bucket", "it lies in the default bucket of an account, whose name is not known here", "write its name"
        )
    return {"type": "s3", "uri": f"s3://{bucket}/{prefix}/{name}/", "format": form}


def _synthetic(name: str, given: Mapping[str, Any], form: str, inside: str | None, notes: list[str]) -> Iterator[tuple[str, Any]]:
    shape = given.get("dimension")
    if not isinstance(shape, (list, tuple)) or len(shape) not in (2, 3) or not all(isinstance(one, int) and one > 0 for one in shape):
        raise UserError(f"data set {name}: dimension {shape!r}", "height, width and channels are expected, such as [180, 180, 3]")
    if len(shape) == 2 or shape[2] != 3:
        notes.append(f"data set {name}: dimension {list(shape)}: images are made with three channels")
    each = 1 if form == "jpg" else _count(name, given, "num_records")
    yield "samples", each * _count(name, given, "num_files")
    yield "resolution", f"{shape[1]}x{shape[0]}"
    yield "classes", _count(name, given, "num_classes", 10)
    if inside != "raw":
        yield "quality", 100
        notes.append(f"data set {name}: pixels are even noise in place of noise about a mean of each class, so that files differ in size")


def _count(name: str, given: Mapping[str, Any], key: str, default: int | None = None) -> int:
    value = given.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UserError(f"data set {name}: {key} is {value!r}", "a whole number from 1 on is needed")
    return value
