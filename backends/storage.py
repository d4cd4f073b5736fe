"""Where a back-end's jobs find data of the user's."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Storage:
    """Where a back-end's jobs find data of the user's: a bucket that exists, and a key prefix below which it may be put."""

    bucket: str
    prefix: str
    region: str
