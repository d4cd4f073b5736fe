"""A client of one HTTP/1.1 server on the loopback: connections are kept, one request at a time on each, nothing is repeated."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, cast

from backends.serving.wire.messages import BadMessageError, Message, MessageReader

_ANSWER_BYTES = 1 << 31


class NoAnswerError(Exception):
    """The server could not be reached, or its answer was cut off or none of HTTP."""


class LoopbackClient:
    """Asks one server.

    Args:
        host: of the server.
        port: of the server.
    """

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._port, self._host = port, host
        self._idle: list[_Exchange] = []
        self._is_closed = False

    async def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None, timeout_s: float | None = None
    ) -> Message:
        """Return the answer.

        Raises:
            NoAnswerError: there is none, or not within `timeout_s` seconds; its connection is then closed.
        """
        exchange = self._take()
        if exchange is None:
            try:
                _, exchange = await asyncio.get_running_loop().create_connection(_Exchange, self._host, self._port)
            except OSError as error:
                raise NoAnswerError(f"{method} {path}: {error}") from error
        # Length and host always, as some servers answer nothing without them.
        lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
        answer = exchange.send(head.encode("latin-1") + body)
        try:
            found = await (answer if timeout_s is None else asyncio.wait_for(answer, timeout_s))
        except TimeoutError as error:
            exchange.close()
            raise NoAnswerError(f"{method} {path}: no answer within {timeout_s:g} s") from error
        except BaseException:
            exchange.close()
            raise
        if found.keeps_open and exchange.is_open and not self._is_closed:
            self._idle.append(exchange)
        else:
            exchange.close()
        return found

    async def ask_json(self, method: str, path: str, value: Any = None, timeout_s: float | None = None) -> tuple[int, Any]:
        """Return status and body of a request and an answer in JSON; an answer in anything else comes back as text."""
        body = b"" if value is None else json.dumps(value).encode()
        answer = await self.ask(method, path, body, {"Content-Type": "application/json"}, timeout_s)
        try:
            return status_of(answer), json.loads(answer.body) if answer.body else None
        except ValueError:
            return status_of(answer), answer.body.decode("utf-8", "replace")

    def close(self) -> None:
        """Close all connections that are kept."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()

    def _take(self) -> _Exchange | None:
        while self._idle:
            exchange = self._idle.pop()
            if exchange.is_open:
                return exchange
        return None


def status_of(answer: Message) -> int:
    """Return the status of an answer.

    Raises:
        NoAnswerError: its first line has none.
    """
    words = answer.first.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdecimal():
        raise NoAnswerError(f"no answer of HTTP: {answer.first[:80]!r}")
    return int(words[1])


class _Exchange(asyncio.Protocol):
    """A connection, with at most one answer that is waited for."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._reader = MessageReader(_ANSWER_BYTES, answers=True)
        self._answer: asyncio.Future[Message] | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def send(self, data: bytes) -> asyncio.Future[Message]:
        self._answer = asyncio.get_running_loop().create_future()
        if self._transport is None:
            self._answer.set_exception(NoAnswerError("the connection is closed"))
        else:
            self._transport.write(data)
        return self._answer

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._reader.feed(data):
                if message.first[9:12] != "100":
                    self._settle(message)
        except BadMessageError as error:
            self._fail(f"an answer that cannot be read: {error}")
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        try:
            message = self._reader.end()
        except BadMessageError as error:
            self._fail(str(error))
            return
        if message is not None:
            self._settle(message)
        self._fail("the connection was closed before the answer")

    def _settle(self, message: Message) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_result(message)

    def _fail(self, why: str) -> None:
        answer, self._answer = self._answer, None
        if answer is not None and not answer.done():
            answer.set_exception(NoAnswerError(why))
