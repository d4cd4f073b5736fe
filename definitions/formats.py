"""Forms in which a data set is stored: one row a format says what its files are called, how readers see them, and where labels are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

LABELS = ("folder", "member", "feature", "none")
"""Where the label of a sample is: in the name of its folder, in a member of its archive beside it, in a feature or column, nowhere."""

ENCODINGS = ("jpg", "png", "raw")
"""Of an image. `raw` are its pixels as bytes: in TAR shards as `.npy`, in TFRecords with the features `height`, `width` and `depth`."""


@dataclass(frozen=True)
class Format:
    """One form of a data set.

    Args:
        name: the user's word.
        layout: what readers find: `files` (one a sample), `shards` (TAR archives of many samples), `records` (TFRecords), `table` (rows)
            or `chunks` (those of litdata).
        suffixes: endings of its files, in lower case; upper case is read as well.
        labels: where labels are unless the user says otherwise; the first of `LABELS` that it can have is not always the usual one.
        package: what reading and writing it needs; empty where nothing.
    """

    name: str
    layout: str
    suffixes: tuple[str, ...]
    labels: str
    package: str = ""

    def holds(self, name: str) -> bool:
        """Return whether a file of this name is one of this format."""
        return PurePosixPath(name).suffix.lower() in self.suffixes

    @property
    def pattern(self) -> str:
        """What its files are called, for people: `*.jpg or *.jpeg, also in upper case`."""
        return f"{' or '.join(f'*{suffix}' for suffix in self.suffixes)} (in upper or lower case)"


FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format("jpg", "files", (".jpg", ".jpeg"), "folder"),
        Format("png", "files", (".png",), "folder"),
        Format("bin", "files", (".bin",), "none"),
        Format("tar", "shards", (".tar",), "member"),
        Format("tfrecord", "records", (".tfrecord", ".tfrecords"), "feature"),
        Format("csv", "table", (".csv",), "feature"),
        Format("parquet", "table", (".parquet",), "feature", "pyarrow"),
        Format("chunks", "chunks", (".bin",), "member", "litdata"),
    )
}
"""All of them, by name. Which layout can be read how is said by `definitions.ingestion`."""

LAYOUTS = tuple(dict.fromkeys(one.layout for one in FORMATS.values()))
"""What readers know."""

LABELS_OF: Mapping[str, tuple[str, ...]] = {
    "files": ("folder", "none"),
    "shards": ("member", "folder", "none"),
    "records": ("feature", "none"),
    "table": ("feature", "none"),
    "chunks": ("member", "none"),
}
"""Where labels can be, by layout. In an archive `folder` is the folder in the name of a sample's member."""

_COMPANIONS = {"manifest.json", "dataset.yaml", "index.json", "complete.json", "_SUCCESS"}
"""Files that lie beside data and are none."""


def unread(names: Iterable[str], format_name: str) -> str:
    """Return what of a data set is not read, in one line: `not read: 30 of 100 files (20 .png, 10 without an ending)`; empty where nothing.

    Args:
        names: of all files.
        format_name: of the data set.
    """
    form = FORMATS[format_name]
    total, left = 0, dict[str, int]()
    for name in names:
        path = PurePosixPath(name)
        if path.name in _COMPANIONS:
            continue
        total += 1
        if not form.holds(name):
            left[path.suffix] = left.get(path.suffix, 0) + 1
    if not left:
        return ""
    kinds = sorted(left.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{count} {suffix or 'without an ending'}" for suffix, count in kinds[:5]]
    return f"not read: {sum(left.values())} of {total} files ({', '.join(shown)}{', ...' if len(kinds) > 5 else ''})"
