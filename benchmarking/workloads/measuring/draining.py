"""Drains a store raw: how many objects a second it gives to so many requests at once, whoever reads them otherwise. Standard library only.

Requests to S3 are signed beforehand, so that what is timed is a plain HTTP client.
"""

from __future__ import annotations

import http.client
import math
import os
import ssl
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from .bound import Ceiling
from .ceilings import BLOCKS, mean_and_error

AT_ONCE = (1, 2, 4, 8, 16)
"""Numbers of requests in flight that are tried."""

_ENOUGH = 1.1
_NO_WAITING = 0.2
_LEVEL_S = 0.4
_MOST_LEVEL_S = 2.0
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Drained:
    """What a store gives at a number of requests in flight, the client's own processor time taken out.

    Args:
        objects_per_s: infinite where next to all of the time was the client's own, as where files lie in memory.
        bytes_per_s: as drained.
        error: standard error of the rate over it.
    """

    objects_per_s: float
    bytes_per_s: float
    error: float


def drained(
    fetch: Callable[[], Callable[[int], int]], objects: int, at_once: Sequence[int] = AT_ONCE, level_s: float = _LEVEL_S
) -> dict[int, Drained]:
    """Return what a store gives at growing numbers of requests in flight, until two more steps have not helped.

    Args:
        fetch: makes what one thread fetches objects with: takes the number of an object, returns its bytes.
        objects: how many there are.
        at_once: numbers of requests to try, ascending.
        level_s: seconds for each.
    """
    found: dict[int, Drained] = {}
    first = 0
    for count in at_once:
        found[count], first = _level(fetch, objects, first, count, level_s)
        rates = [one.objects_per_s for one in found.values()]
        if math.isinf(rates[-1]):
            break  # nothing waits for the store, and what threads of one interpreter wait for is each other
        if len(rates) > 2 and max(rates[-2:]) < _ENOUGH * max(rates[:-2]):
            break
    return found


def _level(fetch: Callable[[], Callable[[int], int]], objects: int, first: int, count: int, level_s: float) -> tuple[Drained, int]:
    """Fetch with so many threads; objects come in their order, each level going on where the last one ended."""
    lock, done, failures = threading.Lock(), list[tuple[float, int]](), list[BaseException]()
    waited = list[tuple[float, float]]()
    following = first
    ready = threading.Barrier(count + 1)
    ends = threading.Event()

    def work() -> None:
        nonlocal following
        try:
            get = fetch()
            get(first % objects)  # the connection
            ready.wait()
            at_s, busy_s = time.monotonic(), _busy_s()
            while not ends.is_set():
                with lock:
                    number, following = following, following + 1
                size = get(number % objects)
                with lock:
                    done.append((time.monotonic(), size))
            wall_s = time.monotonic() - at_s
            waited.append((wall_s, max(wall_s - (_busy_s() - busy_s), 0.0)))
        except threading.BrokenBarrierError:
            return
        except Exception as error:  # noqa: BLE001 (told by who waits)
            failures.append(error)
            ready.abort()
            ends.set()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
    except threading.BrokenBarrierError:
        raise failures[0] if failures else RuntimeError("no connection") from None
    began_s = time.monotonic()
    ends.wait(level_s)
    while len(done) < 2 * count and not failures and time.monotonic() - began_s < _MOST_LEVEL_S:
        ends.wait(level_s / 4)
    ends.set()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return rate_of(done, began_s, count, waited), following


def rate_of(done: Sequence[tuple[float, int]], began_s: float, count: int, waited: Sequence[tuple[float, float]]) -> Drained:
    """Return the rate of some fetches, and its error from equal stretches of time.

    Args:
        done: (n_fetches,) when each ended, and its bytes.
        began_s: when they began.
        count: how many were in flight.
        waited: seconds of each thread, and those of them in which it neither worked nor waited for a processor.
    """
    seconds = max(done[-1][0] - began_s, 1e-9)
    counts = [0] * BLOCKS
    for at_s, _ in done:
        counts[min(int((at_s - began_s) / seconds * BLOCKS), BLOCKS - 1)] += 1
    # Few fetches make stretches that differ by counting alone.
    error = mean_and_error([float(number) for number in counts])[1] if len(done) >= 4 * BLOCKS else 1 / len(done)
    whole_s, waiting_s = math.fsum(one for one, _ in waited), math.fsum(one for _, one in waited)
    rate = math.inf if waiting_s < _NO_WAITING * whole_s else count / (waiting_s / len(done))
    return Drained(rate, sum(size for _, size in done) / seconds, error)


def _busy_s() -> float:
    """Return the seconds in which this thread had a processor or, where the kernel tells, waited for one."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:  # noqa: PTH123 (called while time is measured)
            waited_ns = int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        waited_ns = 0
    return time.thread_time() + waited_ns / 1e9


def of_files(names: Sequence[str]) -> Callable[[], Callable[[int], int]]:
    """Return a maker of fetches (see `drained`) from files."""

    def fetch(number: int) -> int:
        descriptor = os.open(names[number], os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = 0
            while content := os.read(descriptor, _CHUNK):
                size += len(content)
            return size
        finally:
            os.close(descriptor)

    return lambda: fetch


def of_urls(urls: Sequence[str]) -> Callable[[], Callable[[int], int]]:
    """Return a maker of fetches (see `drained`) by HTTP GET, each over a connection of its own that stays open."""
    parts = urlsplit(urls[0])
    targets = [url.partition(parts.netloc)[2] for url in urls]

    def connected() -> Callable[[int], int]:
        connection: Any
        if parts.scheme == "https":
            connection = http.client.HTTPSConnection(parts.netloc, timeout=60, context=ssl.create_default_context())
        else:
            connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        buffer = bytearray(_CHUNK)

        def fetch(number: int) -> int:
            connection.request("GET", targets[number])
            answer, size = connection.getresponse(), 0
            while read := answer.readinto(buffer):
                size += read
            if answer.status != 200:
                raise OSError(f"GET {targets[number].partition('?')[0]}: status {answer.status}")
            return size

        return fetch

    return connected


def as_ceilings(found: Mapping[int, Drained], samples_per_object: float) -> dict[int, Ceiling]:
    """Return drained rates in samples a second."""
    return {count: Ceiling(one.objects_per_s * samples_per_object, one.error) for count, one in found.items()}
