"""Ends a loader that gives nothing, and leaves the stacks of its workers in the log."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

STALL_S = 300.0
"""Seconds without a batch after which a loader is ended, where nobody says otherwise."""

_SIGNAL = signal.SIGUSR1
_DUMP_S = 1.0
_LAST_RESORT_S = 30.0


class LoaderStalledError(RuntimeError):
    """A loader gave nothing for too long."""


def answer_with_stacks(worker_id: int = 0) -> None:
    """Make this process write the stacks of its threads to stderr when it is asked for them; given to a loader as its `worker_init_fn`."""
    faulthandler.register(_SIGNAL, file=sys.__stderr__ or sys.stderr, all_threads=True)


class StallWatch:
    """Guards waits for batches.

    In the main thread a wait is interrupted by an alarm, which raises. A wait inside a library that does not come back to Python is ended
    with the process, some seconds later.

    Args:
        stall_s: seconds that a batch may take; 0 for any.
        workers: returns the process ids of the loader's workers.
        leave: ends the process at once; another for tests.
    """

    def __init__(self, stall_s: float, workers: Callable[[], Sequence[int]], leave: Callable[[int], Any] = os._exit) -> None:
        self._stall_s, self._workers, self._leave = stall_s, workers, leave
        self._in_main = threading.current_thread() is threading.main_thread()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Let alarms reach this process while the block runs."""
        if not self._stall_s or not self._in_main:
            yield
            return
        before = signal.signal(signal.SIGALRM, self._stalled)
        try:
            yield
        finally:
            self.arrived()
            signal.signal(signal.SIGALRM, before)

    def asked(self) -> None:
        """Note that a batch was asked for."""
        if self._stall_s and self._in_main:
            signal.setitimer(signal.ITIMER_REAL, self._stall_s)

    def arrived(self) -> None:
        """Note that it is there."""
        if self._stall_s and self._in_main:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _stalled(self, number: int, frame: Any) -> None:
        pids = list(self._workers())
        message = f"the loader gave nothing for stall_s = {self._stall_s:g} s"
        if pids:
            message += f"; its workers {', '.join(map(str, pids))} are idle or wait, their stacks are in the log above"
        print(f"{message}. Stacks of this process and of its workers:", file=sys.stderr, flush=True)
        faulthandler.dump_traceback(file=sys.__stderr__ or sys.stderr, all_threads=True)
        for pid in pids:
            with contextlib.suppress(OSError):
                print(f"worker {pid}:", file=sys.stderr, flush=True)
                os.kill(pid, _SIGNAL)
                time.sleep(_DUMP_S / max(len(pids), 1))  # one after the other, so that stacks do not mix
        # Raised here it reaches the wait; where that is in a library that goes on waiting, nothing is left but to go.
        end = threading.Timer(_LAST_RESORT_S, self._leave, (1,))
        end.daemon = True
        end.start()
        raise LoaderStalledError(message)
