"""Which models are unloaded for another one. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Residency:
    """A loaded model: how many requests use it or wait for it now, and the bytes that its load added."""

    target: str
    users: int
    size_bytes: int


def victims(residents: Iterable[Residency], used_bytes: int, needed_bytes: int, limit_bytes: int | None) -> tuple[list[str], bool]:
    """Return the targets to be unloaded, and whether room is made with them.

    Args:
        residents: loaded models, the least recently used first.
        used_bytes: memory that the server takes now.
        needed_bytes: that is wanted beside it.
        limit_bytes: that there is; None for no limit.
    """
    if limit_bytes is None:
        return [], True
    chosen: list[str] = []
    short_bytes = used_bytes + needed_bytes - limit_bytes
    for one in residents:
        if short_bytes <= 0:
            break
        # One that somebody uses must not go, however long ago it was asked for.
        if one.users == 0:
            chosen.append(one.target)
            short_bytes -= one.size_bytes
    return chosen, short_bytes <= 0
