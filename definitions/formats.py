"""Forms in which a data set is stored: one row a format says what its files are called and how readers see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """One form of a data set.

    Args:
        name: the user's word, which is also the ending of its files.
        layout: what readers find: `files` (one a sample) or `shards` (archives of many samples).
    """

    name: str
    layout: str

    @property
    def pattern(self) -> str:
        """What its files are called, as a glob."""
        return f"*.{self.name}"


FORMATS: Mapping[str, Format] = {one.name: one for one in (Format("jpg", "files"), Format("tar", "shards"))}
"""All of them, by name. Which layout can be read how is said by `definitions.ingestion`."""

LAYOUTS = tuple(dict.fromkeys(one.layout for one in FORMATS.values()))
"""What readers know."""
