"""What installed packages add to Outrider, as entry points by group."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


@lru_cache(maxsize=8)
def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, as they are when it is first asked for: finding them reads every package's metadata."""
    return tuple(entry_points(group=group))
