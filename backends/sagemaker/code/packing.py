"""Packs a source folder, the reporter and the bootstrap: the same content is the same package on every machine, uploaded once.

Used by the SageMaker back-end before its first job, and for jobs whose arguments do not fit into a request.
"""

from __future__ import annotations

import fnmatch
import gzip
import hashlib
import io
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from backends.sagemaker.aws import s3
from definitions import strict_json
from definitions.errors import UserError

START = Path(__file__).parents[1] / "container" / "outrider_start.py"
REPORTER = Path(__file__).parents[2] / "reporter" / "outrider_report.py"
ARCHIVE = "source.tar.gz"
ARGUMENTS = "arguments.json"
IGNORE_FILE = ".outriderignore"
MAX_BYTES = 200_000_000

_MARKER = "complete.json"
_FORM = "1"  # to be raised where the same content is to become another archive
_LARGEST = 5
_IGNORED = (
    ".git", ".hg", ".svn", "__pycache__", "*.py[co]", ".venv", "venv", "/results", ".ipynb_checkpoints", "node_modules",
    ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store", IGNORE_FILE,
)  # fmt: skip
_MAX_ITEMS, _MAX_ITEM_LENGTH = 100, 256  # of ContainerArguments


@dataclass(frozen=True)
class Entry:
    """One file or link of a package.

    Args:
        name: within the package, parts separated by `/`.
        path: of the file; None for a link.
        link: what the link says, relative to its own folder; empty for a file.
        mode: 0o644 or 0o755.
        size_bytes: of the file; `digest`: SHA-256 of its content.
    """

    name: str
    path: Path | None
    link: str
    mode: int
    size_bytes: int
    digest: str


