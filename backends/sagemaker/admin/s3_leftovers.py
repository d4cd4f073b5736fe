"""What a tag leaves in S3, and its deletion. Code packages and data sets are shared by content and stay."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from backends.sagemaker.aws import s3
from backends.sagemaker.aws.clients import Clients
from definitions.errors import UserError

LEFTOVER_FOLDERS = ("checkpoints", "output", "jobs", "runs")
"""Folders below the prefix that hold one folder for each tag."""


@dataclass(frozen=True)
class LeftoverFolder:
    """What lies in one folder of a tag.

    Args:
        key_prefix: with the tag, up to and with its slash.
        objects: how many.
        size_bytes: of all together.
    """

    key_prefix: str
    objects: int
    size_bytes: int


class Leftovers:
    """Objects of one tag.

    Args:
        clients: of the bucket's region.
        bucket: its name.
        prefix: where in it Outrider keeps everything.
        tag: of the experiments, not empty and without slashes.

    Raises:
        UserError: a tag that would reach beyond itself.
    """

    def __init__(self, clients: Clients, bucket: str, prefix: str, tag: str) -> None:
        if not tag or "/" in tag:
            raise UserError(f"--tag {tag!r}", "a tag has letters, digits and hyphens", "give the --experiment_tag of the run")
        self._clients, self._bucket = clients, bucket
        self._places = [s3.joined(prefix, place, tag) for place in LEFTOVER_FOLDERS]

    def measure(self) -> list[LeftoverFolder]:
        """Return what there is, one entry for each of `LEFTOVER_FOLDERS`; raises `UserError` or `CloudError` where S3 refuses."""
        found = []
        for place in self._places:
            objects = size_bytes = 0
            for _, size in s3.objects(self._clients.get("s3"), self._bucket, place):
                objects += 1
                size_bytes += size
            found.append(LeftoverFolder(place, objects, size_bytes))
        return found

    def delete(self) -> tuple[str, ...]:
        """Delete all of it, a thousand objects at a time, and return why some could not be; raises as `measure`."""
        problems = []
        for place in self._places:
            keys = (key for key, _ in s3.objects(self._clients.get("s3"), self._bucket, place))
            while batch := list(itertools.islice(keys, s3.BATCH)):
                try:
                    s3.delete_keys(self._clients.get("s3"), self._bucket, batch)
                except UserError as error:
                    problems.append(str(error))
        return tuple(problems)
