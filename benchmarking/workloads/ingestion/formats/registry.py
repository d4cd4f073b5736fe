"""The formats that can be read: endings of their files, and what takes the samples out of one; what jobs have of the definitions' table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..samples import RawSample
from ..tolerance import Tolerance
from .records import records_of
from .table import rows_of
from .tar import members_of

Unpack: TypeAlias = Callable[[Any, str, str, Tolerance], Iterator[RawSample]]
"""From a binary file, its name, where labels are, and where bad samples are counted, to the samples in it."""

_COMPANIONS = frozenset({"manifest.json", "dataset.yaml", "index.json", "complete.json", "_SUCCESS"})
"""Files that lie beside data and are none."""


@dataclass(frozen=True)
class SampleFormat:
    """One format.

    Args:
        layout: what it is called in a definition.
        suffixes: endings of its files in lower case; upper case is read as well.
        unpack: None where a file is one sample, and for chunks, which litdata reads by itself.
    """

    layout: str
    suffixes: tuple[str, ...]
    unpack: Unpack | None = None

    def holds(self, name: str) -> bool:
        """Return whether a file of this name is of this format."""
        return suffix_of(name) in self.suffixes


FORMATS: Mapping[str, SampleFormat] = {
    "jpg": SampleFormat("files", (".jpg", ".jpeg")),
    "png": SampleFormat("files", (".png",)),
    "bin": SampleFormat("files", (".bin",)),
    "tar": SampleFormat("shards", (".tar",), members_of),
    "tfrecord": SampleFormat("records", (".tfrecord", ".tfrecords"), records_of),
    "csv": SampleFormat("table", (".csv",), rows_of),
    "parquet": SampleFormat("table", (".parquet",), rows_of),
    "chunks": SampleFormat("chunks", (".bin",)),
}
"""All of them, by name."""


_SEVERAL: Mapping[str, SampleFormat] = {
    "files": SampleFormat("files", (".jpg", ".jpeg", ".png")),
    "table": SampleFormat("table", (".csv", ".parquet"), rows_of),
}


def format_of(name: str, layout: str) -> SampleFormat:
    """Return a format by its name, or where that is empty the one of a layout; images of all kinds for `files`.

    Raises:
        SystemExit: there is none.
    """
    if not name and layout in _SEVERAL:
        return _SEVERAL[layout]
    found = FORMATS.get(name) or next((one for one in FORMATS.values() if one.layout == layout), None)
    if found is None:
        raise SystemExit(f"there is no format {name!r} of layout {layout!r} (known: {', '.join(FORMATS)})")
    return found


def unread_note(names: Iterable[str], form: SampleFormat) -> str:
    """Return what is not read, in one line; nothing where all is.

    Args:
        names: of all files.
        form: what is read.
    """
    others, total = Counter[str](), 0
    for name in names:
        if name.rpartition("/")[2] in _COMPANIONS:
            continue
        total += 1
        if not form.holds(name):
            others[suffix_of(name) or "without an ending"] += 1
    if not others:
        return ""
    kinds = sorted(others.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{count} {suffix}" for suffix, count in kinds[:5])
    return f"not read: {others.total()} of {total} files ({shown}{', ...' if len(kinds) > 5 else ''})"


def suffix_of(name: str) -> str:
    """Return the ending of a file's name with its dot, in lower case; nothing where it has none."""
    stem, dot, suffix = name.rpartition("/")[2].rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""
