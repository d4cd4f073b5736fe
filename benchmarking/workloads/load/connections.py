"""Connections to one endpoint: opened as requests need them, kept for the next, each with one request at a time. No retry, no redirect."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from typing import Any

from .http_answer import AnswerReader, BadAnswerError, HttpAnswer

Done = Callable[[HttpAnswer | None, str], None]
"""Is told how a request ended: its answer, or None and the kind of error that took its place."""

REFUSED, RESET, CUT_OFF = "refused", "reset", "cut_off"
"""No connection; one that ended before the answer began; one that ended within it."""

NO_SOCKETS = "no_sockets"
"""The client has no further socket."""
_NO_SOCKETS = (errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS)

_BACKLOG_BYTES = 1 << 20


class Exchange:
    """A request under way. Its end is told once, and not at all after `give_up`."""

    __slots__ = ("_connection", "_done", "_task")

    def __init__(self, done: Done) -> None:
        self._done: Done | None = done
        self._connection: Connection | None = None
        self._task: asyncio.Task[None] | None = None

    def end(self, answer: HttpAnswer | None, kind: str) -> None:
        """Tell how it ended, unless that was told before."""
        done, self._done = self._done, None
        if done is not None:
            done(answer, kind)

    def give_up(self) -> None:
        """Wait for no answer any more, and close the connection, on which one may still come."""
        self._done = None
        if self._task is not None:
            self._task.cancel()
        if self._connection is not None:
            self._connection.abort()

    def goes_over(self, connection: Connection) -> None:
        """Note the connection that it uses."""
        self._connection, self._task = connection, None

    def opens_by(self, task: asyncio.Task[None]) -> None:
        """Note the task that opens its connection."""
        self._task = task


class Connection(asyncio.Protocol):
    """One connection of a pool, to which it returns after each answer that keeps it open."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._reader = AnswerReader(pool.most_body_bytes)
        self._transport: asyncio.Transport | None = None
        self._exchange: Exchange | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what it writes to."""
        assert isinstance(transport, asyncio.Transport)
        transport.set_write_buffer_limits(high=_BACKLOG_BYTES)
        opened = transport.get_extra_info("socket")
        if opened is not None:
            # A body goes to the system in one piece, not in as many as a fresh connection's window has.
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BACKLOG_BYTES)
        self._transport = transport

    def send(self, request: bytes, exchange: Exchange) -> None:
        """Write one request; the exchange is told its end."""
        self._exchange = exchange
        exchange.goes_over(self)
        if self._transport is None or self._transport.is_closing():
            self._finish(None, RESET)
        else:
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Read on; a whole answer ends the request."""
        try:
            answer = self._reader.feed(data)
        except BadAnswerError as error:
            self.abort()
            self._finish(None, error.kind)
            return
        if answer is None:
            return
        if self._exchange is None or not answer.keeps_open:
            self.abort()  # nobody asked, or the server closes
        else:
            self._pool.take_back(self)
        self._finish(answer, "")

    def eof_received(self) -> bool:
        """Close what the server closes."""
        return False

    def connection_lost(self, error: Exception | None) -> None:
        """End the request that was under way: what came until now may be its answer, or a part of it."""
        self._pool.forget(self)
        has_begun = self._reader.has_begun
        answer = self._reader.end() if error is None else None
        self._finish(answer, "" if answer is not None else CUT_OFF if has_begun else RESET)

    def abort(self) -> None:
        """Close at once."""
        self._pool.forget(self)
        if self._transport is not None:
            self._transport.abort()

    def _finish(self, answer: HttpAnswer | None, kind: str) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.end(answer, kind)


class ConnectionPool:
    """All connections to one endpoint; the one that was used last is used first. Made within a running loop.

    Args:
        host, port: of the endpoint.
        context: for TLS; None for plain HTTP.
        limit: connections at most.
        most_body_bytes: of an answer.
    """

    def __init__(self, host: str, port: int, context: ssl.SSLContext | None, limit: int, most_body_bytes: int) -> None:
        self._host, self._port, self._context, self._limit = host, port, context, limit
        self.most_body_bytes = most_body_bytes
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()
        self._opening: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.get_running_loop()
        self.peak = 0

    @property
    def limit(self) -> int:
        """Connections at most."""
        return self._limit

    @property
    def has_room(self) -> bool:
        """Whether a request can be sent now: a connection is free, or one more may be opened."""
        return bool(self._idle) or self.count < self._limit

    @property
    def count(self) -> int:
        """Connections that are open or being opened."""
        return len(self._open) + len(self._opening)

    def send(self, request: bytes, done: Done) -> Exchange:
        """Send a request, head and body, on a free connection or on a new one; `done` is called once."""
        exchange = Exchange(done)
        if self._idle:
            self._idle.pop().send(request, exchange)
            return exchange
        task = self._loop.create_task(self._open_and_send(request, exchange))
        exchange.opens_by(task)
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
        self.peak = max(self.peak, self.count)
        return exchange

    def take_back(self, connection: Connection) -> None:
        """Keep a connection for the next request."""
        self._idle.append(connection)

    def forget(self, connection: Connection) -> None:
        """Count a connection that ends no longer."""
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def close(self) -> None:
        """Close all connections; requests under way end as `reset`."""
        for task in list(self._opening):
            task.cancel()
        for connection in list(self._open):
            connection.abort()

    async def _open_and_send(self, request: bytes, exchange: Exchange) -> None:
        try:
            _, connection = await self._loop.create_connection(
                lambda: Connection(self), self._host, self._port, ssl=self._context, server_hostname=self._host if self._context else None
            )
        except OSError as error:
            exchange.end(None, NO_SOCKETS if error.errno in _NO_SOCKETS else REFUSED)
            return
        self._open.add(connection)
        connection.send(request, exchange)
