"""Archives of models: made so that equal content gives equal bytes, and looked into before they are believed."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from benchmarking.models.triton_config import MODEL_FILES, named_in
from definitions.errors import UserError

_LEVEL = 1
"""Of gzip: weights hardly become smaller, and a larger level takes ten times as long."""
_CHUNK = 1 << 20


def write_archive(path: Path, name: str, config: str, files: Mapping[str, Path]) -> str:
    """Write `<name>/config.pbtxt` and files of `<name>/1/` as a tar.gz, and return the SHA-256 of it.

    Owners, times and modes are always the same, and so is the order.

    Args:
        path: of the archive; written aside and then moved, so that nobody sees a part of it.
        name: of the model.
        config: text of config.pbtxt.
        files: by their names in the version's folder.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    with (
        aside.open("wb") as raw,
        gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for folder in (name, f"{name}/1"):
            archive.addfile(_entry(folder, tarfile.DIRTYPE, 0))
        text = config.encode()
        archive.addfile(_entry(f"{name}/config.pbtxt", tarfile.REGTYPE, len(text)), io.BytesIO(text))
        for inner, source in sorted(files.items()):
            with source.open("rb") as stream:
                archive.addfile(_entry(f"{name}/1/{inner}", tarfile.REGTYPE, source.stat().st_size), stream)
    digest = file_sha256(aside)
    aside.replace(path)
    return digest


def _entry(name: str, kind: bytes, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.size, entry.mode, entry.mtime = kind, size, 0o755 if kind == tarfile.DIRTYPE else 0o644, 0
    return entry


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def check_archive(path: Path, name: str, platform: str) -> None:
    """Raise `UserError` where an archive is no package of a model that can be unpacked and served.

    Args:
        path: of the archive.
        name: of the model in the definition.
        platform: what it is said to hold.
    """
    asked = f"model {name!r}: the package {path.name}"
    try:
        with tarfile.open(path, "r:gz") as archive:
            members = archive.getmembers()
            configs = [one for one in members if PurePosixPath(one.name).name == "config.pbtxt" and one.isfile()]
            texts = [stream.read(_CHUNK).decode() for one in configs if (stream := archive.extractfile(one)) is not None]
    except (tarfile.TarError, OSError, EOFError, UnicodeDecodeError) as error:
        raise UserError(asked, f"it is no tar.gz that can be read to its end: {error}", "make it anew") from error
    for one in members:
        parts = PurePosixPath(one.name).parts
        if one.name.startswith("/") or ".." in parts:
            raise UserError(asked, f"it holds {one.name!r}, which would be written outside of its own folder", "make it anew without that")
        if not (one.isfile() or one.isdir()):
            raise UserError(asked, f"{one.name!r} in it is neither a file nor a folder", "make it anew without links and devices")
    if len(configs) != 1:
        raise UserError(asked, f"it holds {len(configs)} files config.pbtxt", "a package is <name>/config.pbtxt and <name>/1/...")
    folder = PurePosixPath(configs[0].name).parent
    wanted = str(folder / "1" / MODEL_FILES[platform])
    if wanted not in {str(PurePosixPath(one.name)) for one in members}:
        raise UserError(asked, f"there is no {wanted} in it, which platform {platform} has", "say its platform, or make it anew")
    said = named_in(texts[0])
    if said is not None and str(folder) != "." and said != folder.name:
        raise UserError(asked, f"its config.pbtxt is of a model {said!r}, and its folder is {folder.name!r}", "give both one name")
