"""Several reads at once in one process, their results in order."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

Given = TypeVar("Given")
Result = TypeVar("Result")


def in_flight(function: Callable[[Given], Result], given: Iterable[Given], threads: int) -> Iterator[Result]:
    """Yield a function's results in the order of what it is given, so many of them being worked on at once.

    Args:
        function: called in threads; what it raises is raised here, in its turn.
        given: asked for as results are taken.
        threads: 1 for none beside the caller's own.
    """
    if threads <= 1:
        yield from map(function, given)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="read") as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for one in given:
                waiting.append(pool.submit(function, one))
                if len(waiting) >= threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def streams_in_flight(streams: Iterable[Iterator[Result]], threads: int, ahead: int = 32) -> Iterator[Result]:
    """Yield what streams give, one stream after another, while so many of them are being read at once.

    Args:
        streams: asked for as they come into reach.
        threads: 1 for none beside the caller's own.
        ahead: how much of each is read before it is its turn.
    """
    if threads <= 1:
        for stream in streams:
            yield from stream
        return
    stopped = threading.Event()
    with ThreadPoolExecutor(threads, thread_name_prefix="read") as pool:
        waiting: deque[queue.Queue[_Item[Result]]] = deque()
        coming = iter(streams)
        try:
            while True:
                for stream in islice(coming, threads - len(waiting)):
                    waiting.append(queue.Queue(ahead))
                    pool.submit(_pump, stream, waiting[-1], stopped)
                if not waiting:
                    return
                items = waiting.popleft()
                while not (item := items.get()).is_last:
                    yield item.value  # type: ignore[misc]  # only the last has none
                if item.error is not None:
                    raise item.error
        finally:
            stopped.set()


@dataclass(frozen=True)
class _Item(Generic[Result]):
    value: Result | None = None
    is_last: bool = False
    error: BaseException | None = None


def _pump(stream: Iterator[Result], items: queue.Queue[_Item[Result]], stopped: threading.Event) -> None:
    error: BaseException | None = None
    try:
        for value in stream:
            if not _put(items, _Item(value), stopped):
                return
    except BaseException as raised:  # noqa: BLE001  (raised again where the stream is read)
        error = raised
    _put(items, _Item(is_last=True, error=error), stopped)


def _put(items: queue.Queue[_Item[Result]], item: _Item[Result], stopped: threading.Event) -> bool:
    """Put an item as soon as there is room, and return whether anybody will take it."""
    while not stopped.is_set():
        try:
            items.put(item, timeout=0.1)
            return True
        except queue.Full:
            continue
    return False
