"""An HTTP/1.1 server on 127.0.0.1: one handler, which is given whole requests and returns whole replies."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

from backends.serving.wire.messages import BadMessageError, Message, MessageReader

JSON = "application/json"
_PIPELINED = 64
_BACKLOG = 1024


@dataclass(frozen=True)
class HttpReply:
    """What a request is answered with.

    Args:
        status: of HTTP.
        body: whole.
        content_type: of the body.
        headers: beside length and type.
    """

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


Handler = Callable[[str, str, Message], Awaitable[HttpReply]]
"""Answers a request: its method, its path without the query, and the request itself."""


def json_reply(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> HttpReply:
    """Return a reply with a JSON body."""
    return HttpReply(status, json.dumps(value, separators=(",", ":")).encode(), JSON, headers or {})


async def listen(handler: Handler, port: int, limit_bytes: int) -> asyncio.Server:
    """Serve on 127.0.0.1 and return the server.

    Args:
        handler: of all requests; those of one connection come one after the other.
        port: 0 for a free one.
        limit_bytes: longest body; a longer one reaches the handler as `is_too_large`, without it.

    Raises:
        OSError: the port is taken.
    """
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: _Connection(handler, limit_bytes), "127.0.0.1", port, backlog=_BACKLOG)


def port_of(server: asyncio.Server) -> int:
    """Return the port that a server listens on."""
    return int(server.sockets[0].getsockname()[1])


class _Connection(asyncio.Protocol):
    """One client. What it asks before it has read an earlier answer waits its turn."""

    def __init__(self, handler: Handler, limit_bytes: int) -> None:
        self._handler = handler
        self._reader = MessageReader(limit_bytes)
        self._waiting: deque[Message] = deque()
        self._task: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._flowing.set()
        self._waiting.clear()

    def pause_writing(self) -> None:
        self._flowing.clear()

    def resume_writing(self) -> None:
        self._flowing.set()

    def data_received(self, data: bytes) -> None:
        try:
            self._waiting.extend(self._reader.feed(data))
        except BadMessageError as error:
            self._refuse(str(error))
            return
        if self._reader.wants_go_ahead() and self._transport is not None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if len(self._waiting) > _PIPELINED:
            self._refuse("too many requests at once on one connection")
        elif self._waiting and self._task is None:
            self._task = asyncio.ensure_future(self._serve())

    def _refuse(self, why: str) -> None:
        if self._transport is not None:
            self._transport.write(_bytes_of(json_reply({"message": why}, 400), closes=True))
            self._transport.close()

    async def _serve(self) -> None:
        try:
            while self._waiting and self._transport is not None:
                message = self._waiting.popleft()
                reply = await self._answer(message)
                transport = self._transport
                if transport is None:
                    return
                transport.write(_bytes_of(reply, closes=not message.keeps_open))
                if not message.keeps_open:
                    transport.close()
                    return
                await self._flowing.wait()
        finally:
            self._task = None

    async def _answer(self, message: Message) -> HttpReply:
        words = message.first.split(" ")
        if len(words) != 3:
            return json_reply({"message": "no request line"}, 400)
        try:
            return await self._handler(words[0], words[1].split("?")[0], message)
        except Exception as error:  # noqa: BLE001 (a fault of one request must not end the connection without a word)
            return json_reply({"message": f"{type(error).__name__}: {error}"}, 500)


def _bytes_of(reply: HttpReply, *, closes: bool) -> bytes:
    with contextlib.suppress(ValueError):
        phrase = HTTPStatus(reply.status).phrase
        head = f"HTTP/1.1 {reply.status} {phrase}\r\nContent-Type: {reply.content_type}\r\nContent-Length: {len(reply.body)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        return (head + ("Connection: close\r\n\r\n" if closes else "\r\n")).encode("latin-1", "replace") + reply.body
    return _bytes_of(HttpReply(500, reply.body, reply.content_type, reply.headers), closes=closes)
