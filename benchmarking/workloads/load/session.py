"""One process' client: its connections, what it sends, and the loads that it runs one after the other."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator
from itertools import islice

from .arrivals import schedule
from .calls import Caller, PreparedRequests
from .connections import ConnectionPool
from .endpoint import CalledEndpoint
from .http_answer import MOST_BODY_BYTES
from .open_loop import DueRequest, OpenLoop, OpenPlan
from .options import LoadOptions
from .payloads import make_payloads
from .popularity import drawn
from .signing import Signer, signer_for
from .tally import LoadTally

_PORTS = {"http": 80, "https": 443}


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
        limit = max(1, options.connections // share[1])
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

    async def open_load(
        self, rate: float, begin_s: float, length_s: float, block_s: float, look: Callable[[LoadTally, int], bool]
    ) -> LoadTally:
        """Run an open loop and return its counts.

        Args:
            rate: requests a second of all processes together.
            begin_s: monotonic seconds at which it begins.
            length_s: at most.
            block_s: of the blocks by which requests are counted.
            look: is told counts and requests in flight at each tick; returns whether it is enough.
        """
        tally = LoadTally(self.options.slo_s, self.options.timeout_s)
        plan = OpenPlan(begin_s, length_s, block_s, drain_s=self.options.timeout_s)
        await OpenLoop(self.caller, plan, self.due(rate), tally, lambda in_flight: look(tally, in_flight)).run()
        return tally

    def close(self) -> None:
        """Close its connections."""
        self._pool.close()


def soon(seconds: float = 0.05) -> float:
    """Return an instant at which a load can begin: monotonic seconds, so far from now that all are ready."""
    return time.monotonic() + seconds
