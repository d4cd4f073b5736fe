"""What people are told of a node that does not answer while its jobs are ended. Pure."""

from __future__ import annotations

from collections.abc import Iterable


def silent_text(host: str, jobs: Iterable[str], waited_s: float) -> str:
    """Return what may still run on a node, and what ends it."""
    return (
        f"node {host} did not answer within {waited_s:.0f} s when its jobs were to end, and these may still run there: {', '.join(jobs)}; "
        "they end when it hears of Ray again, or with `pkill -f backends.ray.node_process` on it, which ends all of yours there"
    )
