"""How data reaches a script: one word for the user, mapped to an input mode, which back-ends offer or not, and a reader per layout."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from definitions.errors import UserError, did_you_mean

FILE_SYSTEMS = ("fsx", "efs")
"""Ingestions that mount a file system of the user's own; no other data set can be read so."""


REQUIREMENTS: Mapping[str, str] = {
    "boto3": "boto3>=1.40",
    "fsspec": "fsspec>=2024.6",
    "lightning": "lightning>=2.6",
    "litdata": "litdata>=0.2.76",
    "pyarrow": "pyarrow>=16",
    "s3fs": "s3fs>=2024.6",
    "s3torchconnector": "s3torchconnector>=1.5",
    "tenacity": "tenacity>=8",
    "torchdata": "torchdata>=0.11",
    "webdataset": "webdataset>=1.0",
}
"""What jobs elsewhere are asked to install, by what each package is called where it is imported."""

_OF_LAYOUT: Mapping[str, tuple[str, ...]] = {"table": ("pyarrow",), "chunks": ("litdata",)}


@dataclass(frozen=True)
class Ingestion:
    """One way of feeding a script.

    Args:
        name: the user's word.
        input_mode: what a back-end materialises: `local`, `file`, `fastfile`, `pipe`, `fsx`, `efs`, or `none` (only the URI is passed), or
            `mount` (likewise, and the job may mount it).
        layouts: the workload's reader for each layout that can be read this way.
        packages: what a reader of objects in S3 imports, as packages are called where they are imported.
        about: what it does, in a few words.
        program: what it starts, found on the path; empty where nothing.
        not_emulated: layouts that cannot be read where the platform's mode is emulated.
    """

    name: str
    input_mode: str
    layouts: Mapping[str, str]
    packages: tuple[str, ...] = ()
    about: str = ""
    program: str = ""
    not_emulated: tuple[str, ...] = ()

    def needs(self, is_emulated: bool, layout: str = "") -> tuple[str, ...]:
        """Return the packages that our reader imports.

        Args:
            is_emulated: whether the platform's mode is emulated, which the S3 connector does.
            layout: of the data, for what it takes to read that; empty for what the ingestion itself takes.
        """
        own = ("s3torchconnector",) if is_emulated else self.packages
        return tuple(dict.fromkeys((*own, *_OF_LAYOUT.get(layout, ()))))


_MOUNTED = {"files": "files", "shards": "tar", "records": "records", "table": "table", "chunks": "litdata"}
_STREAMED = {"shards": "pipe", "records": "pipe"}
_OBJECTS = ("files", "shards", "records", "table")
_CONNECTOR = ("s3torchconnector",)

INGESTIONS: Mapping[str, Ingestion] = {
    entry.name: entry
    for entry in (
        Ingestion("local", "local", _MOUNTED, about="files on this machine's disk"),
        Ingestion("memory", "local", dict.fromkeys(_MOUNTED, "memory"), about="the same samples from memory: the ceiling of any other"),
        Ingestion("file", "file", _MOUNTED, about="all is copied to the disk before the script starts"),
        # litdata opens files by their paths, which the emulation's lazy reads have none of.
        Ingestion("fastfile", "fastfile", _MOUNTED, about="a mount: objects are fetched as they are read", not_emulated=("chunks",)),
        Ingestion("pipe", "pipe", _STREAMED, about="a FIFO an epoch, with one reader"),
        *(Ingestion(name, name, _MOUNTED, about="a file system of your own, mounted") for name in FILE_SYSTEMS),
        *(
            Ingestion(name, "none", dict.fromkeys(_OBJECTS, name), _CONNECTOR, about)
            for name, about in (
                ("s3_map", "the S3 connector for PyTorch, by number"),
                ("s3_iterable", "the same, one object after another"),
            )
        ),
        Ingestion("fsspec", "none", dict.fromkeys(_OBJECTS, "fsspec"), ("fsspec", "s3fs"), "fsspec's file system for S3"),
        Ingestion("boto3", "none", dict.fromkeys(_OBJECTS, "boto3"), ("boto3",), "a request an object, as most scripts do it"),
        Ingestion(
            "webdataset", "none", {"shards": "webdataset"}, ("webdataset", *_CONNECTOR), "webdataset's own pipeline over the connector"
        ),
        Ingestion("litdata", "none", {"chunks": "litdata"}, ("litdata", "boto3"), "litdata's streaming: chunks are kept on the job's disk"),
        *(
            Ingestion(name, "mount", dict.fromkeys(_MOUNTED, name), about=about, program="mount-s3")
            for name, about in (
                ("mountpoint", "Mountpoint for Amazon S3, mounted by the job"),
                ("mountpoint_cache", "the same, with its cache on the job's disk"),
            )
        ),
        Ingestion("uri", "none", dict.fromkeys(_MOUNTED, "uri"), about="nothing but the s3:// URI, for a script that reads by itself"),
    )
}
"""All of them, by name."""

