"""One process' client: its connections, what it sends, and the loads that it runs one after the other."""

from __future__ import annotations

import gc
import math
import resource
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from .arrivals import schedule
from .calls import AnsweredCalls, Caller, PreparedRequests
from .client_check import ClientLoad
from .connections import ConnectionPool
from .endpoint import CalledEndpoint
from .http_answer import MOST_BODY_BYTES
from .open_loop import DueRequest, OpenLoop, OpenPlan
from .options import LoadOptions
from .payloads import make_payloads
from .popularity import drawn
from .signing import Signer, signer_for
from .tally import LoadTally
from .users import StageDone, UserRamp, UserStage

_PORTS = {"http": 80, "https": 443}

Look = Callable[[float, LoadTally], bool]
"""Is told the time (monotonic seconds) and what is counted so far; returns whether it is enough."""


@dataclass(frozen=True)
class LoadResult:
    """What a load came to: its counts, what it took of its client, and monotonic seconds from its beginning to its last answer."""

    tally: LoadTally
    client: ClientLoad
    seconds: float


class LoadClient(Protocol):
    """Runs loads, in this process or in several."""

    async def open_load(self, rate: float, plan: OpenPlan, look: Look) -> LoadResult:
        """Run an open loop.

        Args:
            rate: requests a second of all processes together.
            plan: when it begins and ends.
            look: is asked at each tick whether it is enough.
        """
        ...

    async def users(self, stages: Sequence[UserStage], begin_s: float, done: StageDone, ends_s: float = math.inf) -> ClientLoad:
        """Run a ramp of users.

        Args:
            stages: (n,) of all processes together.
            begin_s: monotonic seconds.
            done: told of each stage, in order, once its requests have ended.
            ends_s: monotonic seconds after which no answer is waited for.
        """
        ...

    @property
    def answered(self) -> AnsweredCalls:
        """All calls that were answered so far, those that no figure of a load counts among them."""
        ...

    async def close(self) -> None:
        """Let go of connections and processes."""
        ...


class ClientSession:
    """A client of an endpoint; made within a running loop.

    Args:
        endpoint: that is called.
        options: of the load.
        share: number of this process of how many, from 0: it sends every n-th request of the schedule.
        signer: makes the headers that show who asks; None for the one that the endpoint asks for.
    """

    def __init__(
        self, endpoint: CalledEndpoint, options: LoadOptions, share: tuple[int, int] = (0, 1), signer: Signer | None = None
    ) -> None:
        self.endpoint, self.options, self._share = endpoint, options, share
        payloads = {
            name: make_payloads(endpoint.models[name], options.payload, options.payloads, options.batch, options.seed)
            for name in {one.model for one in endpoint.targets}
        }
        parts = endpoint.parts
        context = ssl.create_default_context() if parts.scheme == "https" else None
        limit = min(max(1, options.connections // share[1]), open_files() - 50)
        self._pool = ConnectionPool(parts.hostname or "", parts.port or _PORTS[parts.scheme], context, limit, MOST_BODY_BYTES)
        made = PreparedRequests(endpoint, payloads, options.batch, signer or signer_for(endpoint.region, endpoint.key))
        self.caller = Caller(made, self._pool, options.timeout_s)

    def due(self, rate: float) -> Iterator[DueRequest]:
        """Yield this process' requests at a rate, in order of time; all processes' together are the same whatever their number."""
        options, (number, of) = self.options, self._share
        times = schedule(options.arrivals, rate, options.seed, options.trace)
        targets = drawn(len(self.endpoint.targets), options.popularity, options.seed)
        payloads = drawn(self.caller.payloads, 0.0, options.seed + 1)
        whole = (DueRequest(at_s, target, payload) for at_s, target, payload in zip(times, targets, payloads, strict=False))
        return islice(whole, number, None, of)

    async def open_load(self, rate: float, plan: OpenPlan, look: Look) -> LoadResult:
        """Run this process' share of an open loop; see `LoadClient`."""
        tally = self._tally()
        self._pool.peak = self._pool.count
        began_cpu_s = time.process_time()
        with _no_pauses():
            loop = OpenLoop(self.caller, plan, self.due(rate), tally, lambda now, _in_flight: look(now, tally))
            await loop.run()
        return LoadResult(tally, self.taken(plan.begin_s, began_cpu_s), max(0.0, loop.last_s - plan.counted_from_s))

    async def users(self, stages: Sequence[UserStage], begin_s: float, done: StageDone, ends_s: float = math.inf) -> ClientLoad:
        """Run this process' share of a ramp of users; see `LoadClient`."""
        options, began_cpu_s = self.options, time.process_time()
        self._pool.peak = self._pool.count
        ramp = UserRamp(
            self.caller,
            len(self.endpoint.targets),
            options.popularity,
            options.seed,
            self._share,
            self._tally,
            sockets=lambda: self.caller.sockets[0],
        )
        with _no_pauses():
            await ramp.run(stages, begin_s, done, ends_s)
        return self.taken(begin_s, began_cpu_s)

    @property
    def answered(self) -> AnsweredCalls:
        """All calls of this process that were answered; see `LoadClient`."""
        return self.caller.answered

    def _tally(self) -> LoadTally:
        return LoadTally(self.options.slo_s, self.options.timeout_s, self.options.judged != "warm")

    def taken(self, begin_s: float, began_cpu_s: float) -> ClientLoad:
        """Return what this process took since a beginning on both clocks."""
        wall_s = max(time.monotonic() - begin_s, 1e-9)
        sockets, limit = self.caller.sockets
        return ClientLoad((time.process_time() - began_cpu_s) / wall_s, sockets, limit)

    async def close(self) -> None:
        """Close its connections."""
        self._pool.close()


def soon(seconds: float = 0.05) -> float:
    """Return an instant at which a load can begin: monotonic seconds, so far from now that all are ready."""
    return time.monotonic() + seconds


def open_files() -> int:
    """Return how many files this process may have open, after raising the limit as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if hard != resource.RLIM_INFINITY else max(soft, 65_536)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (ValueError, OSError):
        return soft
    return wanted


@contextmanager
def _no_pauses() -> Iterator[None]:
    """Collect no garbage meanwhile: a collection stands in the way of requests that are due."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
