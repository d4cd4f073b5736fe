"""Calls of an endpoint: the request of each target and payload, its answer judged, its end told with the time at which it came."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .answers import LATE, UNANSWERED, AnswerCheck
from .connections import ConnectionPool, Exchange
from .endpoint import CalledEndpoint
from .http_answer import HttpAnswer
from .payloads import RequestPayload, declared
from .signing import KeySigner, Signer, sha256_of

TARGET_HEADER = "X-Amzn-SageMaker-Target-Model"
COLD_HEADER, LOAD_HEADER = "x-outrider-cold", "x-outrider-load-ms"


@dataclass(frozen=True)
class CallEnd:
    """How a call ended.

    Args:
        kind: of error; empty for a right answer.
        at_s: monotonic seconds.
        is_cold: whether the model had to be loaded for it, None where the endpoint does not say; `load_s`: for how long.
        text: of an answer that is an error, its beginning; for people.
    """

    kind: str
    at_s: float
    is_cold: bool | None = None
    load_s: float = 0.0
    text: str = field(default="", compare=False)


class PreparedRequests:
    """The bytes of every request, and the check of its answer.

    Args:
        endpoint: that is called.
        payloads: of each model, by its name; every model has as many.
        rows: of a request.
        signer: makes the headers that show who asks.
    """

    def __init__(self, endpoint: CalledEndpoint, payloads: Mapping[str, Sequence[RequestPayload]], rows: int, signer: Signer) -> None:
        self._endpoint, self._payloads, self._signer = endpoint, payloads, signer
        self._hashes = {name: [sha256_of(one.body) for one in held] for name, held in payloads.items()}
        self._checks = {
            name: [AnswerCheck(declared(endpoint.models[name], rows), one.expected) for one in held] for name, held in payloads.items()
        }
        self._heads: dict[tuple[int, int], bytes] | None = {} if isinstance(signer, KeySigner) else None
        self.count = len(next(iter(payloads.values())))

    def request(self, target: int, payload: int) -> bytes:
        """Return head and body for one target, by its number, and one payload of its model."""
        body = self._payloads[self._endpoint.targets[target].model][payload].body
        head = self._heads.get((target, payload)) if self._heads is not None else None
        if head is None:
            head = self._head(target, payload)
            if self._heads is not None:
                self._heads[target, payload] = head
        return head + body

    def check(self, target: int, payload: int) -> AnswerCheck:
        """Return what judges the answers to it."""
        return self._checks[self._endpoint.targets[target].model][payload]

    def _head(self, target: int, payload: int) -> bytes:
        endpoint, aimed, parts = self._endpoint, self._endpoint.targets[target], self._endpoint.parts
        sent = self._payloads[aimed.model][payload]
        headers = {"Content-Type": sent.content_type, "Accept": "*/*"}
        if aimed.name is not None:
            headers[TARGET_HEADER] = aimed.name
        signed = self._signer.headers(endpoint.url, headers, self._hashes[aimed.model][payload])
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [f"POST {path} HTTP/1.1", f"Host: {parts.netloc.rpartition('@')[2]}", f"Content-Length: {len(sent.body)}"]
        lines += [f"{name}: {value}" for name, value in signed.items() if name.lower() not in ("host", "content-length")]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@dataclass
class AnsweredCalls:
    """All calls that were answered, rightly or not: how many, and their seconds from sending to the last byte together."""

    calls: int = 0
    seconds: float = 0.0


class _Call:
    __slots__ = ("begun_s", "check", "end", "exchange")

    def __init__(self, begun_s: float, check: AnswerCheck, end: Callable[[CallEnd], None]) -> None:
        self.begun_s, self.check, self.end = begun_s, check, end
        self.exchange: Exchange | None = None


class Caller:
    """Calls one endpoint, any number of times at once.

    Args:
        requests: what is sent.
        pool: of connections.
        timeout_s: a call that takes longer, from its sending, is ended as `late`.
        clock: monotonic seconds.
    """

    def __init__(
        self, requests: PreparedRequests, pool: ConnectionPool, timeout_s: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._requests, self._pool, self._timeout_s, self._clock = requests, pool, timeout_s, clock
        self._under_way: dict[_Call, None] = {}  # in order of their beginning
        self.answered = AnsweredCalls()

    @property
    def in_flight(self) -> int:
        """Calls that have not ended."""
        return len(self._under_way)

    @property
    def has_room(self) -> bool:
        """Whether a call can be sent now."""
        return self._pool.has_room

    @property
    def sockets(self) -> tuple[int, int]:
        """The most connections that there were at once, and how many there may be."""
        return self._pool.peak, self._pool.limit

    @property
    def payloads(self) -> int:
        """How many different payloads each model has."""
        return self._requests.count

    def call(self, target: int, payload: int, end: Callable[[CallEnd], None]) -> None:
        """Send one request; `end` is called once, when it has ended."""
        call = _Call(self._clock(), self._requests.check(target, payload), end)
        self._under_way[call] = None
        call.exchange = self._pool.send(self._requests.request(target, payload), lambda answer, kind: self._ended(call, answer, kind))

    def sweep(self) -> None:
        """End the calls that have been under way for too long."""
        limit = self._clock() - self._timeout_s
        late = []
        for call in self._under_way:
            if call.begun_s > limit:
                break
            late.append(call)
        for call in late:
            self._give_up(call, LATE)

    def give_up(self) -> None:
        """End all calls that are under way."""
        for call in list(self._under_way):
            self._give_up(call, UNANSWERED)

    def _give_up(self, call: _Call, kind: str) -> None:
        if call.exchange is not None:
            call.exchange.give_up()
        self._under_way.pop(call, None)
        call.end(CallEnd(kind, self._clock()))

    def _ended(self, call: _Call, answer: HttpAnswer | None, kind: str) -> None:
        at_s = self._clock()
        self._under_way.pop(call, None)
        if answer is None:
            call.end(CallEnd(kind, at_s))
            return
        self.answered.calls += 1
        self.answered.seconds += at_s - call.begun_s
        wrong = call.check.problem(answer)
        headers = answer.headers
        is_cold = None if COLD_HEADER not in headers else headers[COLD_HEADER] == "1"
        load_s = _seconds(headers.get(LOAD_HEADER)) if is_cold else 0.0
        call.end(CallEnd(wrong, at_s, is_cold, load_s, answer.body[:300].decode("utf-8", "replace") if wrong else ""))


def _seconds(milliseconds: str | None) -> float:
    try:
        return max(0.0, float(milliseconds or 0) / 1000)
    except ValueError:
        return 0.0
