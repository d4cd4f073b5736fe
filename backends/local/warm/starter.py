"""Starts jobs' processes: forked by a warm worker where a definition asks for it and a job allows it, else anew."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from backends.common.child_process import Child, allowed_cores, spawn
from backends.common.reactor import Reactor, ScheduledCall
from backends.local.warm.eligibility import unlike, unsuitable
from backends.local.warm.worker import ProcessSpec, WarmWorker, WarmWorkerError

logger = logging.getLogger(__name__)

_IMPORT_TIMEOUT_S = 180.0


class JobStarter:
    """Starts jobs for one back-end, with at most one warm worker. What cannot be started warm is started cold, and why is said once.

    Args:
        preload: modules that the worker imports; empty for no worker.
        python: interpreter of the worker.
        token: what the marks of all jobs begin with.
        folder: where the worker's log goes.
        reactor: tells when the worker is ready or has ended.
        served: called with the worker's process number, so that it is not taken for a job's.
        claim: makes this process the parent of orphans.
        import_timeout_s: most seconds that the imports may take.
    """

    def __init__(
        self,
        preload: Sequence[str],
        *,
        python: str,
        token: str,
        folder: Path,
        reactor: Reactor,
        now: Callable[[], float],
        served: Callable[[int], None],
        claim: Callable[[], None],
        import_timeout_s: float = _IMPORT_TIMEOUT_S,
    ) -> None:
        self._preload = tuple(preload)
        self._python = python
        self._token = token
        self._log = folder / "warm_worker.log"
        self._reactor = reactor
        self._now = now
        self._served = served
        self._claim = claim
        self._import_timeout_s = import_timeout_s
        self._worker: WarmWorker | None = None
        self._first: ProcessSpec | None = None
        self._ready = False
        self._given_up = not self._preload
        self._said: set[str] = set()
        if self._preload and sys.platform != "linux":
            self._give_up("a warm worker needs Linux")
        self._waiting: list[Callable[[], None]] = []
        self._timeout: ScheduledCall | None = None

    def when_possible(self, launch: ProcessSpec, call: Callable[[], None]) -> None:
        """Call when the job can be started by `start`: at once, or when the worker that it needs has done its imports."""
        if not self._given_up and not self._ready and self._cold_reason(launch) == "":
            if self._worker is None:
                self._begin(launch)
            if self._worker is not None:
                self._waiting.append(call)
                return
        call()

    def start(self, launch: ProcessSpec) -> Child:
        """Start a job's process.

        Raises:
            OSError, ValueError: the system refused.
        """
        if self._worker is not None and self._ready:
            reason = self._cold_reason(launch)
            if reason:
                self._say(reason)
            else:
                # Claimed for each job: another user of this process may have restored the attribute since the last.
                self._claim()
                try:
                    return self._worker.fork(launch)
                except WarmWorkerError as error:
                    if error.lasting:
                        self._give_up(f"the warm worker cannot be used any more: {error}")
                    else:
                        self._say(f"the warm worker did not start it: {error}")
        elif not self._given_up:
            self._say(self._cold_reason(launch))
        return spawn(launch.program.command, launch.folder, launch.environment, launch.cores)

    def close(self) -> None:
        """End the worker."""
        self._given_up = True
        self._waiting.clear()
        if self._worker is not None:
            self._stop(at_once=not self._ready)

    def _cold_reason(self, launch: ProcessSpec) -> str:
        reason = unsuitable(launch.program, launch.environment)
        if reason or self._first is None:
            return reason
        return unlike(self._first.environment, self._first.import_folder, launch.import_folder, launch.environment)

    def _begin(self, launch: ProcessSpec) -> None:
        try:
            self._worker = WarmWorker(self._preload, launch, python=self._python, token=self._token, allowed=allowed_cores(), log=self._log)
        except OSError as error:
            self._give_up(f"the warm worker cannot be started: {error}")
            return
        self._first = launch
        self._served(self._worker.pid)
        self._reactor.watch(self._worker.descriptor, self._on_readable)
        self._timeout = self._reactor.at(self._now() + self._import_timeout_s, self._on_timeout)

    def _on_readable(self) -> None:
        """The worker has done its imports, or has ended."""
        if self._worker is None:
            return
        reason = self._worker.outcome()
        if reason or self._ready:
            self._give_up(f"the warm worker cannot be used{' any more' if self._ready else ''}: {reason}")
        else:
            self._ready = True
        if self._timeout is not None:
            self._timeout.cancel()
        self._release()

    def _on_timeout(self) -> None:
        if not self._ready:
            self._give_up(f"the imports of {', '.join(self._preload)} were not done after {self._import_timeout_s:g} s")
            self._release()

    def _release(self) -> None:
        # Emptied first, as a call may put a job in line again.
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()

    def _give_up(self, reason: str) -> None:
        self._given_up = True
        if self._worker is not None:
            self._stop(at_once=True)
        self._say(reason)

    def _stop(self, at_once: bool) -> None:
        worker, self._worker = self._worker, None
        self._ready = False
        if worker is not None:
            # Unwatched before the descriptor is closed with the worker.
            self._reactor.unwatch(worker.descriptor)
            if at_once:
                worker.kill()
            worker.close()

    def _say(self, reason: str) -> None:
        if reason and reason not in self._said:
            self._said.add(reason)
            logger.warning("preload: %s; what this concerns starts cold (%s imported anew)", reason, ", ".join(self._preload))
