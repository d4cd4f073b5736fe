"""What a job leaves: model and output as archives or as files, and checkpoints that travel both ways."""

from __future__ import annotations

import os
import tarfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from backends.emulator.container.paths import ML, place_of_object, resolve
from backends.emulator.s3.store import S3Store, copy_out, split_uri

Check = Callable[[str, str], None]


def upload_outputs(
    boxes: Iterable[Path], place: str, name: str, job: str, output: dict[str, Any], scratch: Path, s3: S3Store, check: Check, always: bool
) -> str:
    """Upload what is in a folder of all hosts as one and return where it went; empty where there was nothing.

    Args:
        boxes: real places of /opt/ml, of which the first counts where two hold a file of one name.
        place: of the folder in them.
        name: `model` or `output`.
        job: its name.
        output: its OutputDataConfig.
        scratch: where an archive may be built.
        s3: where it goes.
        check: raises what a fault has for an upload.
        always: whether an archive is made even of nothing.
    """
    files = files_in((ml, ml / place) for ml in boxes)
    if not files and not always:
        return ""
    bucket, prefix = split_uri(output["S3OutputPath"])
    base = "/".join(part for part in (prefix.rstrip("/"), job, "output") if part)
    if output.get("CompressionType", "GZIP") == "NONE":
        for path, source in files.items():
            key = f"{base}/{name}/{path}"
            check(bucket, key)
            s3.put(bucket, key, source)
        return f"s3://{bucket}/{base}/{name}/"
    key = f"{base}/{name}.tar.gz"
    check(bucket, key)
    scratch.mkdir(parents=True, exist_ok=True)
    archive = scratch / f"{name}.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for path, source in files.items():
            try:
                tar.add(source, arcname=path, recursive=False)
            except FileNotFoundError:
                continue
    try:
        s3.put(bucket, key, archive)
    finally:
        archive.unlink(missing_ok=True)
    return f"s3://{bucket}/{key}"


def files_in(folders: Iterable[tuple[Path, Path]]) -> dict[str, Path]:
    """Return regular files, and those that links lead to, by their path within their folder; of one name the first folder's.

    Args:
        folders: the real place of /opt/ml, beyond which no link leads, and the folder in it.
    """
    found: dict[str, Path] = {}
    for ml, folder in folders:
        for root, _, names in os.walk(folder):
            for name in names:
                path = Path(root, name)
                file = resolve(ml, f"{ML}/{path.relative_to(ml)}")
                if file is not None and file.is_file():
                    found.setdefault(path.relative_to(folder).as_posix(), file)
    return dict(sorted(found.items()))


def restore_checkpoints(uri: str, ml: Path, folder: str, s3: S3Store) -> None:
    """Download what is under the checkpoint URI.

    Args:
        uri: where from.
        ml: the real place of a host's /opt/ml.
        folder: where to, as the program sees it.
        s3: of the objects.

    Raises:
        ValueError: an object has a name that no file can have.
        ServiceError: the bucket is not there.
    """
    bucket, prefix = split_uri(uri)
    prefix = prefix.rstrip("/") + "/" if prefix else ""
    for found in s3.select(bucket, prefix):
        if not found.key.endswith("/"):
            copy_out(found, place_of_object(ml, folder, found.key[len(prefix) :]))


class CheckpointSync:
    """Uploads what has changed in a checkpoint folder since the last time; what the script deletes stays in the bucket.

    Args:
        ml: the real place of a host's /opt/ml.
        folder: in it; `uri`: where to.
        check: raises what a fault has for an upload.
    """

    def __init__(self, ml: Path, folder: Path, uri: str, s3: S3Store, check: Check) -> None:
        self._folders = [(ml, folder)]
        self._uri, self._s3, self._check = uri, s3, check
        self._seen: dict[str, tuple[int, int]] = {}
        self._lock = threading.Lock()

    def note_restored(self) -> None:
        """Take what is there now for uploaded."""
        self._seen = {path: state for path, state in ((path, _state(file)) for path, file in files_in(self._folders).items()) if state}

    def run(self) -> int:
        """Upload and return how many files that were."""
        with self._lock:
            return self._run()

    def _run(self) -> int:
        bucket, prefix = split_uri(self._uri)
        uploaded = 0
        for path, file in files_in(self._folders).items():
            state = _state(file)
            if state is None or self._seen.get(path) == state:
                continue
            key = "/".join(part for part in (prefix.rstrip("/"), path) if part)
            self._check(bucket, key)
            try:
                self._s3.put(bucket, key, file)
            except FileNotFoundError:
                continue
            self._seen[path] = state
            uploaded += 1
        return uploaded


def _state(file: Path) -> tuple[int, int] | None:
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
