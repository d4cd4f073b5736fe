"""The open loop: requests are sent when they are due, whatever became of those before, and each counts from the instant it was due."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

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
        length_s: no request is due after it.
        block_s: length of the blocks of the schedule by which requests are counted.
        tick_s: how often it is looked what came of it.
        drain_s: how long answers are waited for after the last request; those that do not come then count as `unanswered`.
    """

    begin_s: float
    length_s: float
    block_s: float
    tick_s: float = 0.05
    drain_s: float = 10.0


class OpenLoop:
    """One run of it.

    Args:
        caller: sends.
        plan: when.
        due: the requests of this process in order of time.
        tally: counts.
        look: is told at each tick how many requests are in flight; returns whether it is enough.
    """

    def __init__(self, caller: Caller, plan: OpenPlan, due: Iterator[DueRequest], tally: LoadTally, look: Callable[[int], bool]) -> None:
        self._caller, self._plan, self._due, self._tally, self._look = caller, plan, due, tally, look
        self._next: DueRequest | None = None
        self._is_over = False
        self._last_s = 0.0
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
                if not self._is_over and self._look(self._caller.in_flight):
                    self._stop()
                if self._is_over and time.monotonic() > self._last_s + plan.drain_s:
                    break
        finally:
            self._timer.close()
            self._caller.give_up()

    def _stop(self) -> None:
        self._is_over = True
        self._last_s = time.monotonic()
        self._next = None

    def _advance(self) -> None:
        self._next = next(self._due, None)
        if self._next is None or self._next.at_s >= self._plan.length_s:
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
        intended_s, block = plan.begin_s + request.at_s, int(request.at_s / plan.block_s)
        tally.sends(block, now - intended_s)

        def end(how: CallEnd) -> None:
            second = int(how.at_s - plan.begin_s)
            if how.kind:
                tally.fails(block, second, how.kind, how.at_s - intended_s, how.text)
            else:
                if how.is_cold:
                    tally.load.add(how.load_s)
                tally.answers(block, second, how.at_s - intended_s, how.at_s - now, how.is_cold)

        self._caller.call(request.target, request.payload, end)
