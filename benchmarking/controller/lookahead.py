"""Which of the next trials may start first where instances wait warm for it, and how the queue is without it. Pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import islice

from definitions.schema import Order

LOOK_AHEAD = 8
"""Evaluations among which one may be chosen, and how often one may be overtaken."""


def next_entries(
    queue: Sequence[tuple[int, int]], *, order: Order, repeats: int, left: int, overtaken: int = 0, most: int = LOOK_AHEAD
) -> Iterator[tuple[int, int]]:
    """Yield the (evaluation, repeat) that may start next, the one whose turn it is first.

    What is evaluated in total stays the same, as only the first `left` are chosen from; and so do orders: a random one is kept as it
    was drawn, an interleaved one goes on with the next repeat only after all have had this one, and by default all repeats of an
    evaluation follow each other. Nothing in the queue was overtaken more often than the first.

    Args:
        queue: what is to be started, not empty.
        order: of repeated measurements.
        repeats: measurements of each evaluation.
        left: trials that may still be started.
        overtaken: how often the first was overtaken.
        most: evaluations to choose from; after so many times the first has to start.
    """
    _, round_ = queue[0]
    yield queue[0]
    if order == "random" or (order == "default" and round_) or overtaken >= most:
        return
    found = 1
    for place, (evaluation, repeat) in enumerate(islice(queue, 1, max(1, left)), 1):
        if found == most or (order == "interleave" and repeat != round_):
            return
        if repeat == round_ and (order == "interleave" or place + repeats <= left):
            found += 1
            yield evaluation, repeat


def wanted_ahead(queue: Sequence[tuple[int, int]], *, repeats: int, left: int, most: int = LOOK_AHEAD) -> bool:
    """Return whether a further suggestion would be one to choose from."""
    return len(queue) < left and len(queue) < most * repeats


def take_out(queue: deque[tuple[int, int]], entry: tuple[int, int], order: Order, overtaken: Counter[tuple[int, int]]) -> None:
    """Remove what starts, and count what it overtakes; where repeats follow each other, the others of its evaluation come next.

    Raises:
        ValueError: it is not in the queue.
    """
    if queue[0] == entry:
        queue.popleft()
        overtaken.pop(entry, None)
        return
    overtaken.update(other for other in islice(queue, queue.index(entry)) if other[1] == entry[1])
    queue.remove(entry)
    overtaken.pop(entry, None)
    if order == "default":
        mine = [other for other in queue if other[0] == entry[0]]
        for other in mine:
            queue.remove(other)
        queue.extendleft(reversed(mine))
