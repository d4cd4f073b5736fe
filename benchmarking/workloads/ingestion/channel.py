"""One input channel of a job, as the back-end announces it in the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

USUAL_READERS = {"files": "files", "shards": "tar", "records": "records", "table": "table", "chunks": "litdata"}
"""Readers of what lies on a disk, by layout."""


@dataclass(frozen=True)
class Channel:
    """One input channel.

    Args:
        location: a folder, a FIFO's path without its epoch, or an `s3://` URI.
        reader: one of `opening.READERS`.
        layout: `files` (`<class>/<key>.jpg`), `shards` (TAR files of `<key>.jpg` and `<key>.cls`), `records` (TFRecords), `table` (CSV or
            Parquet) or `chunks` (litdata's).
        format: of its files, e.g. `jpg`; empty for all that the layout knows.
        labels: `folder`, `member`, `feature` or `none`; empty for what is usual for the layout.
        input_mode: how the back-end put it into place: `local`, `file`, `fastfile`, `pipe`, `fsx`, `efs` or `none`.
        distribution: `replicated` where each host sees all of it, `sharded` where each has a part.
        content: of its samples: `images`, `rows` or `bytes`; empty where nobody knows.
        classes, samples: how many labels and samples there are; 0 where nobody counted.
    """

    location: str
    reader: str
    layout: str
    format: str = ""
    labels: str = ""
    input_mode: str = ""
    distribution: str = "replicated"
    content: str = ""
    classes: int = 0
    samples: int = 0

    @property
    def is_remote(self) -> bool:
        """Whether it is an URI, so that this process fetches the objects itself."""
        return self.location.startswith("s3://")

    @classmethod
    def announced(cls, environ: Mapping[str, str], name: str = "train") -> Channel:
        """Return the channel that the environment announces; SageMaker's variables do where ours are missing.

        Raises:
            SystemExit: there is no such channel.
        """
        upper = re.sub(r"\W", "_", name).upper()
        location = environ.get(f"OUTRIDER_CHANNEL_{upper}") or environ.get(f"SM_CHANNEL_{upper}")
        if not location:
            raise SystemExit(f"there is no channel {name!r}: neither OUTRIDER_CHANNEL_{upper} nor SM_CHANNEL_{upper} is set")
        told = {
            key: environ.get(f"OUTRIDER_{key}_{upper}", "")
            for key in ("LAYOUT", "READER", "FORMAT", "LABELS", "INPUT_MODE", "DISTRIBUTION", "CONTENT", "CLASSES", "SAMPLES")
        }
        layout = told["LAYOUT"] or "files"
        reader = told["READER"] or USUAL_READERS.get(layout, "files")
        place = (told["FORMAT"], told["LABELS"], told["INPUT_MODE"], told["DISTRIBUTION"] or "replicated")
        return cls(location, reader, layout, *place, told["CONTENT"], int(told["CLASSES"] or 0), int(told["SAMPLES"] or 0))
