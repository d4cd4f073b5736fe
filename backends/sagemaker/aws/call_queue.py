"""Makes AWS calls on threads, paced and repeated where what failed passes by itself; answers are handled in the caller's thread.

While the back-end runs, this is its only way to call AWS. It repeats calls itself, as botocore's retries
would keep a thread asleep for each of them and know nothing of the pace that all calls share.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from backends.sagemaker.aws.errors import TRANSIENT, CallFailure, FailureKind, failure_of
from backends.sagemaker.aws.rate_limiter import RateLimiter

_CREDENTIALS_PAUSE_S = 15.0
_LONGEST_PAUSE_S = 60.0
_SAID_AFTER = 3
_SAID_AGAIN_S = 60.0


@dataclass(eq=False)
class Call:
    """One call.

    Args:
        operation: its name, by which it is paced.
        make: makes it, on a thread.
        done: takes its answer, in the thread of `CallQueue.step`.
        failed: takes a failure that does not pass by itself.
        wanted: says whether it is still to be made; asked right before.
        n_failures: how often it met one that passes.
        not_before: when it may be made again.
        sent_at, answered_at: the last time it was made, and when that was answered.
        in_flight: whether it is on its way.
        was_unanswered: whether an earlier try may have had its effect, as its answer never came.
    """

    operation: str
    make: Callable[[], Any]
    done: Callable[[Any], None]
    failed: Callable[[CallFailure], None]
    wanted: Callable[[], bool] = lambda: True
    n_failures: int = 0
    not_before: float = -math.inf
    sent_at: float = field(default=0.0)
    answered_at: float = field(default=0.0)
    in_flight: bool = False
    was_unanswered: bool = False

    @property
    def may_have_taken_effect(self) -> bool:
        """Whether it may have had its effect without an answer that says so."""
        return self.in_flight or self.was_unanswered


class CallQueue:
    """Calls that wait, and calls that are on their way.

    Args:
        now: seconds of the back-end's clock.
        limiter: paces them.
        rng: of the jitter.
        notify: takes what a person should know.
        renew: has credentials looked up anew.
        threads: calls at once.
        real_s: real seconds per second of the clock.
        answered: called from a thread whenever an answer is there for `step`, for who waits for something else beside.
    """

    def __init__(
        self,
        now: Callable[[], float],
        limiter: RateLimiter,
        rng: random.Random,
        notify: Callable[[str], None],
        renew: Callable[[], None] = lambda: None,
        threads: int = 8,
        real_s: float = 1.0,
        answered: Callable[[], None] = lambda: None,
    ) -> None:
        self._answered = answered
        self._now, self._limiter, self._rng, self._notify, self._renew, self._real_s = now, limiter, rng, notify, renew, real_s
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="outrider-aws")
        self._waiting: dict[str, deque[Call]] = {}
        self._later: list[Call] = []
        self._n_in_flight = 0
        self._answers: SimpleQueue[tuple[Call, Any, Exception | None] | None] = SimpleQueue()
        self._paused_until = -math.inf
        self._said_at: dict[str, float] = {}

    @property
    def busy(self) -> bool:
        """Whether any call waits or is on its way."""
        return bool(self._n_in_flight or self._later or any(self._waiting.values()))

    @property
    def n_in_flight(self) -> int:
        """How many calls are on their way."""
        return self._n_in_flight

    def put(self, call: Call) -> None:
        """Have a call made as soon as its operation's pace allows."""
        self._waiting.setdefault(call.operation, deque()).append(call)

    def next_at(self) -> float:
        """Return when the next waiting call can be made; infinity where none waits."""
        now = self._now()
        if self._n_in_flight >= self._threads:
            return math.inf
        due = [self._limiter.ready_at(operation, now) for operation, waiting in self._waiting.items() if waiting]
        due += [call.not_before for call in self._later]
        return max(min(due, default=math.inf), self._paused_until)

    def step(self, until: float) -> bool:
        """Make calls that are due, wait for an answer or until a time, and handle all answers that are there.

        Returns:
            Whether `wake` ended the wait.
        """
        self._start()
        moment = min(until, self.next_at())
        first = True
        woken = False
        while True:
            wait_s = (moment - self._now()) * self._real_s if first else 0.0
            first = False
            try:
                answer = self._answers.get(timeout=None if wait_s == math.inf else min(max(0.0, wait_s), 3600.0))
            except Empty:
                break
            if answer is None:
                woken = True
            else:
                self._handle(*answer)
        self._start()
        return woken

    def wake(self) -> None:
        """End the current or the next wait; safe in signal handlers."""
        self._answers.put(None)

    def close(self) -> None:
        """Make no further call; calls on their way go on and nobody hears of them."""
        self._waiting.clear()
        self._later.clear()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _start(self) -> None:
        now = self._now()
        if now < self._paused_until:
            return
        if self._later:
            due = [call for call in self._later if call.not_before <= now]
            self._later = [call for call in self._later if call.not_before > now]
            for call in due:
                self._waiting.setdefault(call.operation, deque()).appendleft(call)
        for operation, waiting in self._waiting.items():
            while waiting and self._n_in_flight < self._threads and self._limiter.ready_at(operation, now) <= now:
                if not waiting[0].wanted():
                    waiting.popleft()
                elif self._limiter.take(operation, now):
                    self._send(waiting.popleft(), now)

    def _send(self, call: Call, now: float) -> None:
        call.sent_at, call.in_flight = now, True
        self._n_in_flight += 1
        answers = self._answers

        def run() -> None:
            try:
                answers.put((call, call.make(), None))
            except Exception as error:  # noqa: BLE001 (it is raised again in the thread that asked)
                answers.put((call, None, error))
            self._answered()

        self._pool.submit(run)

    def _handle(self, call: Call, answer: Any, error: Exception | None) -> None:
        self._n_in_flight -= 1
        call.in_flight = False
        now = call.answered_at = self._now()
        if error is None:
            self._limiter.succeeded(call.operation, now)
            call.done(answer)
            return
        failure = failure_of(error)
        if failure is None:
            raise error
        if failure.kind not in TRANSIENT and failure.kind is not FailureKind.CREDENTIALS:
            call.failed(failure)
            return
        call.n_failures += 1
        call.was_unanswered = call.was_unanswered or failure.kind in (FailureKind.SERVICE, FailureKind.UNREACHABLE)
        if failure.kind is FailureKind.THROTTLED:
            self._limiter.throttled(call.operation, now)
            self._say(f"waiting for the API: {call.operation} is throttled")
            self._waiting.setdefault(call.operation, deque()).appendleft(call)
        elif failure.kind is FailureKind.CREDENTIALS:
            self._paused_until = now + _CREDENTIALS_PAUSE_S
            self._say(f"the AWS credentials are not accepted ({failure.line}); renew them, and the run goes on by itself")
            self._renew()
            self._waiting.setdefault(call.operation, deque()).appendleft(call)
        else:
            pause_s = min(_LONGEST_PAUSE_S, 0.5 * 2.0 ** min(call.n_failures, 10)) * (0.5 + 0.5 * self._rng.random())
            call.not_before = now + pause_s
            self._later.append(call)
            if call.n_failures >= _SAID_AFTER:
                self._say(f"the service does not answer {call.operation}: {failure.line}")

    def _say(self, text: str) -> None:
        # Where every third call is throttled, the same sentence a hundred times would tell nobody more.
        now = self._now()
        if now - self._said_at.get(text, -math.inf) >= _SAID_AGAIN_S:
            self._said_at[text] = now
            self._notify(text)