INPUT_MODES = tuple(dict.fromkeys(entry.input_mode for entry in INGESTIONS.values()))
"""All of theirs."""

PLATFORM_MODES = tuple(mode for mode in INPUT_MODES if mode not in ("local", "none", "mount"))
"""Those in which a platform puts data into place, so that they are as fast as the platform."""


def ingestion(name: str) -> Ingestion:
    """Return the ingestion of this name; raises `UserError` where there is none."""
    if name not in INGESTIONS:
        raise UserError(f"ingestion {name!r}: there is none of this name", "", did_you_mean(name, list(INGESTIONS)))
    return INGESTIONS[name]


def problem(
    name: str,
    layout: str,
    backend: str,
    input_modes: Collection[str],
    dataset_type: str = "",
    kind: str = "",
    emulated_modes: Collection[str] = (),
) -> str | None:
    """Return why this combination cannot work, or None where it can.

    Args:
        name: of the ingestion.
        layout: one of `definitions.formats.LAYOUTS`.
        backend: name of the back-end.
        input_modes: those that it offers.
        dataset_type: type of the data set in its definition (`images`, `path`, `s3`, `filesystem`), where known.
        kind: of a file system, `fsx` or `efs`.
        emulated_modes: those of the back-end's input modes that the job's reader imitates.

    Raises:
        UserError: there is no ingestion of this name.
    """
    entry = ingestion(name)
    if entry.input_mode not in input_modes:
        usable = [other.name for other in INGESTIONS.values() if other.input_mode in input_modes and layout in other.layouts]
        return f"ingestion {name!r} does not exist on back-end {backend!r}; there: {', '.join(usable)}"
    if layout not in entry.layouts:
        others = [other.name for other in INGESTIONS.values() if other.input_mode in input_modes and layout in other.layouts]
        return f"ingestion {name!r} reads {' and '.join(entry.layouts)}, not {layout}; that is read by {', '.join(others)}"
    if layout in entry.not_emulated and entry.input_mode in emulated_modes:
        return f"ingestion {name!r} is emulated on back-end {backend!r}, where it reads no {layout}; use file, litdata or local"
    if dataset_type == "s3" and entry.input_mode == "local":
        return f"ingestion {name!r} reads this machine's disk, but the data set is in S3; use s3_map or s3_iterable"
    if dataset_type == "filesystem" and name != kind:
        return f"ingestion {name!r} cannot read a file system; this data set needs ingestion {kind!r}"
    if name in FILE_SYSTEMS and dataset_type not in ("", "filesystem"):
        return f"ingestion {name!r} mounts a file system, but the data set is of type {dataset_type!r}; give one of type 'filesystem'"
    return None


def needs_s3(name: str) -> bool:
    """Return whether the data must lie in S3 for it; raises `UserError` where there is no ingestion of this name."""
    return ingestion(name).input_mode not in ("local", *FILE_SYSTEMS)


def settings_problem(name: str, settings: Mapping[str, object]) -> str | None:
    """Return why an ingestion cannot go together with a loader's knobs, or None where it can.

    Args:
        name: of the ingestion.
        settings: of a configuration, by name; those of no loader are not looked at.

    Raises:
        UserError: there is no ingestion of this name.
    """
    workers = settings.get("loader_workers")
    if ingestion(name).input_mode == "pipe" and isinstance(workers, int) and workers > 1:
        return f"ingestion {name!r} has one reader, and loader_workers is {workers}: all but one would read nothing; use 0 or 1"
    if workers == 0 and settings.get("prefetch_factor"):
        return f"prefetch_factor is {settings['prefetch_factor']}, and loader_workers 0: nobody loads ahead; use workers, or leave it out"
    return None


def emulation(name: object, emulated_modes: Collection[str]) -> str:
    """Return the name of an ingestion whose platform's part is imitated, and with it no speed of the platform's; empty for any other.

    Args:
        name: of an ingestion, or anything else that a configuration has in its place.
        emulated_modes: input modes that are imitated where it was measured.
    """
    entry = INGESTIONS.get(name) if isinstance(name, str) else None
    return entry.name if entry is not None and entry.input_mode in emulated_modes else ""
