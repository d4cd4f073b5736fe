"""Starts jobs' processes: forked by a warm worker where a definition asks for it and a job allows it, else anew."""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.common.child_process import Child, allowed_cores, spawn
from backends.common.reactor import Reactor, ScheduledCall
from backends.processes.environment import REPORTER_FOLDER
from backends.processes.warm.auto_preload import AUTO, AutoPreload
from backends.processes.warm.eligibility import unlike, unsuitable
from backends.processes.warm.worker import ProcessSpec, WarmWorker, WarmWorkerError

logger = logging.getLogger(__name__)

_IMPORT_TIMEOUT_S = 180.0
_ANSWER_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class StartRequest:
    """A job that is to be started, and what to call about it.

    Args:
        spec: how.
        may_start: called just before; False where the job is no longer wanted.
        started: called with its first process, and for how many seconds that has run.
        failed: called where the system refused.
        forked: called just before `started` where the warm worker started it.
    """

    spec: ProcessSpec
    may_start: Callable[[], bool]
    started: Callable[[Child, float], None]
    failed: Callable[[Exception], None]
    forked: Callable[[], None] = lambda: None


class JobStarter:
    """Starts jobs for one back-end, with at most one warm worker. What cannot be started warm is started cold, and why is said once.

    Args:
        preload: modules that the worker imports; empty for no worker; `("auto",)` for those that the first job shows to be worth it.
        python: interpreter of the worker.
        token: what the marks of all jobs begin with.
        folder: where the worker's log goes.
        reactor: tells when the worker is ready or has ended.
        served: called with the worker's process number, so that it is not taken for a job's.
        claim: makes this process the parent of orphans.
        note: takes a sentence for whoever watches.
        import_timeout_s: most seconds that the imports may take; `answer_timeout_s`: that the start of one job may take.
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
        note: Callable[[str], None],
        import_timeout_s: float = _IMPORT_TIMEOUT_S,
        answer_timeout_s: float = _ANSWER_TIMEOUT_S,
    ) -> None:
        self._auto = AutoPreload(folder / "warm_imports") if tuple(preload) == (AUTO,) else None
        self._preload = () if self._auto is not None else tuple(preload)
        self._note = note
        self._python = python
        self._token = token
        self._log = folder / "warm_worker.log"
        self._reactor = reactor
        self._now = now
        self._served = served
        self._claim = claim
        self._import_timeout_s = import_timeout_s
        self._answer_timeout_s = answer_timeout_s
        self._worker: WarmWorker | None = None
        self._first: ProcessSpec | None = None
        self._ready = False
        self._given_up = not preload
        self._said: set[str] = set()
        self._waiting: list[StartRequest] = []
        self._asked: deque[tuple[float, StartRequest]] = deque()
        self._timeout: ScheduledCall | None = None
        self._hanging: ScheduledCall | None = None
        if preload and sys.platform != "linux":
            self._give_up("a warm worker needs Linux")

    def start(self, request: StartRequest) -> None:
        """Start a job, as soon as the warm worker is ready where it needs it. Its process may be told of later, by the reactor."""
        self._learn()
        if not self._given_up and not self._ready and self._cold_reason(request.spec) == "":
            if self._worker is None:
                self._begin(request.spec)
            if self._worker is not None:
                self._waiting.append(request)
                return
        self._start_now(request)

    def _start_now(self, request: StartRequest) -> None:
        if not request.may_start():
            return
        if self._given_up or self._worker is None or not self._ready:
            if not self._given_up:
                self._say(self._cold_reason(request.spec))
            self._start_cold(request)
            return
        reason = self._cold_reason(request.spec)
        if reason:
            self._say(reason)
            self._start_cold(request)
            return
        # Claimed for each job: another user of this process may have restored the attribute since the last.
        self._claim()
        try:
            self._worker.ask(request.spec, self._auto.file_for(request.spec.mark) if self._auto is not None else "")
        except WarmWorkerError as error:
            self._asked.append((self._now(), request))
            self._give_up(f"the warm worker cannot be used any more: {error}")
        except OSError as error:
            request.failed(error)
        else:
            # Not waited for: a fork takes milliseconds, in which other jobs report and end.
            self._asked.append((self._now(), request))
            if len(self._asked) == 1:
                self._watch_for_hanging()

    def _start_cold(self, request: StartRequest) -> None:
        spec = request.spec
        try:
            child = spawn(spec.program.command, spec.folder, spec.environment, spec.cores)
        except (OSError, ValueError) as error:
            request.failed(error)
        else:
            request.started(child, 0.0)

    def ended(self, mark: str) -> None:
        """Hear that a job's first process has ended."""
        self._learn(mark)

    def close(self) -> None:
        """End the worker."""
        self._given_up = True
        self._waiting.clear()
        for timer in (self._timeout, self._hanging):
            if timer is not None:
                timer.cancel()
        if self._worker is not None:
            self._stop(at_once=not self._ready or bool(self._asked))

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
        """The worker has done its imports, has started a job, or has ended."""
        if self._worker is None:
            return
        if self._ready:
            self._on_answer(self._worker)
            return
        if self._timeout is not None:
            self._timeout.cancel()
        reason, module = self._worker.outcome()
        if reason and self._try_without(module, reason):
            return
        if reason:
            self._give_up(f"the warm worker cannot be used: {reason}")
        else:
            self._ready = True
            self._say_what_was_learnt()
        self._release()

    def _on_answer(self, worker: WarmWorker) -> None:
        try:
            child, age_s = worker.answer()
        except WarmWorkerError as error:
            if error.lasting:
                self._give_up(f"the warm worker cannot be used any more: {error}")
                return
            # This job alone could not be forked; it is started cold, and the next is tried again.
            self._say(f"the warm worker did not start it: {error}")
            _, request = self._asked.popleft()
            self._watch_for_hanging()
            if request.may_start():
                self._start_cold(request)
            return
        _, request = self._asked.popleft()
        self._watch_for_hanging()
        # The first worker of those that learn what is worth importing has imported nothing.
        if self._preload:
            request.forked()
        request.started(child, age_s)

    def _on_timeout(self) -> None:
        if self._ready:
            return
        reason = f"the imports of {', '.join(self._preload)} were not done after {self._import_timeout_s:g} s"
        if not self._try_without("", reason):
            self._give_up(reason)
            self._release()

    def _learn(self, ended: str = "") -> None:
        """Once the first job has done its imports, let the worker go: the next job starts one that has done them too."""
        if self._given_up or self._auto is None or self._first is None or not self._auto.has_learnt(ended):
            return
        # Those that it was asked for are waited for; a later start or end comes by here again.
        if self._asked or not self._ready:
            return
        first = self._first
        self._preload = tuple(self._auto.modules([first.import_folder, first.source_dir, str(first.folder.parent), str(REPORTER_FOLDER)]))
        if self._preload:
            self._stop(at_once=False)
        else:
            self._say_what_was_learnt()

    def _try_without(self, module: str, reason: str) -> bool:
        """Where the modules are our choice, start a worker without the one that cannot be forked; return whether one was."""
        if self._auto is None or self._auto.is_learning or not self._preload or self._first is None:
            return False
        self._auto.drop(module, reason)
        self._preload = tuple(self._auto.modules())
        self._stop(at_once=True)
        self._begin(self._first)
        return self._worker is not None

    def _say_what_was_learnt(self) -> None:
        if self._auto is not None and not self._auto.is_learning:
            self._note(self._auto.line())

    def _watch_for_hanging(self) -> None:
        """Have the oldest request looked at when it should have been answered."""
        if self._hanging is not None:
            self._hanging.cancel()
        if self._asked:
            self._hanging = self._reactor.at(self._asked[0][0] + self._answer_timeout_s, self._on_hanging)

    def _on_hanging(self) -> None:
        if self._asked and self._asked[0][0] + self._answer_timeout_s <= self._now():
            self._give_up("the warm worker cannot be used any more: it does not answer")
        self._watch_for_hanging()

    def _release(self) -> None:
        # Emptied first, as a call may put a job in line again.
        waiting, self._waiting = self._waiting, []
        for request in waiting:
            self._start_now(request)

    def _give_up(self, reason: str) -> None:
        self._given_up = True
        asked, self._asked = self._asked, deque()
        if self._worker is not None:
            self._stop(at_once=True)
        self._say(reason)
        # What it was asked for and has not told of was ended with it, so that none of them runs twice.
        for _, request in asked:
            if request.may_start():
                self._start_cold(request)

    def _stop(self, at_once: bool) -> None:
        worker, self._worker = self._worker, None
        self._ready = False
        if worker is not None:
            # Unwatched before the descriptor is closed with the worker.
            self._reactor.unwatch(worker.descriptor)
            if at_once:
                worker.abandon()
            worker.close()

    def _say(self, reason: str) -> None:
        if reason and reason not in self._said:
            self._said.add(reason)
            anew = f" ({', '.join(self._preload)} imported anew)" if self._preload else ""
            logger.warning("preload: %s; what this concerns starts cold%s", reason, anew)
