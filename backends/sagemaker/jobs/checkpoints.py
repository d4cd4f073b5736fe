"""Checkpoints in S3 by key; and, for the loop's own thread, such as wait while credentials are expired."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from backends.checkpoint_store import CheckpointStore
from backends.sagemaker.aws import s3
from backends.sagemaker.aws.errors import CloudError, FailureKind

logger = logging.getLogger(__name__)

_LIST_ALL_FROM = 8
"""Checkpoints from which on one listing of the whole experiment is cheaper than a listing for each."""
_OWN = ".outrider-"
"""Begins the names of what the reporter keeps beside the script's own files."""
_PAUSE_S = 15.0


class S3Checkpoints(CheckpointStore):
    """Checkpoints below `s3://<bucket>/<prefix>/checkpoints/<experiment>/<key>/`.

    Args:
        client: returns a boto3 S3 client, a new one where credentials were renewed.
        bucket, prefix: where Outrider keeps everything.
        experiment: `<tag>/<job prefix>`.
        threads: copies at once.
    """

    def __init__(self, client: Callable[[], Any], bucket: str, prefix: str, experiment: str, threads: int = 8) -> None:
        self._client, self._bucket = client, bucket
        self._root = s3.joined(prefix, "checkpoints", experiment)
        self._threads = threads

    @property
    def bucket(self) -> str:
        """The bucket that they are in."""
        return self._bucket

    def uri(self, key: str) -> str:
        """Return the `s3://` URI of a key's folder, with a slash at its end; raises `ValueError` as `folder`."""
        return f"s3://{self._bucket}/{self.folder(key)}"

    def folder(self, key: str) -> str:
        """Return the prefix of a key's objects.

        Raises:
            ValueError: the key is no plain name or relative path.
        """
        if any(part in ("", ".", "..") for part in key.split("/")):
            raise ValueError(f"checkpoint key {key!r} is no plain name")
        return f"{self._root}{key}/"

    def copy(self, source: str, target: str) -> None:
        """Copy a checkpoint in place of the target's; one that does not exist copies to nothing.

        What the reporter counts the lives of a job by stays behind.
        """
        if source == target:
            return
        self.delete([target])
        s3.copy_prefix(
            self._client(),
            self._bucket,
            self.folder(source),
            self.folder(target),
            threads=self._threads,
            wanted=_is_content,
        )

    def delete(self, keys: Sequence[str]) -> None:
        """Delete checkpoints, a thousand objects in a call; unknown keys are ignored."""
        folders = list(dict.fromkeys(self.folder(key) for key in keys))
        try:
            found = self._found_below(folders)
        except s3.NoBucketError:
            return  # nothing was ever kept, or it is gone with its bucket
        s3.delete_keys(self._client(), self._bucket, found)

    def _found_below(self, folders: Sequence[str]) -> list[str]:
        """Return the keys of all objects below some folders, by as few listings as it takes."""
        client, doomed = self._client(), set(folders)
        # Each folder is a listing of its own. One of the whole experiment is cheaper for many of them, or where one answer holds it all.
        whole: list[str] | None = None
        if len(folders) >= _LIST_ALL_FROM:
            whole = [key for key, _ in s3.objects(client, self._bucket, self._root)]
        elif len(folders) > 1:
            whole = s3.few_objects(client, self._bucket, self._root)
        if whole is not None:
            return [key for key in whole if any(folder in doomed for folder in _folders_of(key, self._root))]
        return [key for folder in folders for key, _ in s3.objects(client, self._bucket, folder)]

    def exists(self, key: str) -> bool:
        """Return whether the key has a checkpoint that is not empty."""
        folder = self.folder(key)
        try:
            return any(_is_content(name.removeprefix(folder)) for name, _ in s3.objects(self._client(), self._bucket, folder))
        except s3.NoBucketError:
            return False


class WaitingCheckpoints(S3Checkpoints):
    """Checkpoints whose calls are made again, for as long as it takes, where nothing but credentials is missing.

    Args:
        arguments: of `S3Checkpoints`.
        renew: has credentials looked up anew.
        sleep: waits so many seconds.
    """

    def __init__(self, *arguments: Any, renew: Callable[[], None], sleep: Callable[[float], None], **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._renew, self._sleep = renew, sleep

    def copy(self, source: str, target: str) -> None:
        """Copy a checkpoint; see `S3Checkpoints.copy`."""
        self._until_allowed(lambda: super(WaitingCheckpoints, self).copy(source, target))

    def delete(self, keys: Sequence[str]) -> None:
        """Delete checkpoints; see `S3Checkpoints.delete`."""
        self._until_allowed(lambda: super(WaitingCheckpoints, self).delete(keys))

    def exists(self, key: str) -> bool:
        """Return whether the key has a checkpoint that is not empty."""
        return bool(self._until_allowed(lambda: super(WaitingCheckpoints, self).exists(key)))

    def _until_allowed(self, call: Callable[[], Any]) -> Any:
        while True:
            try:
                return call()
            except CloudError as error:
                if error.failure.kind is not FailureKind.CREDENTIALS:
                    raise
                # The loop, which would tell it otherwise, is what waits here.
                logger.warning("%s; the run goes on by itself then", error)
            self._sleep(_PAUSE_S)
            self._renew()


def _is_content(name: str) -> bool:
    """Return whether an object, by its key within a checkpoint, is the script's own; a folder's mark is none."""
    return bool(name) and not name.startswith(_OWN)


def _folders_of(key: str, root: str) -> Iterator[str]:
    parts = key.removeprefix(root).split("/")[:-1]
    for count in range(1, len(parts) + 1):
        yield root + "/".join(parts[:count]) + "/"
