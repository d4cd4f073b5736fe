"""Whether the first experiments of a study show that it is the script that fails, and not a method. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MOST_METHODS = 3
"""So many methods that fail alike are enough, however many there are."""


class EndedExperiment(NamedTuple):
    """An experiment that came to its end; `failure` is what its failures have in common, empty where something was measured."""

    benchmark: str
    method: str
    failure: str


def failing_alike(ended: Sequence[EndedExperiment], benchmark: str, methods: int) -> str | None:
    """Return the failure that the first experiments of a benchmark have in common, where it is plainly the script's; else None.

    Args:
        ended: the experiments that ended, in order.
        benchmark: whose script it would be.
        methods: how many methods the study has on it. With several, so many of them (`MOST_METHODS` at most) must fail alike before
            anything else ended; with one alone two of its seeds.
    """
    own = [one for one in ended if one.benchmark == benchmark]
    if not own or any(not one.failure for one in own) or len({one.failure for one in own}) > 1:
        return None
    enough = len({one.method for one in own}) >= min(methods, MOST_METHODS) if methods > 1 else len(own) >= 2
    return own[0].failure if enough else None
