"""Every target is called, with every payload, before a clock runs: models are loaded then, and what an answer must hold is learnt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from .answers import MODEL_TOO_LARGE
from .calls import CallEnd, Caller

_TRY_AGAIN = ("not_ready", "no_memory", "unavailable", "late")
"""How calls end while an endpoint is still loading: called again, here and nowhere else. A load may take longer than an answer may."""
_APART_S = 0.2


@dataclass(frozen=True)
class WarmUp:
    """What warming took: `calls`, of which `repeated` were asked again; `seconds`; how many were `cold`."""

    calls: int
    repeated: int
    cold: int
    seconds: float


async def one_call(caller: Caller, target: int, payload: int) -> tuple[CallEnd, float]:
    """Return how one call ended, and for how long it took in seconds."""
    ended: asyncio.Future[CallEnd] = asyncio.get_running_loop().create_future()
    began_s = time.monotonic()
    caller.call(target, payload, lambda how: None if ended.done() else ended.set_result(how))
    while not ended.done():
        await asyncio.wait([ended], timeout=0.1)
        caller.sweep()
    how = ended.result()
    return how, how.at_s - began_s


async def warm_up(caller: Caller, targets: int, limit_s: float, name: Callable[[int], str] = str) -> WarmUp:
    """Call every target with every payload, one after the other, until each has answered rightly.

    Args:
        caller: calls.
        targets: how many there are.
        limit_s: for how long an endpoint that says that it is not ready is asked again, for each target.
        name: of a target by its number, for messages.

    Raises:
        SystemExit: a target does not answer, or not rightly.
    """
    began_s = time.monotonic()
    calls = repeated = cold = 0
    for target in range(targets):
        until_s = time.monotonic() + limit_s
        payload = 0
        while payload < caller.payloads:
            how, _ = await one_call(caller, target, payload)
            calls += 1
            cold += bool(how.is_cold)
            if not how.kind:
                payload += 1
            elif how.kind in _TRY_AGAIN and time.monotonic() < until_s:
                repeated += 1
                await asyncio.sleep(_APART_S)
            else:
                said = f"target {name(target)}: its first call ended as {how.kind}" + (f": {how.text}" if how.text else "")
                # The words of a Python program, so that who reads the log tells a lack of memory from other reasons.
                raise SystemExit(f"MemoryError: {said}" if how.kind == MODEL_TOO_LARGE else said)
    return WarmUp(calls, repeated, cold, time.monotonic() - began_s)


async def idle_latencies(caller: Caller, targets: int, count: int) -> list[tuple[CallEnd, float]]:
    """Return how `count` calls ended, one after the other, each target in turn, with the seconds that each took: latency without load."""
    return [await one_call(caller, number % targets, number // targets % caller.payloads) for number in range(count)]
