"""A report as a page on 127.0.0.1: two addresses, for browsers of who started it alone, as it has a name that nobody else knows."""

from __future__ import annotations

import errno
import hmac
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from definitions.errors import UserError

HOST = "127.0.0.1"
FIGURES = "figures.json"
_ALWAYS = {
    # A browser keeps what it has got, and asks each time whether it is still so.
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
_SILENCE_S = 30.0


@dataclass(frozen=True)
class ServedReport:
    """What is served.

    Args:
        version: of both, letters and digits.
        page: HTML.
        figures: JSON.
    """

    version: str
    page: str
    figures: str


@dataclass(frozen=True)
class Reply:
    """An answer to a request: status, headers and body."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


def reply_to(method: str, path: str, headers: Mapping[str, str], port: int, key: str, report: Callable[[], ServedReport]) -> Reply:
    """Return the answer to a request.

    Args:
        method: of the request.
        path: of the request; what follows a `?` counts for nothing.
        headers: of the request, names in lower case.
        port: on which it came.
        key: what paths begin with, which other users of the machine do not know.
        report: gives what is served; it is asked for only by requests that may have it.
    """
    # A page elsewhere whose name was made to mean this machine asks under that name, and is no reader of ours.
    if headers.get("host", "").lower() not in (f"{HOST}:{port}", f"localhost:{port}"):
        return _text(403, f"This is served as http://{HOST}:{port}/ alone.")
    if method != "GET":
        return _text(405, "There is nothing to do here but to read.", Allow="GET")
    given, _, place = path.partition("?")[0].removeprefix("/").partition("/")
    if not hmac.compare_digest(given.encode(), key.encode()):
        return _text(404, "The address is as it was printed by who serves this.")
    if place not in ("", FIGURES):
        return _text(404, f"There is the page and {FIGURES}.")
    found = report()
    tag = f'"{found.version}"'
    if headers.get("if-none-match") == tag:
        return Reply(304, {"ETag": tag})
    kind, text = ("text/html", found.page) if not place else ("application/json", found.figures)
    return Reply(200, {"ETag": tag, "Content-Type": f"{kind}; charset=utf-8"}, text.encode("utf-8", "backslashreplace"))


class ReportServer:
    """Serves a report until it is closed.

    Args:
        port: 0 for a free one.
        report: gives what is served; it is called by several threads.

    Raises:
        UserError: the port is taken, or not ours to take.
    """

    def __init__(self, port: int, report: Callable[[], ServedReport]) -> None:
        self._key = secrets.token_urlsafe(16)
        try:
            handler = type("Handler", (_Handler,), {"report": staticmethod(report), "key": self._key})
            self._server = _Server((HOST, port), handler)
        except OSError as error:
            facts = {errno.EADDRINUSE: "another program has this port", errno.EACCES: "ports below 1024 are the system's"}
            fact = facts.get(error.errno or 0, str(error))
            raise UserError(f"--port {port}", fact, "leave --port out for one that is free, or give another") from None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="report", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where the page is: whoever has this address may read it."""
        return f"http://{HOST}:{self._server.server_address[1]}/{self._key}/"

    def close(self) -> None:
        """Serve no longer."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        error = sys.exc_info()[1]
        # A reader that goes away is no fault.
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print(f"the report cannot be served: {type(error).__name__}: {error}", file=sys.stderr)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "Outrider"
    sys_version = ""
    timeout = _SILENCE_S
    report: Callable[[], ServedReport]
    key: str

    def log_message(self, format: str, *args: object) -> None:
        del format, args

    def _answer(self) -> None:
        port = int(self.connection.getsockname()[1])
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = reply_to(self.command, self.path, headers, port, self.key, type(self).report)
        # What a refused request brings along is not read, so nothing can follow it.
        self.close_connection = self.close_connection or reply.status in (403, 405)
        self.send_response(reply.status)
        for name, value in {**_ALWAYS, **reply.headers, **({"Connection": "close"} if self.close_connection else {})}.items():
            self.send_header(name, value)
        if reply.status != 304:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _answer  # noqa: N815


def _text(status: int, words: str, **headers: str) -> Reply:
    return Reply(status, {"Content-Type": "text/plain; charset=utf-8", **headers}, f"{words}\n".encode())
