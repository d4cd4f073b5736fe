"""The server of the report: who is answered, with what, and what a taken port says."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest

from definitions.errors import UserError
from launch.report_server import ReportServer, ServedReport, reply_to

REPORT = ServedReport("abc", "<!doctype html>\ud800", '{"figures": []}')
HERE = {"host": "127.0.0.1:8000"}
KEY = "k-1"


def reply(path=f"/{KEY}/", method="GET", **headers):
    given = {**HERE, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return reply_to(method, path, given, 8000, KEY, lambda: REPORT)


@pytest.mark.parametrize(
    "host", ["", "evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "localhost.evil.example:8000", "0.0.0.0:8000"]
)
def test_who_asks_under_another_name_gets_nothing(host):
    def never():
        raise AssertionError("nothing is made for who may not have it")

    found = reply_to("GET", f"/{KEY}/", {"host": host} if host else {}, 8000, KEY, never)
    assert found.status == 403
    assert found.body == b"This is served as http://127.0.0.1:8000/ alone.\n"


def test_the_page_and_its_data_and_nothing_else():
    served = ("", "figures.json", "?x=1")
    assert [reply(f"/{KEY}/{path}").status for path in served] == [200, 200, 200]
    others = ("index.html", "../etc/passwd", "/", "figures.json/")
    assert [reply(f"/{KEY}/{path}").status for path in others] == [404, 404, 404, 404]
    assert reply().headers["Content-Type"] == "text/html; charset=utf-8"
    assert reply().body == b"<!doctype html>\\ud800"
    assert json.loads(reply(f"/{KEY}/figures.json").body) == {"figures": []}
    assert reply(host="LOCALHOST:8000").status == 200


@pytest.mark.parametrize("path", ["/", "/figures.json", "//", "", "*", "/K-1/", "/k-/", "/k-12/", "/\u00e9/", "/../k-1/"])
def test_another_user_who_does_not_know_the_address_gets_nothing(path):
    def never():
        raise AssertionError("nothing is made for who may not have it")

    assert reply_to("GET", path, HERE, 8000, KEY, never).status == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
def test_one_can_but_read(method):
    found = reply(method=method)
    assert (found.status, found.headers["Allow"]) == (405, "GET")


def test_what_a_reader_has_already_is_not_sent_again():
    assert (reply(if_none_match='"abc"').status, reply(if_none_match='"abc"').body) == (304, b"")
    assert reply(if_none_match='"abd"').status == 200


@pytest.fixture
def server():
    with contextlib.closing(ReportServer(0, lambda: REPORT)) as found:
        yield found


def asked(server, method, path, **headers):
    place = urlsplit(server.address)
    connection = http.client.HTTPConnection(place.netloc, timeout=90)
    with contextlib.closing(connection):
        connection.request(method, f"{place.path}{path}", headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()


@pytest.mark.slow
def test_over_a_socket(server):
    status, headers, body = asked(server, "GET", "")
    assert (status, headers["ETag"], headers["Cache-Control"], body) == (200, '"abc"', "no-cache", b"<!doctype html>\\ud800")
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert "Access-Control-Allow-Origin" not in headers
    assert asked(server, "GET", "", Host="evil.example")[0] == 403
    assert asked(server, "POST", "figures.json")[0] == 405
    assert asked(server, "HEAD", "")[0] == 405
    assert asked(server, "GET", "figures.json", If_None_Match='"abc"')[0] == 304


@pytest.mark.slow
def test_each_start_has_another_address_and_the_port_alone_is_none(server):
    with contextlib.closing(ReportServer(0, lambda: REPORT)) as second:
        assert urlsplit(second.address).path != urlsplit(server.address).path
        assert len(urlsplit(second.address).path) >= 22
    assert asked(server, "GET", "../")[0] == 404


@pytest.mark.slow
def test_it_listens_on_one_address_alone(server):
    port = urlsplit(server.address).port
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=90)


@pytest.mark.slow
def test_a_taken_port_says_what_to_do():
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(UserError, match=rf"--port {port}\n  another program has this port\n  leave --port out"):
            ReportServer(port, lambda: REPORT)
