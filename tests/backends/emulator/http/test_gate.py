"""Who may ask at all: only who calls the server by a name of this machine, and no web page."""

from __future__ import annotations

import pytest

from backends.emulator.http.gate import refusal

PORT = 4566


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "127.0.0.1:4566"},
        {"host": "localhost:4566"},
        {"host": "LOCALHOST"},
        {"host": "[::1]:4566"},
        {"host": "127.0.0.1", "origin": "http://127.0.0.1:4566", "sec-fetch-site": "same-origin"},
        {"host": "127.0.0.1", "sec-fetch-site": "none"},
    ],
)
def test_who_calls_it_by_its_name_may_go_on(headers):
    assert refusal(headers, PORT) is None


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({}, "the host '' is not this server"),
        ({"host": "evil.example:4566"}, "the host 'evil.example:4566'"),
        ({"host": "127.0.0.1.evil.example"}, "is not this server"),
        ({"host": "127.0.0.1:4567"}, "is not this server"),
        ({"host": "localhost@evil.example"}, "is not this server"),
        ({"host": "0.0.0.0:4566"}, "is not this server"),
        ({"host": "127.0.0.1:4566", "origin": "http://evil.example"}, "a page of 'http://evil.example'"),
        ({"host": "127.0.0.1:4566", "origin": "null"}, "a page of 'null'"),
        ({"host": "127.0.0.1:4566", "origin": "http://127.0.0.1:8888"}, "a page of 'http://127.0.0.1:8888'"),
        ({"host": "127.0.0.1:4566", "origin": "https://127.0.0.1:4566"}, "a page of"),
        ({"host": "127.0.0.1:4566", "sec-fetch-site": "cross-site"}, "another site"),
        ({"host": "127.0.0.1:4566", "sec-fetch-site": "same-site"}, "another site"),
    ],
)
def test_pages_and_other_names_are_refused(headers, words):
    assert words in (refusal(headers, PORT) or "")
