"""The open loop: requests are sent when they are due, whatever became of those before, and each counts from the instant it was due."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .answers import UNANSWERED
from .calls import CallEnd, Caller
from .tally import LoadTally
from .timer import PreciseTimer

_MOST_AT_ONCE = 200
"""Requests that are sent before answers are read again, where many are due."""


@dataclass(frozen=True)
class DueRequest:
    """A request: seconds after the beginning, number of its target, and of its payload."""

    at_s: float
    target: int
    payload: int


@dataclass(frozen=True)
class OpenPlan:
    """An open loop, or one process' share of it.

    Args:
        begin_s: monotonic seconds at which it begins, the same for all processes.
        ramp_s: requests due before it are sent and not counted, as a queue that begins empty is shorter than it will be.
        length_s: of what is counted.
        block_s: length of the blocks by which requests are counted.
        tick_s: how often it is looked what came of it.
        drain_s: how long answers are waited for after the last request; those that do not come then count as `unanswered`.
        until_s: monotonic seconds after which nothing is sent; what could not be sent by then, being over the limit already, counts
            as `unanswered` too. `ends_s`: after which no answer is waited for.
    """

    begin_s: float
    length_s: float
    block_s: float
    ramp_s: float = 0.0
    tick_s: float = 0.05
    drain_s: float = 10.0
    until_s: float = math.inf
    ends_s: float = math.inf

    @property
    def counted_from_s(self) -> float:
        """Monotonic seconds from which requests are counted."""
        return self.begin_s + self.ramp_s


class _Sent:
    __slots__ = ("block", "intended_s", "is_over", "is_settled")

    def __init__(self, intended_s: float, block: int) -> None:
        self.intended_s, self.block = intended_s, block
        self.is_over = self.is_settled = False


class OpenLoop:
    """One run of it.

    Args:
        caller: sends.
        plan: when.
        due: the requests of this process in order of time.
        tally: counts.
        look: is told at each tick the monotonic time and how many requests are in flight; returns whether it is enough.
    """

    def __init__(
        self, caller: Caller, plan: OpenPlan, due: Iterator[DueRequest], tally: LoadTally, look: Callable[[float, int], bool]
    ) -> None:
        self._caller, self._plan, self._due, self._tally, self._look = caller, plan, due, tally, look
        self._next: DueRequest | None = None
        self._is_over = False
        self.last_s = 0.0  # when the last request was sent, or it was enough
        self._unsettled: deque[_Sent] = deque()
        self._timer = PreciseTimer(asyncio.get_running_loop(), self._send_due)

    async def run(self) -> None:
        """Send all, wait for the answers, and give up those that do not come."""
        plan = self._plan
        self._advance()
        try:
            if self._next is not None:
                self._timer.set(plan.begin_s + self._next.at_s)
            while not self._is_over or self._caller.in_flight:
                await asyncio.sleep(plan.tick_s)
                self._caller.sweep()
                now = time.monotonic()
                self._settle(now)
                if not self._is_over and now >= plan.until_s:
                    self._miss(now)
                    self._stop()
                if not self._is_over and self._look(now, self._caller.in_flight):
                    self._stop()
                if self._is_over and now > min(self.last_s + plan.drain_s, plan.ends_s):
                    break
        finally:
            self._timer.close()
            self._caller.give_up()

    def _stop(self) -> None:
        self._is_over = True
        self.last_s = time.monotonic()
        self._next = None

    def _advance(self) -> None:
        self._next = next(self._due, None)
        if self._next is None or self._next.at_s >= self._plan.ramp_s + self._plan.length_s:
            self._stop()

    def _send_due(self) -> None:
        now, begin_s = time.monotonic(), self._plan.begin_s
        sent = 0
        while self._next is not None and begin_s + self._next.at_s <= now:
            if sent >= _MOST_AT_ONCE or not self._caller.has_room:
                # Answers are read before more is sent; meanwhile those that are due grow late, which shows as lag.
                self._timer.set(now + 0.001)
                return
            self._send(self._next, now)
            sent += 1
            self._advance()
        if self._next is not None:
            self._timer.set(begin_s + self._next.at_s)

    def _send(self, request: DueRequest, now: float) -> None:
        plan, tally = self._plan, self._tally
        intended_s = plan.begin_s + request.at_s
        if request.at_s < plan.ramp_s:
            self._caller.call(request.target, request.payload, lambda how: None)
            return
        sent = _Sent(intended_s, int((request.at_s - plan.ramp_s) / plan.block_s))
        tally.sends(sent.block, now - intended_s)
        self._unsettled.append(sent)

        def end(how: CallEnd) -> None:
            sent.is_over = True
            second, latency_s = int(how.at_s - plan.counted_from_s), how.at_s - intended_s
            if how.kind:
                tally.fails(sent.block, second, how.kind, latency_s, how.text, is_settled=sent.is_settled)
                return
            if how.is_cold:
                tally.load.add(how.load_s)
            tally.answers(sent.block, second, latency_s, how.at_s - now, is_cold=how.is_cold, is_settled=sent.is_settled)

        self._caller.call(request.target, request.payload, end)

    def _miss(self, now: float) -> None:
        """Count requests that are due, were not sent, and are over the limit: whoever asked them has no answer."""
        plan, tally = self._plan, self._tally
        while self._next is not None and plan.begin_s + self._next.at_s < now - tally.limit_s:
            counted_s, age_s = self._next.at_s - plan.ramp_s, now - plan.begin_s - self._next.at_s
            if counted_s >= 0:
                block = int(counted_s / plan.block_s)
                tally.sends(block, age_s)
                tally.fails(block, int(now - plan.counted_from_s), UNANSWERED, age_s)
            self._advance()

    def _settle(self, now: float) -> None:
        """Count requests that are unanswered beyond the limit as over it, so that no block waits for the slowest of its answers."""
        limit_s, waiting = now - self._tally.limit_s, self._unsettled
        while waiting and (waiting[0].is_over or waiting[0].intended_s < limit_s):
            sent = waiting.popleft()
            if not sent.is_over:
                sent.is_settled = True
                self._tally.ages(sent.block)