@dataclass(frozen=True)
class Package:
    """What travels to every job of an experiment.

    Args:
        hash: 16 hexadecimal digits that name the content, the bootstrap included.
        entries: by name.
    """

    hash: str
    entries: tuple[Entry, ...]

    @property
    def size_bytes(self) -> int:
        """Size of all files, not compressed."""
        return sum(entry.size_bytes for entry in self.entries)

    def write(self, file: IO[bytes]) -> None:
        """Write the archive, which is made only now as most packages are uploaded already.

        Raises:
            UserError: a file is not what it was when the package was made.
        """
        with (
            gzip.GzipFile(fileobj=cast(BinaryIO, file), mode="wb", filename="", mtime=0) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for entry in self.entries:
                _add(tar, entry)


def pack(source_dir: Path, reporter: Path = REPORTER) -> Package:
    """Return the package of a source folder.

    Left out are version control, caches, virtual environments, `results` at the top, and what the patterns in a `.outriderignore` match:
    one a line, with a `/` inside relative to the folder, without one any name at any depth.

    Args:
        source_dir: the folder; a requirements.txt in it travels along.
        reporter: put at its top in place of a file of the same name.

    Raises:
        UserError: there is no such folder, it is too large, cannot be read, or a link leads out of it.
    """
    if not source_dir.is_dir():
        raise UserError(f"source_dir {source_dir}: there is no such folder")
    try:
        found = [item for item in _walk(source_dir, _patterns(source_dir)) if item[0] != reporter.name]
        found.append((reporter.name, reporter))
        found.sort(key=lambda item: os.fsencode(item[0]))
        _check_size(source_dir, [(name, path.stat().st_size) for name, path in found if not path.is_symlink() or name == reporter.name])
        root = source_dir.resolve()
        entries = tuple(_entry(name, path, root if path != reporter else None) for name, path in found)
        digest = hashlib.sha256(f"{_FORM}\0{hashlib.sha256(START.read_bytes()).hexdigest()}".encode())
    except OSError as error:
        raise UserError(
            f"source_dir {source_dir}: it cannot be packed", str(error), f"or leave it out by a line in {IGNORE_FILE}"
        ) from error
    for entry in entries:
        digest.update(
            b"\0".join([b"", os.fsencode(entry.name), f"{entry.mode:o}".encode(), os.fsencode(entry.link), entry.digest.encode()])
        )
    return Package(digest.hexdigest()[:16], entries)


def upload_code(package: Package, client: Any, bucket: str, prefix: str) -> str:
    """Upload a package unless it is there, and return the `s3://` URI of its folder, with a slash at its end.

    Args:
        package: from `pack`.
        client: a boto3 S3 client.
        bucket: an existing bucket.
        prefix: of all of Outrider's keys.

    Raises:
        UserError, CloudError: S3 refuses.
    """
    folder = s3.joined(prefix, "code", package.hash)
    if s3.head(client, bucket, folder + _MARKER) is None:
        s3.put(client, bucket, folder + START.name, START.read_bytes())
        with tempfile.TemporaryFile() as archive:
            package.write(archive)
            size_bytes = archive.tell()
            s3.put(client, bucket, folder + ARCHIVE, archive)
        # Last, so that an upload that was cut short does not count.
        s3.put(client, bucket, folder + _MARKER, strict_json.dumps({"archive_bytes": size_bytes}).encode())
    return f"s3://{bucket}/{folder}"


def fits(script: str, arguments: Sequence[str]) -> bool:
    """Return whether a script's name and arguments may be ContainerArguments; else they travel as a file."""
    items = [script, *arguments]
    return len(items) <= _MAX_ITEMS and all(len(item) <= _MAX_ITEM_LENGTH and "\n" not in item and "\r" not in item for item in items)


def upload_arguments(
    script: str,
    arguments: Sequence[str],
    client: Any,
    bucket: str,
    prefix: str,
    experiment: str,
    job: str,
) -> str:
    """Upload a job's script and arguments as `arguments.json` and return the `s3://` URI of its folder, with a slash at its end.

    Args:
        script: relative to the source folder.
        arguments: the script's own.
        client: a boto3 S3 client.
        bucket: an existing bucket.
        prefix: of all of Outrider's keys.
        experiment: `<tag>/<job prefix>`.
        job: its name.

    Raises:
        UserError, CloudError: S3 refuses.
    """
    folder = s3.joined(prefix, "jobs", experiment, job)
    content = strict_json.dumps({"script": script, "arguments": list(arguments)})
    s3.put(client, bucket, folder + ARGUMENTS, content.encode())
    return f"s3://{bucket}/{folder}"


def _patterns(source_dir: Path) -> list[str]:
    path = source_dir / IGNORE_FILE
    if not path.is_file():
        return list(_IGNORED)
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    own = [line for line in lines if line and not line.startswith("#")]
    for line in own:
        if line.startswith("!"):
            raise UserError(f"{path}: {line!r}", "patterns only leave out; none brings back", "name what is to be left out instead")
    return [*_IGNORED, *own]


def _ignored(name: str, is_folder: bool, patterns: Sequence[str]) -> bool:
    for pattern in patterns:
        if pattern.endswith("/") and not is_folder:
            continue
        bare = pattern.rstrip("/")
        subject = name if "/" in bare else name.rpartition("/")[2]
        if fnmatch.fnmatchcase(subject, bare.removeprefix("/")):
            return True
    return False


def _walk(source_dir: Path, patterns: Sequence[str]) -> Iterator[tuple[str, Path]]:
    def fail(error: OSError) -> None:
        raise error

    for folder, names, files in os.walk(source_dir, onerror=fail):
        here = Path(folder).relative_to(source_dir)
        names[:] = [name for name in names if not _ignored((here / name).as_posix(), True, patterns)]
        links = [name for name in names if Path(folder, name).is_symlink()]
        for name in [*files, *links]:
            path, inside = Path(folder, name), (here / name).as_posix()
            regular = path.is_symlink() or stat.S_ISREG(path.lstat().st_mode)  # sockets and pipes do not travel
            if regular and not _ignored(inside, False, patterns):
                yield inside, path


def _check_size(source_dir: Path, sizes: Sequence[tuple[str, int]]) -> None:
    total = sum(size for _, size in sizes)
    if total <= MAX_BYTES:
        return
    largest = sorted(sizes, key=lambda item: -item[1])[:_LARGEST]
    raise UserError(
        f"source_dir {source_dir}: {total / 1e6:.0f} MB would travel to each job, at most {MAX_BYTES / 1e6:.0f} MB can",
        "the largest: " + ", ".join(f"{name} ({size / 1e6:.1f} MB)" for name, size in largest),
        f"leave out what the script does not need by lines in {IGNORE_FILE}; data belong into `datasets`",
    )


def _entry(name: str, path: Path, root: Path | None) -> Entry:
    """Return the entry of a file or, below `root`, a link."""
    if root is not None and path.is_symlink():
        return Entry(name, None, _link(name, path, root), 0o644, 0, "")
    executable = root is not None and bool(path.stat().st_mode & stat.S_IXUSR)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Entry(name, path, "", 0o755 if executable else 0o644, path.stat().st_size, digest)


def _link(name: str, path: Path, root: Path) -> str:
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:
        raise UserError(f"{path}: it is a link that leads nowhere", str(error), f"remove it, or name it in {IGNORE_FILE}") from error
    if target != root and root not in target.parents:
        raise UserError(
            f"{path}: it is a link out of the source folder, to {target}",
            "a job gets what is in the folder",
            f"copy it, name {name} in {IGNORE_FILE}, or give data as `datasets`",
        )
    return os.path.relpath(target, path.parent.resolve())


def _add(tar: tarfile.TarFile, entry: Entry) -> None:
    # A new TarInfo has no owner and the time 0.
    info = tarfile.TarInfo(entry.name)
    info.mode = entry.mode
    if entry.path is None:
        info.type, info.linkname = tarfile.SYMTYPE, entry.link
        tar.addfile(info)
        return
    info.size = entry.size_bytes
    try:
        with entry.path.open("rb") as file:
            content = _Digested(file)
            tar.addfile(info, cast(BinaryIO, content))
            same = content.digest.hexdigest() == entry.digest
    except OSError:
        same = False
    if not same:
        raise UserError(f"{entry.path}: it was changed or removed while it was packed", "", "start again when nothing writes there")


class _Digested(io.RawIOBase):
    """A file that computes the digest of what is read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.digest.update(block)
        return block
