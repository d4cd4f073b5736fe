"""Buckets and objects: contents as plain files, names in SQLite, so that they outlive the emulator and jobs can link to them lazily."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backends.common.file_lock import try_lock
from backends.emulator.core.database import Database
from backends.emulator.core.private import private_file, private_folder
from backends.emulator.http.errors import ServiceError
from backends.emulator.s3.preconditions import UNCONDITIONAL, WriteCondition

BLOCK_BYTES = 1 << 20
_SCHEMA = """
CREATE TABLE IF NOT EXISTS buckets (name TEXT PRIMARY KEY, created REAL);
CREATE TABLE IF NOT EXISTS objects (bucket TEXT, key TEXT, size INTEGER, etag TEXT, modified REAL, file TEXT, headers TEXT,
    PRIMARY KEY (bucket, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uploads (id TEXT PRIMARY KEY, bucket TEXT, key TEXT, headers TEXT, created REAL);
CREATE TABLE IF NOT EXISTS parts (upload TEXT, number INTEGER, size INTEGER, etag TEXT, file TEXT, PRIMARY KEY (upload, number));"""
_COLUMNS = "key, size, etag, modified, file, headers"


@dataclass(frozen=True)
class StoredObject:
    """One object.

    Args:
        etag: without quotes; `modified`: seconds since the epoch; `path`: its content, never written again once it is there.
        headers: content type and user metadata, by header.
    """

    key: str
    size: int
    etag: str
    modified: float
    path: Path
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Upload:
    """An upload in parts that is under way: its id, of which object, and when it began, in seconds since the epoch."""

    id: str
    bucket: str
    key: str
    created: float = 0.0


class S3Store:
    """The buckets of one folder; several processes may serve the same one.

    Args:
        folder: where it keeps them.
        now: seconds since the epoch.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._contents = private_folder(private_folder(folder) / "contents")
        self._now = now
        self._lock = private_file(folder / "s3.lock").open("w", encoding="utf-8")
        self._database = self._opened(folder / "s3.sqlite")

    def now(self) -> float:
        """Return the time by which objects are stamped, in seconds since the epoch."""
        return self._now()

    def close(self) -> None:
        """Close the files."""
        self._database.close()
        self._lock.close()

    def buckets(self) -> list[tuple[str, float]]:
        """Return names and creation times."""
        return [(name, created) for name, created in self._database.run("SELECT name, created FROM buckets ORDER BY name")]

    def create_bucket(self, name: str) -> None:
        """Create a bucket; one that exists stays as it is."""
        self._database.run("INSERT OR IGNORE INTO buckets VALUES (?, ?)", (name, self._now()))

    def delete_bucket(self, name: str) -> None:
        """Delete an empty bucket."""
        self.require_bucket(name)
        if self._database.run("SELECT 1 FROM objects WHERE bucket = ? LIMIT 1", (name,)):
            raise ServiceError("BucketNotEmpty", "The bucket you tried to delete is not empty", 409)
        self._database.run("DELETE FROM buckets WHERE name = ?", (name,))

    def require_bucket(self, name: str) -> None:
        """Raise `NoSuchBucket` unless the bucket exists."""
        if not self._database.run("SELECT 1 FROM buckets WHERE name = ?", (name,)):
            raise ServiceError("NoSuchBucket", f"The specified bucket does not exist: {name}", 404)

    def get(self, bucket: str, key: str) -> StoredObject:
        """Return an object; raises `NoSuchKey` or `NoSuchBucket`."""
        rows = self._database.run(f"SELECT {_COLUMNS} FROM objects WHERE bucket = ? AND key = ?", (bucket, key))
        if not rows:
            self.require_bucket(bucket)
            raise ServiceError("NoSuchKey", "The specified key does not exist.", 404)
        return self._object(*rows[0])

    def etag(self, bucket: str, key: str) -> str | None:
        """Return the ETag of an object, None where there is none; raises `NoSuchBucket`."""
        self.require_bucket(bucket)
        return self._etag(bucket, key)

    def _etag(self, bucket: str, key: str) -> str | None:
        rows = self._database.run("SELECT etag FROM objects WHERE bucket = ? AND key = ?", (bucket, key))
        return rows[0][0] if rows else None

    def open(self, bucket: str, key: str) -> tuple[StoredObject, BinaryIO]:
        """Return an object and its content, open for reading; raises `NoSuchKey` or `NoSuchBucket`."""
        while True:
            found = self.get(bucket, key)
            try:
                return found, found.path.open("rb")
            except FileNotFoundError:
                # Replaced or deleted since it was looked up: another look tells which.
                if self.get(bucket, key).path == found.path:
                    raise

    def select(self, bucket: str, prefix: str = "", after: str = "", limit: int = -1) -> list[StoredObject]:
        """Return objects by key: those that begin with `prefix` and come after `after`, at most `limit` (-1: all)."""
        self.require_bucket(bucket)
        rows = self._database.run(
            f"SELECT {_COLUMNS} FROM objects WHERE bucket = ? AND key >= ? AND key > ? AND key < ? ORDER BY key LIMIT ?",
            (bucket, prefix, after, prefix + "\U0010ffff", limit),
        )
        return [self._object(*row) for row in rows]

    def put(
        self,
        bucket: str,
        key: str,
        content: Iterable[bytes] | Path,
        headers: Mapping[str, str] | None = None,
        condition: WriteCondition = UNCONDITIONAL,
    ) -> StoredObject:
        """Store an object and return it; it is seen whole or not at all.

        The condition is looked at when the content has arrived, in one with the write. Raises a `ServiceError` where there is no such
        bucket, or where the condition does not hold.
        """
        self.require_bucket(bucket)
        file, size, etag = self._store(content)
        return self._register(bucket, key, size, etag, file, headers or {}, condition)

    def delete(self, bucket: str, key: str, condition: WriteCondition = UNCONDITIONAL) -> None:
        """Delete an object; one that does not exist is ignored. Raises a `ServiceError` where a condition does not hold."""
        with self._database.transaction():
            if condition:
                condition.check(self._etag(bucket, key))
            rows = self._database.run("SELECT file FROM objects WHERE bucket = ? AND key = ?", (bucket, key))
            self._database.run("DELETE FROM objects WHERE bucket = ? AND key = ?", (bucket, key))
        for row in rows:
            (self._contents / row[0]).unlink(missing_ok=True)

    def start_upload(self, bucket: str, key: str, headers: Mapping[str, str]) -> str:
        """Begin an upload in parts and return its id."""
        self.require_bucket(bucket)
        upload = uuid.uuid4().hex
        row = (upload, bucket, key, json.dumps(dict(headers)), self._now())
        self._database.run("INSERT INTO uploads (id, bucket, key, headers, created) VALUES (?, ?, ?, ?, ?)", row)
        return upload

    def uploads(self, bucket: str) -> list[Upload]:
        """Return the uploads to a bucket that are under way, by key and beginning; raises `NoSuchBucket`."""
        self.require_bucket(bucket)
        rows = self._database.run("SELECT id, key, created FROM uploads WHERE bucket = ? ORDER BY key, created, id", (bucket,))
        return [Upload(upload, bucket, key, created or 0.0) for upload, key, created in rows]

    def put_part(self, upload: Upload, number: int, content: Iterable[bytes]) -> str:
        """Store a part and return its ETag; raises `NoSuchUpload`, as what else is done with an upload does."""
        self._headers_of(upload)
        file, size, etag = self._store(content)
        with self._database.lock:
            earlier = self._database.run("SELECT file FROM parts WHERE upload = ? AND number = ?", (upload.id, number))
            self._database.run("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?, ?)", (upload.id, number, size, etag, file))
        for row in earlier:
            (self._contents / row[0]).unlink(missing_ok=True)
        return etag

    def complete_upload(self, upload: Upload, parts: list[tuple[int, str]], condition: WriteCondition = UNCONDITIONAL) -> StoredObject:
        """Make an object of parts, given as (number, ETag) in their order; the parts stay where a condition does not hold."""
        headers = self._headers_of(upload)
        stored = {row[0]: row[1:] for row in self._database.run("SELECT number, etag, file FROM parts WHERE upload = ?", (upload.id,))}
        if not parts or any(number not in stored or stored[number][0] != etag for number, etag in parts):
            raise ServiceError("InvalidPart", "One or more of the specified parts could not be found.")
        if [number for number, _ in parts] != sorted({number for number, _ in parts}):
            raise ServiceError("InvalidPartOrder", "The list of parts was not in ascending order.")
        file, size, _ = self._store(self._joined([stored[number][1] for number, _ in parts]))
        digest = hashlib.md5(b"".join(bytes.fromhex(etag) for _, etag in parts), usedforsecurity=False).hexdigest()
        found = self._register(upload.bucket, upload.key, size, f"{digest}-{len(parts)}", file, headers, condition)
        self.abort_upload(upload)
        return found

    def abort_upload(self, upload: Upload) -> None:
        """Forget an upload and its parts."""
        self._headers_of(upload)
        for row in self._database.run("SELECT file FROM parts WHERE upload = ?", (upload.id,)):
            (self._contents / row[0]).unlink(missing_ok=True)
        self._database.run("DELETE FROM parts WHERE upload = ?", (upload.id,))
        self._database.run("DELETE FROM uploads WHERE id = ?", (upload.id,))

    def parts(self, upload: Upload) -> list[tuple[int, int, str]]:
        """Return number, size and ETag of the parts that have arrived."""
        self._headers_of(upload)
        rows = self._database.run("SELECT number, size, etag FROM parts WHERE upload = ? ORDER BY number", (upload.id,))
        return [(row[0], row[1], row[2]) for row in rows]

    def _headers_of(self, upload: Upload) -> dict[str, str]:
        given = (upload.id, upload.bucket, upload.key)
        rows = self._database.run("SELECT headers FROM uploads WHERE id = ? AND bucket = ? AND key = ?", given)
        if not rows:
            raise ServiceError("NoSuchUpload", "The specified multipart upload does not exist.", 404)
        return dict(json.loads(rows[0][0]))

    def _opened(self, file: Path) -> Database:
        """Open the database; the first process of those that share the folder also creates it and removes what a killed one left."""
        if not try_lock(self._lock.fileno(), fcntl.LOCK_EX, file.parent / "s3.lock", "give a folder on another disk"):
            # Others serve the folder: a content that is not registered may be one that they write.
            fcntl.flock(self._lock, fcntl.LOCK_SH)
            return Database(file, _SCHEMA, "NORMAL")
        database = Database(file, _SCHEMA, "NORMAL")
        if "created" not in {row[1] for row in database.run("PRAGMA table_info(uploads)")}:
            database.run("ALTER TABLE uploads ADD COLUMN created REAL")  # of a folder of an earlier version
        self._remove_orphans(database)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        return database

    def _joined(self, files: Iterable[str]) -> Iterator[bytes]:
        for file in files:
            with (self._contents / file).open("rb") as stream:
                yield from blocks(stream)

    def _store(self, content: Iterable[bytes] | Path) -> tuple[str, int, str]:
        file, size = uuid.uuid4().hex, 0
        file = f"{file[:2]}/{file}"
        digest = hashlib.md5(usedforsecurity=False)
        path = self._contents / file
        path.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            with path.open("wb") as target:
                for block in content if not isinstance(content, Path) else _file_blocks(content):
                    target.write(block)
                    digest.update(block)
                    size += len(block)
            # Jobs may have links to it.
            path.chmod(0o400)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return file, size, digest.hexdigest()

    def _register(
        self,
        bucket: str,
        key: str,
        size: int,
        etag: str,
        file: str,
        headers: Mapping[str, str],
        condition: WriteCondition,
    ) -> StoredObject:
        row = (key, size, etag, self._now(), file, json.dumps(dict(headers)))
        try:
            with self._database.transaction():
                if condition:
                    condition.check(self._etag(bucket, key))
                earlier = self._database.run("SELECT file FROM objects WHERE bucket = ? AND key = ?", (bucket, key))
                self._database.run("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?)", (bucket, *row))
        except ServiceError:
            (self._contents / file).unlink(missing_ok=True)
            raise
        for old in earlier:
            (self._contents / old[0]).unlink(missing_ok=True)
        return self._object(*row)

    def _object(self, key: str, size: int, etag: str, modified: float, file: str, headers: str) -> StoredObject:
        return StoredObject(key, size, etag, modified, self._contents / file, json.loads(headers))

    def _remove_orphans(self, database: Database) -> None:
        # Left by an emulator that was killed between writing a content and registering it.
        known = {row[0] for table in ("objects", "parts") for row in database.run(f"SELECT file FROM {table}")}
        for path in self._contents.glob("*/*"):
            if f"{path.parent.name}/{path.name}" not in known:
                path.unlink(missing_ok=True)


def blocks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a stream's content piece by piece."""
    while block := stream.read(BLOCK_BYTES):
        yield block


def _file_blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        yield from blocks(stream)


def split_uri(uri: str) -> tuple[str, str]:
    """Return bucket and key of an `s3://` URI (or the path-style https form); raises ServiceError for anything else."""
    scheme, _, rest = uri.partition("://")
    if scheme == "https":
        rest = rest.partition("/")[2]
    elif scheme != "s3":
        raise ServiceError("ValidationException", f"not an S3 URI: {uri}")
    bucket, _, key = rest.partition("/")
    return bucket, key


def copy_out(found: StoredObject, target: Path) -> None:
    """Copy an object's content to a file, creating its folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(found.path, target)
