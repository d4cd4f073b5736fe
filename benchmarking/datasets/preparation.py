"""Makes sure that a data set exists where it is needed: generated once, checked, and copied to S3 where that is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarking.datasets.existing import Holding, files_below, look_into_folder, look_into_prefix
from benchmarking.datasets.generating import content_key
from benchmarking.datasets.making import made
from benchmarking.datasets.s3target import S3Target
from benchmarking.datasets.s3upload import upload
from definitions import strict_json
from definitions.datasets import Dataset, FilesystemDataset, PathDataset, S3Dataset
from definitions.errors import UserError


@dataclass(frozen=True)
class Prepared:
    """A data set that exists.

    Args:
        name: its name in the definition; `layout`: `files`, `shards`, `records`, `table` or `chunks`.
        path: folder on this machine; None where it is in S3 only.
        uri: `s3://` URI, or `fsx://` or `efs://` of a mounted file system; None where it is on this machine only.
        samples: number of samples; None where nobody counted. `bytes`: size of all files; None likewise.
        classes: number of classes; None likewise.
        notes: what of it is not read, and what was mended, a line each.
    """

    name: str
    layout: str
    path: Path | None
    uri: str | None
    samples: int | None
    bytes: int | None
    classes: int | None = None
    notes: tuple[str, ...] = ()

    def location(self, input_mode: str) -> str:
        """Return where a channel of this input mode finds it: a path for `local`, else the URI; raises `UserError` if it is not there."""
        found = self.path if input_mode == "local" else self.uri
        if found is None:
            raise UserError(
                f"data set {self.name!r} with input mode {input_mode!r}",
                f"it is only {'in S3' if self.path is None else 'on this machine'}",
                "use an ingestion that reads it there",
            )
        return str(found)


def prepare(
    name: str,
    dataset: Dataset,
    *,
    cache: Path,
    folder: Path | None = None,
    s3: S3Target | None = None,
    s3_key: str | None = None,
    say: Callable[[str], None] = lambda line: None,
    verify: bool = False,
) -> Prepared:
    """Make sure that a data set exists, and return where it is.

    Args:
        name: its name in the definition.
        dataset: its definition.
        cache: folder for generated data sets, kept between runs and shared between processes.
        folder: for a generated one, in place of its own folder in the cache.
        s3: where to copy it to; None where no S3 is needed. For data that are in S3 already, whose endpoint and credentials are used.
        s3_key: what it is called there, in place of a name for its content.
        say: called with how far it is, where it takes a while.
        verify: whether all checksums of a generated set are compared, not those of touched files alone.

    Raises:
        UserError: the data do not exist, or cannot be reached.
    """
    if isinstance(dataset, FilesystemDataset):
        # It is seen from within its VPC only.
        return Prepared(name, dataset.layout, None, dataset.uri, None, None)
    if isinstance(dataset, S3Dataset):
        held = look_into_prefix(name, dataset, s3)
        return _found(name, dataset, held, None, dataset.uri)
    if isinstance(dataset, PathDataset):
        held = look_into_folder(name, dataset)
        listed = _listing_key(Path(dataset.path)) if s3 else ""
        uri = upload(Path(dataset.path), s3_key or listed, s3, content=listed, say=say) if s3 else None
        return _found(name, dataset, held, Path(dataset.path), uri)
    key = content_key(dataset)
    place = folder or cache / key
    manifest, mended = made(name, dataset, place, say, cache=cache, verify=verify)
    uri = upload(place / "data", s3_key or key, s3, content=key, copies=dataset.copies, say=say) if s3 else None
    samples = manifest.samples * dataset.copies
    return Prepared(name, dataset.layout, place / "data", uri, samples, manifest.size_bytes, manifest.classes, mended)


def _found(name: str, dataset: PathDataset | S3Dataset, held: Holding, path: Path | None, uri: str | None) -> Prepared:
    notes = (f"data set {name}: {held.note}",) if held.note else ()
    return Prepared(name, dataset.layout, path, uri, held.samples, held.size_bytes, held.classes, notes)


def _listing_key(folder: Path) -> str:
    listing = [[relative, path.stat().st_size, path.stat().st_mtime_ns] for relative, path in files_below(folder)]
    return "path-" + hashlib.sha256(strict_json.dumps(listing).encode()).hexdigest()[:16]
