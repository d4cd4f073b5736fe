"""The HTTP server on 127.0.0.1: reads requests, hands those that may be for it to the router, writes responses."""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, BinaryIO

from backends.emulator.http import gate
from backends.emulator.http.messages import HEXADECIMAL, Request, Response
from backends.emulator.http.transfer import Transfer

_BLOCK_BYTES = 1 << 18
_MOST_HEADERS, _HEADER_BYTES = 200, 1 << 16
_SENT_BY_THE_SYSTEM_BYTES = 1 << 15
_DRAINED_BYTES = 16 << 20
"""What is read at most of the body of a request that is refused; then the connection is closed."""
_TEXT = {"Content-Type": "text/plain; charset=utf-8"}
_ONCE = frozenset({"host", "origin", "authorization", "content-length", "transfer-encoding", "x-amz-date", "x-amz-content-sha256"})
_NOT_PASSED_ON = frozenset({"content-length", "transfer-encoding", "connection", "date", "server"})


class HttpServer:
    """Serves until closed; a thread per open connection, which are the clients', not the jobs'.

    Args:
        port: 0 for a free one.
        answer: makes a response of a request.
        poll_s: how often it looks whether it is to be closed, so how long `close` may take, in seconds.
        sent: told the bytes of each request's body and of the body that was sent for it.

    Raises:
        OSError: the port is taken.
    """

    def __init__(
        self,
        port: int,
        answer: Callable[[Request], Response],
        poll_s: float = 0.05,
        sent: Callable[[int, int], object] | None = None,
    ) -> None:
        counted = staticmethod(sent) if sent is not None else None
        handler = type("Handler", (_Handler,), {"answer": staticmethod(answer), "port": staticmethod(lambda: self.port), "sent": counted})
        self._server = _Server(("127.0.0.1", port), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(poll_s,), name="emulator-http", daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def wait(self) -> None:
        """Return when it no longer serves."""
        self._thread.join()

    def close(self) -> None:
        """Stop serving and close all connections."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.close_connections()


class _Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True
    block_on_close = False

    def __init__(self, *arguments: Any) -> None:
        self._open: set[socket.socket] = set()
        self.resets: set[socket.socket] = set()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        if request in self.resets:
            # An orderly end first would not let the reset through.
            self.resets.discard(request)
            self.close_request(request)
            return
        super().shutdown_request(request)

    def close_connections(self) -> None:
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that goes away is no fault.
        if not isinstance(sys.exc_info()[1], (ConnectionError, ValueError)):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "OutriderEmulator"
    disable_nagle_algorithm = True
    wbufsize = 65536
    answer: Callable[[Request], Response]
    port: Callable[[], int]
    sent: Callable[[int, int], object] | None = None
    raw_requestline: bytes
    _fields: dict[str, str]

    def log_message(self, format: str, *args: Any) -> None:
        del format, args

    def do_GET(self) -> None:
        self._serve()

    do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = do_GET  # noqa: N815

    def parse_request(self) -> bool:
        # The base class reads headers by the rules of e-mail, which takes as long as all else that a small request needs.
        self.requestline = self.raw_requestline.decode("latin-1").rstrip("\r\n")
        self.command, self.request_version, self.close_connection = "", "HTTP/1.1", True
        words = self.requestline.split()
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            self.send_error(400, "Bad request")
            return False
        self.command, self.path, self.request_version = words
        self._fields = {}
        for _ in range(_MOST_HEADERS):
            line = self.rfile.readline(_HEADER_BYTES)
            if line in (b"\r\n", b"\n"):
                break
            name, colon, value = line.decode("latin-1").partition(":")
            key, value = name.strip().lower(), value.strip()
            # One that is there twice may be read by two who disagree about it.
            if not colon or not line.endswith(b"\n") or (key in _ONCE and key in self._fields):
                self.send_error(400, "Bad request")
                return False
            self._fields[key] = f"{self._fields[key]},{value}" if key in self._fields else value
        else:
            self.send_error(431, "Too many headers")
            return False
        length = self._fields.get("content-length", "0")
        both = "content-length" in self._fields and "transfer-encoding" in self._fields
        if both or not (length.isascii() and length.isdecimal()) or not self.path.startswith("/"):
            self.send_error(400, "Bad request")
            return False
        asked = self._fields.get("connection", "").lower()
        self.close_connection = asked == "close" or (self.request_version == "HTTP/1.0" and asked != "keep-alive")
        if self._fields.get("expect", "").lower() == "100-continue":
            # Sent at once: the body is read wherever the answer does not depend on it.
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()
        return True

    def _serve(self) -> None:
        body = _Body(self.rfile, self._fields)
        request = Request(self.command, self.path, self._fields, body.read, body.length)
        refused = gate.refusal(self._fields, type(self).port())
        response = type(self).answer(request) if refused is None else Response(403, f"{refused}\n".encode(), _TEXT)
        # What the answer did not need has to be read all the same, or it would be taken for the next request.
        rest = 0
        while block := body.read(_BLOCK_BYTES):
            rest += len(block)
            if response.status >= 400 and rest > _DRAINED_BYTES:
                self.close_connection = True
                break
        sent = self._send(response)
        counting = type(self).sent
        if counting is not None:
            counting(body.length or 0, sent)

    def _send(self, response: Response) -> int:
        length = len(response.body) if response.length is None else response.length
        file = response.file
        try:
            if response.transfer is not None:
                time.sleep(response.transfer.delay_s)
            self.send_response(response.status)
            for name, value in response.headers.items():
                # What moto answers would let pages of any origin read it.
                if name.lower() not in _NOT_PASSED_ON and not name.lower().startswith("access-control-"):
                    self.send_header(name, value)
            self.send_header("x-amzn-RequestId", "emulated")
            if response.status != 204:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            if self.command == "HEAD":
                return 0
            if response.transfer is not None:
                return self._send_as(response, response.transfer, length)
            if file is None:
                self.wfile.write(response.body)
                return len(response.body)
            if length < _SENT_BY_THE_SYSTEM_BYTES:
                # In one packet with the headers.
                file.seek(response.start)
                sent = self.wfile.write(file.read(length))
            else:
                self.wfile.flush()
                sent = self._send_file(file, response.start, length)
            if sent < length:
                self.close_connection = True
            return sent
        finally:
            if file is not None:
                file.close()
            self.wfile.flush()

    def _send_as(self, response: Response, transfer: Transfer, length: int) -> int:
        """Send a body at a rate and in part, as is asked for."""
        self.wfile.flush()
        source = response.file
        if source is not None:
            source.seek(response.start)
        sent = 0
        for size, seconds in transfer.pieces(transfer.sent_bytes(length)):
            began_s = time.monotonic()
            self.wfile.write(response.body[sent : sent + size] if source is None else source.read(size))
            self.wfile.flush()
            sent += size
            time.sleep(max(seconds - (time.monotonic() - began_s), 0.0))
        if transfer.cut is not None:
            self.close_connection = True
            if transfer.is_reset:
                # With nothing left to wait for, closing sends a reset in place of an end.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                assert isinstance(self.server, _Server)
                self.server.resets.add(self.connection)
        return sent

    def _send_file(self, file: BinaryIO, start: int, length: int) -> int:
        sent = 0
        while sent < length and (block := os.sendfile(self.connection.fileno(), file.fileno(), start + sent, length - sent)):
            sent += block
        return sent


class _Body:
    """A request's body, by its length or in HTTP's chunks."""

    def __init__(self, stream: Any, headers: dict[str, str]) -> None:
        self._stream = stream
        self._chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        self.length = None if self._chunked else int(headers.get("content-length", 0))
        self._left = self.length or 0
        self._done = False

    def read(self, most: int) -> bytes:
        if self._chunked and self._left == 0 and not self._done:
            self._next_chunk()
        if self._left == 0:
            return b""
        block: bytes = self._stream.read(min(most, self._left))
        if not block:
            raise ConnectionError("the client went away")
        self._left -= len(block)
        if self._chunked and self._left == 0:
            self._stream.readline()
        return block

    def _next_chunk(self) -> None:
        line = self._stream.readline()
        if not line:
            raise ConnectionError("the client went away")
        size = line.split(b";", 1)[0].strip()
        if not HEXADECIMAL.fullmatch(size):
            raise ConnectionError("the client sends no chunks")
        self._left = int(size, 16)
        if self._left == 0:
            self._done = True
            while self._stream.readline().strip():
                pass
