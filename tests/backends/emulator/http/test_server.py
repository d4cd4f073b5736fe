"""The HTTP server by plain sockets: what clients of AWS never send, too."""

from __future__ import annotations

import socket

import pytest

from backends.emulator.http.messages import Response
from backends.emulator.http.server import HttpServer

pytestmark = pytest.mark.slow

HOST = b"Host: localhost\r\n"


@pytest.fixture(scope="module")
def port():
    server = HttpServer(0, lambda request: Response(200, f"{request.method} {request.path} {request.headers.get('x')}".encode()))
    server.start()
    yield server.port
    server.close()


def answers(port, *parts):
    """Send all parts, and return what came until the server closed the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=90) as connection:
        for part in parts:
            connection.sendall(part)
        found = b""
        while block := connection.recv(65536):
            found += block
    return found


def bodies(found):
    return [part.partition(b"\r\n\r\n")[2] for part in found.split(b"HTTP/1.1 200 OK")[1:]]


def test_one_connection_carries_several_requests_until_it_is_to_close(port):
    found = answers(
        port,
        b"GET /a HTTP/1.1\r\n"
        + HOST
        + b"X:  1 \r\n\r\nGET /b HTTP/1.1\r\n"
        + HOST
        + b"x: 2\r\nConnection: close\r\n\r\nGET /c HTTP/1.1\r\n\r\n",
    )
    assert bodies(found) == [b"GET /a 1", b"GET /b 2"]


def test_a_client_of_http_1_0_is_told_the_end_by_closing(port):
    assert bodies(answers(port, b"GET /a HTTP/1.0\r\n" + HOST + b"\r\nGET /b HTTP/1.0\r\n\r\n")) == [b"GET /a None"]


def test_a_body_that_nobody_read_is_not_the_next_request(port):
    found = answers(port, b"PUT /a HTTP/1.1\r\n" + HOST + b"Content-Length: 5\r\n\r\nGET /", b"GET /b HTTP/1.0\r\n" + HOST + b"\r\n")
    assert bodies(found) == [b"PUT /a None", b"GET /b None"]


def test_who_waits_is_told_to_go_on(port):
    found = answers(port, b"PUT /a HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: 1\r\n\r\n", b"x")
    assert found.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET /a HTTP/2\r\n\r\n", b"400"),
        (b"GET /a HTTP/1.1\r\nno colon\r\n\r\n", b"400"),
        (b"GET /a HTTP/1.1\r\nx: " + b"y" * 70_000 + b"\r\n\r\n", b"400"),
        (b"GET /a HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n", b"400"),
        (b"GET http://localhost/a HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
        (b"PUT /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"PUT /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", b"400"),
        (b"GET /a HTTP/1.1\r\n" + b"".join(b"h%d: 1\r\n" % number for number in range(201)) + b"\r\n", b"431"),
    ],
)
def test_what_is_no_request_is_refused_and_the_connection_closed(port, sent, status):
    with socket.create_connection(("127.0.0.1", port), timeout=90) as connection:
        connection.sendall(sent)
        assert connection.recv(12) == b"HTTP/1.1 " + status
    assert bodies(answers(port, b"GET /a HTTP/1.0\r\n" + HOST + b"\r\n")) == [b"GET /a None"]
