"""What a training is seeded with: the same for one configuration under every method of a seed, another for each repeat."""

from __future__ import annotations

from collections.abc import Mapping


def seed_of(asked: int | None, environ: Mapping[str, str]) -> int:
    """Return the seed of weights, order and dropout.

    Args:
        asked: of the command line, to which the number of the repeat is added: a repeated measurement is to show how much of the result
            is luck. None for the job's own, which differs between repeats already.
        environ: of the job.
    """
    if asked is not None:
        return asked + int(environ.get("OUTRIDER_REPEAT") or 0)
    return int(environ.get("OUTRIDER_SEED") or 0)
