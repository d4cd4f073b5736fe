"""Dynamic batching: requests for one model that come within a short time are computed together, and their rows told apart again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

Arrays = Mapping[str, "NDArray[Any]"]
Shapes = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True)
class _Waiting:
    arrays: Arrays
    rows: int
    answer: asyncio.Future[Arrays]


class Batcher:
    """Joins requests of one model.

    Args:
        compute: of arrays, runs them on a thread.
        most_rows: that are computed at once.
        delay_s: seconds that the first of a batch waits at most for others.
    """

    def __init__(self, compute: Callable[[Arrays], Awaitable[Arrays]], most_rows: int, delay_s: float) -> None:
        self._compute = compute
        self._most_rows = most_rows
        self._delay_s = delay_s
        self._waiting: dict[Shapes, list[_Waiting]] = {}
        self._timers: dict[Shapes, asyncio.TimerHandle] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, arrays: Arrays, rows: int) -> Arrays:
        """Return the outputs of one request, computed with others where they came in time."""
        loop = asyncio.get_running_loop()
        # Only what differs in its rows alone can be joined: a free dimension within a row must be the same.
        shapes = tuple(sorted((name, array.shape[1:]) for name, array in arrays.items()))
        queue = self._waiting.setdefault(shapes, [])
        if sum(one.rows for one in queue) + rows > self._most_rows:
            self._flush(shapes)
            queue = self._waiting.setdefault(shapes, [])
        answer: asyncio.Future[Arrays] = loop.create_future()
        queue.append(_Waiting(arrays, rows, answer))
        if sum(one.rows for one in queue) == self._most_rows:
            self._flush(shapes)
        elif shapes not in self._timers:
            self._timers[shapes] = loop.call_later(self._delay_s, self._flush, shapes)
        return await answer

    def _flush(self, shapes: Shapes) -> None:
        timer = self._timers.pop(shapes, None)
        if timer is not None:
            timer.cancel()
        batch = self._waiting.pop(shapes, [])
        if batch:
            task = asyncio.ensure_future(self._run(batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _run(self, batch: list[_Waiting]) -> None:
        try:
            found = await self._compute(joined([one.arrays for one in batch]))
            parts = parted(found, [one.rows for one in batch])
        except Exception as error:  # noqa: BLE001 (each of the requests is to hear of it)
            for one in batch:
                if not one.answer.done():
                    one.answer.set_exception(error)
            return
        for one, part in zip(batch, parts, strict=True):
            if not one.answer.done():
                one.answer.set_result(part)


def joined(batch: list[Arrays]) -> Arrays:
    """Return the arrays of several requests below one another, by name."""
    if len(batch) == 1:
        return batch[0]
    import numpy as np

    return {name: np.concatenate([arrays[name] for arrays in batch]) for name in batch[0]}


def parted(found: Arrays, rows: list[int]) -> list[Arrays]:
    """Return the outputs of each of several requests.

    Args:
        found: outputs by name, whose first dimension is that of rows.
        rows: how many rows each request has, in order.

    Raises:
        RuntimeError: an output has another number of rows than its inputs together.
    """
    for name, array in found.items():
        if not array.ndim or array.shape[0] != sum(rows):
            raise RuntimeError(f"output {name!r} has the shape {[*array.shape]}, not {sum(rows)} rows: its rows cannot be told apart")
    parts: list[Arrays] = []
    at = 0
    for count in rows:
        parts.append({name: array[at : at + count] for name, array in found.items()})
        at += count
    return parts
