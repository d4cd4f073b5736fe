"""One input channel of a job, as the back-end announces it in the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

USUAL_READERS = {"files": "files", "shards": "tar"}
"""Readers of what lies on a disk, by layout."""


@dataclass(frozen=True)
class Channel:
    """One input channel.

    Args:
        location: a folder, a FIFO's path without its epoch, or an `s3://` URI.
        reader: `files`, `tar`, `pipe`, `s3_map`, `s3_iterable`, `boto3` or `fsspec`; see `open_channel`.
        layout: `files` (`<class>/<key>.jpg`) or `shards` (TAR files of `<key>.jpg` and `<key>.cls`).
    """

    location: str
    reader: str
    layout: str

    @classmethod
    def announced(cls, environ: Mapping[str, str], name: str = "train") -> Channel:
        """Return the channel that the environment announces; SageMaker's variables do where ours are missing.

        Raises:
            SystemExit: there is no such channel.
        """
        upper = name.upper()
        location = environ.get(f"OUTRIDER_CHANNEL_{upper}") or environ.get(f"SM_CHANNEL_{upper}")
        if not location:
            raise SystemExit(f"there is no channel {name!r}: neither OUTRIDER_CHANNEL_{upper} nor SM_CHANNEL_{upper} is set")
        layout = environ.get(f"OUTRIDER_LAYOUT_{upper}", "files")
        return cls(location, environ.get(f"OUTRIDER_READER_{upper}") or USUAL_READERS.get(layout, "files"), layout)
