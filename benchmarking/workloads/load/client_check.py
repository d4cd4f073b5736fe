"""Whether the client itself was the limit: a verdict on a server may rest on nothing that its client was too slow, or too poor, to see."""

from __future__ import annotations

from dataclasses import dataclass

from .answers import DENIED
from .calls import CallEnd
from .tally import LoadTally

CLIENT_BOUND = "client-bound"
_LAG_SHARE = 0.1
_BUSY = 0.95


@dataclass(frozen=True)
class ClientLoad:
    """What a load took of its client.

    Args:
        cpu_share: of one core, of the busiest process.
        sockets: connections at once, at most; `socket_limit`: how many it may have, 0 where that is not known.
    """

    cpu_share: float = 0.0
    sockets: int = 0
    socket_limit: int = 0


def client_problem(tally: LoadTally, client: ClientLoad, rate: float) -> str:
    """Return in a sentence why the client was the limit; empty where it was not.

    Requests are sent late where the client lags: at the 99th percentile by more than a tenth of the limit of latency. A server that answers
    nothing takes all sockets and is no limit of the client, unless there are fewer than a load within the limit needs.

    Args:
        tally: of the load.
        client: what it took.
        rate: that was asked for.
    """
    lag_s = tally.lag.quantile_s(0.99)
    if tally.errors.get("no_sockets"):
        return f"the system gave no socket for {tally.errors['no_sockets']} requests; raise the limit of open files, or ask a lower rate"
    if lag_s is None or lag_s <= _LAG_SHARE * tally.limit_s:
        return ""
    said = f"requests were sent late, by {1000 * lag_s:.1f} ms at the 99th percentile of {1000 * tally.limit_s:g} ms that they may take"
    if client.socket_limit and client.sockets >= client.socket_limit:
        if rate * tally.limit_s < client.socket_limit:
            return ""  # more stood in the server than a load within the limit would have
        return f"{said}: all {client.socket_limit} connections were in use; raise --connections"
    if client.cpu_share >= _BUSY:
        return f"{said}: the client's core is busy to {100 * client.cpu_share:.0f} %; use more --client_processes"
    return f"{said}; something else uses the client's core"


def check_all_allowed(tally: LoadTally, what: str) -> None:
    """Raise `SystemExit` where requests were denied: who asked was not let in, or not any more, of which no figure of an endpoint is made.

    Args:
        tally: of the load.
        what: it was, e.g. `at 100/s`.
    """
    if tally.errors[DENIED]:
        raise SystemExit(f"{what} {tally.errors[DENIED]} requests were denied: {tally.texts.get(DENIED, '')}")


def check_allowed(how: CallEnd, what: str) -> None:
    """Raise `SystemExit` where one call was denied; see `check_all_allowed`."""
    if how.kind == DENIED:
        raise SystemExit(f"a call {what} was denied: {how.text}")
