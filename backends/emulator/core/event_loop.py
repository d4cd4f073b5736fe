"""One thread that drives all jobs: timers, descriptors, and results of work done by a few helpers."""

from __future__ import annotations

import heapq
import itertools
import os
import selectors
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from backends.emulator.core.clock import Clock

T = TypeVar("T")
_MOST_WAIT_S = 30.0
_SWEEP_EVERY = 1024


class TimerHandle:
    """A call that is to come; `cancel` forgets it."""

    def __init__(self, call: Callable[[], None]) -> None:
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        """Do not call."""
        self.call = None


class EventLoop:
    """Calls back at times, on readable descriptors and after work; never two at once, and always holding `lock`.

    A job that waits or whose script is silent therefore costs no thread. What blocks goes to `run_in_thread`.

    Args:
        clock: what timers go by.
        workers: most pieces of work at once.
    """

    def __init__(self, clock: Clock, workers: int) -> None:
        self.clock = clock
        self.lock = threading.RLock()
        self._timers: list[tuple[float, int, TimerHandle]] = []
        self._posted: deque[Callable[[], None]] = deque()
        self._numbers = itertools.count()
        self._selector = selectors.DefaultSelector()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._selector.register(self._wake_read, selectors.EVENT_READ, None)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="emulator-work")
        self._thread = threading.Thread(target=self._run, name="emulator-loop", daemon=True)
        self._closing = False
        clock.subscribe(self.wake)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End the thread, whose children the system then kills, and wait for work that has begun."""
        self._closing = True
        self.wake()
        if self._thread.ident is not None:
            self._thread.join()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._selector.close()
        os.close(self._wake_read)
        # First forgotten, as the number may soon be another file's.
        descriptor, self._wake_write = self._wake_write, -1
        os.close(descriptor)

    def wake(self) -> None:
        """Have timers looked at now; safe in any thread."""
        try:
            os.write(self._wake_write, b"w")
        except (BlockingIOError, OSError):
            return

    def call_soon(self, call: Callable[[], None]) -> None:
        """Call soon, in the loop's thread."""
        self._posted.append(call)
        self.wake()

    def call_at(self, moment: float, call: Callable[[], None]) -> TimerHandle:
        """Call at a time of the clock."""
        timer = TimerHandle(call)
        with self.lock:
            number = next(self._numbers)
            heapq.heappush(self._timers, (moment, number, timer))
            if number % _SWEEP_EVERY == 0:
                # Limits are set for each job, hours away, and most are forgotten long before.
                self._timers = [entry for entry in self._timers if entry[2].call is not None]
                heapq.heapify(self._timers)
        if threading.current_thread() is not self._thread:
            self.wake()
        return timer

    def call_later(self, seconds: float, call: Callable[[], None]) -> TimerHandle:
        """Call after so many seconds of the clock."""
        return self.call_at(self.clock.now() + seconds, call)

    def add_reader(self, descriptor: int, call: Callable[[], None]) -> None:
        """Call whenever a descriptor is readable; to be used in the loop's thread."""
        self._selector.register(descriptor, selectors.EVENT_READ, call)

    def remove_reader(self, descriptor: int) -> None:
        """Stop watching a descriptor; one that is not watched is ignored."""
        try:
            self._selector.unregister(descriptor)
        except KeyError:
            return

    def run_in_thread(self, task: Callable[[], T], then: Callable[[T | None, BaseException | None], None]) -> None:
        """Run a task in a helper thread, then call `then(result, error)` in the loop's."""

        def done(future: Future[T]) -> None:
            if future.cancelled():
                return
            error = future.exception()
            self.call_soon(lambda: then(None if error else future.result(), error))

        try:
            self._pool.submit(task).add_done_callback(done)
        except RuntimeError:
            return

    def _run(self) -> None:
        while not self._closing:
            with self.lock:
                self._call_due()
                wait_s = self._wait_s()
            for key, _ in self._selector.select(wait_s):
                if key.data is None:
                    self._drain_wake()
                elif not self._closing:
                    with self.lock:
                        self._guarded(key.data)

    def _call_due(self) -> None:
        while self._posted and not self._closing:
            self._guarded(self._posted.popleft())
        now = self.clock.now()
        while self._timers and self._timers[0][0] <= now and not self._closing:
            timer = heapq.heappop(self._timers)[2]
            if timer.call is not None:
                self._guarded(timer.call)

    def _wait_s(self) -> float | None:
        if self._posted:
            return 0.0
        while self._timers and self._timers[0][2].call is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return _MOST_WAIT_S
        wait_s = self.clock.real_wait_s(self._timers[0][0])
        return _MOST_WAIT_S if wait_s is None else min(wait_s, _MOST_WAIT_S)

    def _drain_wake(self) -> None:
        try:
            while os.read(self._wake_read, 4096):
                pass
        except BlockingIOError:
            return

    def _guarded(self, call: Callable[[], Any]) -> None:
        try:
            call()
        except Exception:  # noqa: BLE001 (one job's fault must not end the others)
            traceback.print_exc(file=sys.stderr)
