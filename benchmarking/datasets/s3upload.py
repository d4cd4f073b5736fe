"""Brings a folder to S3: what is there already stays, copies are made by the server, and a marker at the end says that all is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarking.datasets.existing import files_below
from benchmarking.datasets.pace import Pace
from benchmarking.datasets.s3target import S3Target, asking, pages_under
from definitions.errors import UserError
from definitions.quantities import size_text

_MARKER = "complete.json"
_IN_PARTS = 256 * 1024**2
"""Bytes from which an object is sent in parts, several at once; one request takes 5 GB at most."""


@dataclass(frozen=True)
class Steps:
    """What is left to do for a copy of a folder.

    Args:
        puts: names of files to send; `copies`: names that the server makes of others, with those.
    """

    puts: tuple[str, ...]
    copies: Mapping[str, str]


def steps(local: Mapping[str, int], there: Mapping[str, int], copies: int = 1) -> Steps:
    """Return what is left to do: an object of the right name and size is there already. Pure.

    Args:
        local: bytes of each file by its name.
        there: bytes of each object by its name.
        copies: how often the set is in `local`, as `<name>`, `copy-2/<name>` and so on.
    """
    missing = [name for name, size in local.items() if there.get(name) != size]
    folders = {f"copy-{number}" for number in range(2, copies + 1)}
    parted = {name: name.partition("/") for name in missing}
    made = {name: rest for name, (first, _, rest) in parted.items() if first in folders and local.get(rest) == local[name]}
    return Steps(tuple(name for name in missing if name not in made), made)


@dataclass(frozen=True)
class _Destination:
    """Where a folder is copied to: its objects lie below `<root>/data/`, and beside them the marker.

    Args:
        s3: a boto3 S3 client; `bucket`, `root`: where to.
        folder: what is copied; `local`: bytes of each of its files by name.
    """

    s3: Any
    bucket: str
    root: str
    folder: Path
    local: Mapping[str, int]

    def state(self) -> tuple[dict[str, int], dict[str, Any]]:
        """Return the bytes of each object that is there by its name, and what the marker says."""
        pages = pages_under(self.s3, self.bucket, f"{self.root}/")
        there = {entry["Key"].removeprefix(f"{self.root}/"): int(entry["Size"]) for page in pages for entry in page}
        marked = _MARKER in there
        said = _said(self.s3.get_object(Bucket=self.bucket, Key=f"{self.root}/{_MARKER}")["Body"].read()) if marked else {}
        return {name.removeprefix("data/"): size for name, size in there.items() if name.startswith("data/")}, said

    def mark(self, content: str, *, complete: bool) -> None:
        """Write the marker: whose content it is, and whether all of it is there."""
        body = {"content": content, "complete": complete, "objects": len(self.local), "bytes": sum(self.local.values())}
        self.s3.put_object(Bucket=self.bucket, Key=f"{self.root}/{_MARKER}", Body=json.dumps(body).encode())

    def put(self, name: str) -> int:
        """Send a file, and return its bytes."""
        path, key = self.folder / name, f"{self.root}/data/{name}"
        if self.local[name] >= _IN_PARTS:
            self.s3.upload_file(str(path), self.bucket, key)
            return self.local[name]
        with path.open("rb") as file:
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=file)
        return self.local[name]

    def duplicate(self, source: str, name: str) -> int:
        """Have the server make an object of another, and return its bytes."""
        copied = {"Bucket": self.bucket, "Key": f"{self.root}/data/{source}"}
        self.s3.copy_object(Bucket=self.bucket, Key=f"{self.root}/data/{name}", CopySource=copied)
        return self.local[name]


def upload(
    folder: Path,
    key: str,
    target: S3Target,
    *,
    content: str | None = None,
    copies: int = 1,
    threads: int = 8,
    client: Any = None,
    say: Callable[[str], None] = lambda line: None,
) -> str:
    """Copy a folder's files to `s3://<bucket>/<prefix>/<key>/data/`, as far as they are not there yet, and return that URI.

    Args:
        folder: what to copy; names relative to it become keys.
        key: of the copy; a marker object below it says whose content it is, and whether all of it is there.
        target: where to.
        content: names the content; the key does where it is left out.
        copies: how often the set is in the folder, as `<name>`, `copy-2/<name>` and so on.
        threads: uploads at once.
        client: a boto3 S3 client to use in place of the target's own.
        say: called with how far it is, now and then.

    Raises:
        UserError: the bucket cannot be reached or written, or other content is there already.
    """
    content = content or key
    root = "/".join(part for part in (target.prefix.strip("/"), key) if part)
    uri = f"s3://{target.bucket}/{root}/data/"
    local = {name: path.stat().st_size for name, path in files_below(folder)}

    def copy(s3: Any) -> None:
        destination = _Destination(s3, target.bucket, root, folder, local)
        there, said = destination.state()
        if said.get("content", content) != content:
            raise UserError(
                f"upload of a data set to {uri}",
                f"another data set is there ({said['content']})",
                "give another prefix, or delete what is there",
            )
        # Objects of the right size may be those of anything where nobody said whose they are.
        left = steps(local, there if said.get("content") == content else {}, copies)
        if not left.puts and not left.copies and said.get("complete"):
            return
        destination.mark(content, complete=False)
        pace, sent, total = Pace(), 0, sum(local[name] for name in (*left.puts, *left.copies))
        with ThreadPoolExecutor(threads) as pool:
            for work, names in ((destination.put, left.puts), (lambda name: destination.duplicate(left.copies[name], name), left.copies)):
                for size in pool.map(work, tuple(names)):
                    sent += size
                    if pace.is_due():
                        say(f"upload to {uri}: {size_text(sent)} of {size_text(total)}")
        destination.mark(content, complete=True)

    asking(f"upload of a data set to {uri}", lambda: copy(client or target.client()))
    return uri


def _said(body: bytes) -> dict[str, Any]:
    """Return what a marker says; nothing where it is none of ours."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
