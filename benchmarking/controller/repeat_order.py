"""The order of repeated measurements: a pure function from evaluations and repeats to a sequence of trials."""

from __future__ import annotations

import random
from collections.abc import Sequence

from definitions.schema import Order


def ordered(evaluations: Sequence[int], repeats: int, order: Order, seed: int) -> list[tuple[int, int]]:
    """Return (evaluation, repeat) pairs in the order in which they are to run.

    Args:
        evaluations: ids, in the order suggested.
        repeats: measurements of each.
        order: `default` (all repeats of one, then the next), `interleave` (one of each, then again), `random` (a seeded shuffle).
        seed: the experiment's seed.
    """
    if order == "interleave":
        return [(evaluation, repeat) for repeat in range(repeats) for evaluation in evaluations]
    pairs = [(evaluation, repeat) for evaluation in evaluations for repeat in range(repeats)]
    if order == "random":
        random.Random(f"order-{seed}-{evaluations[0] if evaluations else 0}").shuffle(pairs)
    return pairs


def block_size(repeats: int, order: Order, *, finite: bool, left: int | None) -> int | None:
    """Return how many evaluations are ordered together; None for all that are left.

    Args:
        repeats: measurements of each.
        order: of them.
        finite: whether the suggestions come to an end by themselves.
        left: trials that may still be started, where suggestions do not depend on results and there is a limit; else None.
    """
    if order == "default" or (repeats == 1 and order == "interleave"):
        return 1
    if finite:
        return None
    return 1 if left is None else max(1, -(-left // repeats))
