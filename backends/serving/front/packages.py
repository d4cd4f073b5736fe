"""Where targets come from, and unpacking them: archives that somebody made, so nothing in them is trusted."""

from __future__ import annotations

import abc
import contextlib
import os
import shutil
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from definitions.errors import OutriderError

_MOST_MEMBERS = 10_000
_MOST_BYTES = 64 << 30


class PackageError(OutriderError):
    """A target's archive is not there, or is none that a server could load.

    Args:
        message: what is wrong.
        is_missing: whether it is not there.
    """

    def __init__(self, message: str, *, is_missing: bool = False) -> None:
        super().__init__(message)
        self.is_missing = is_missing


@dataclass(frozen=True)
class Unpacked:
    """A target on this machine.

    Args:
        place: folder of all that was unpacked; `folder`: within it, with `config.pbtxt` and `1/`.
        kind: the same for targets that are copies of one archive, as far as that can be seen.
        size_bytes: of all its files.
    """

    place: Path
    folder: Path
    kind: str
    size_bytes: int


class PackageSource(abc.ABC):
    """Where archives lie."""

    @abc.abstractmethod
    def fetch(self, target: str, scratch: Path) -> tuple[Path, str]:
        """Return the archive's path, a copy in `scratch` where it is elsewhere, and what is equal for copies of one archive.

        Raises:
            PackageError: it cannot be had.
        """


class FolderSource(PackageSource):
    """Archives in a folder of this machine; copies of one model are links to one file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def fetch(self, target: str, scratch: Path) -> tuple[Path, str]:
        """Return the archive in the folder; see `PackageSource.fetch`."""
        path = self._folder / target
        inside = PurePosixPath(target)
        if inside.is_absolute() or ".." in inside.parts or not path.is_file():
            raise PackageError(f"there is no {target} in {self._folder}", is_missing=True)
        return path, os.path.realpath(path)


class S3Source(PackageSource):
    """Archives in S3, below a prefix, or wherever `uris` says of a target.

    Args:
        uri: `s3://bucket/prefix/`.
        uris: where single targets lie, by target.
        client: returns boto3's client of S3; asked once.
    """

    def __init__(self, uri: str, uris: Mapping[str, str], client: Callable[[], Any]) -> None:
        self._uri, self._uris, self._make = uri, uris, client
        self._client: Any = None

    def fetch(self, target: str, scratch: Path) -> tuple[Path, str]:
        """Download the archive; see `PackageSource.fetch`."""
        uri = self._uris.get(target) or self._uri.rstrip("/") + "/" + target
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        if self._client is None:
            self._client = self._make()
        path = scratch / "archive.tar.gz"
        try:
            answer = self._client.get_object(Bucket=bucket, Key=key)
            with path.open("wb") as file:
                shutil.copyfileobj(answer["Body"], file, 1 << 20)
        except Exception as error:
            raise PackageError(
                f"Failed to download model data (bucket: {bucket}, key: {key}): {error}. Please ensure that there is an object located at "
                "the URL and that the role passed to CreateModel has permissions to download it.",
                is_missing=True,
            ) from error
        return path, str(answer.get("ETag", uri))


def unpack(archive: Path, place: Path, kind: str) -> Unpacked:
    """Unpack an archive into a new folder.

    Args:
        archive: `.tar.gz`, with `<name>/config.pbtxt` and `<name>/1/...`, or without the outer folder.
        place: the folder, which is made.
        kind: see `Unpacked`.

    Raises:
        PackageError: it is broken, holds what would leave the folder, or no model.
    """
    place.mkdir(parents=True)
    try:
        with tarfile.open(archive, "r:*") as tar:
            size_bytes = _extract(tar, place)
            # To its end, as the checksum of what was packed stands there: one that is cut off after its last file would seem whole.
            while tar.fileobj is not None and tar.fileobj.read(1 << 20):
                pass
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        shutil.rmtree(place, ignore_errors=True)
        raise PackageError(f"{archive.name} cannot be unpacked: {error}") from error
    except PackageError:
        shutil.rmtree(place, ignore_errors=True)
        raise
    found = _model_folder(place)
    if found is None:
        there = ", ".join(sorted(path.name for path in place.iterdir())[:5]) or "nothing"
        shutil.rmtree(place, ignore_errors=True)
        raise PackageError(f"{archive.name} holds no model: a folder 1 is expected, at the top or in one folder; in it is {there}")
    return Unpacked(place, found, kind, size_bytes)


def _extract(tar: tarfile.TarFile, place: Path) -> int:
    """Write the plain files of an archive; return their bytes."""
    size_bytes = 0
    for number, member in enumerate(tar):
        path = PurePosixPath(member.name)
        if path.is_absolute() or ".." in path.parts:
            raise PackageError(f"the archive holds {member.name!r}, which would be written outside of the model's folder")
        if number >= _MOST_MEMBERS:
            raise PackageError(f"the archive holds more than {_MOST_MEMBERS} files")
        if member.isdir():
            (place / path).mkdir(parents=True, exist_ok=True)
            continue
        # Links could lead anywhere, devices are none of a model's.
        if not member.isfile():
            raise PackageError(f"the archive holds {member.name!r}, which is no plain file")
        size_bytes += member.size
        if size_bytes > _MOST_BYTES:
            raise PackageError(f"the archive holds more than {_MOST_BYTES} bytes")
        source = tar.extractfile(member)
        assert source is not None
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        with source, (place / path).open("xb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
    return size_bytes


def _model_folder(place: Path) -> Path | None:
    inner = [path for path in place.iterdir() if path.is_dir()]
    for folder in [place, *(inner if len(inner) == 1 else [])]:
        if (folder / "1").is_dir():
            return folder
    return None


def remove(folder: Path) -> None:
    """Delete a folder, as far as it is there."""
    with contextlib.suppress(OSError):
        shutil.rmtree(folder)
