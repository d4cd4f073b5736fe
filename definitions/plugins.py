"""What installed packages add to Outrider, as entry points by group."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points


def installed(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, as they are when any is first asked for: finding them reads every package's metadata."""
    return _by_group().get(group, ())


@lru_cache(maxsize=1)
def _by_group() -> Mapping[str, tuple[EntryPoint, ...]]:
    found = entry_points()
    return {group: tuple(found.select(group=group)) for group in found.groups}
