"""HTTP/1.1 messages as they come off a connection, in whatever pieces."""

from __future__ import annotations

import pytest

from backends.serving.wire.messages import BadMessageError, MessageReader

REQUEST = b"POST /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nX-Y: 1\r\nx-y: 2\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n"


def pieces(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_two_requests_are_told_apart_however_they_are_cut(size):
    reader = MessageReader(100)
    found = [message for piece in pieces(REQUEST * 2, size) for message in reader.feed(piece)]
    assert [(message.first, message.body) for message in found] == [("POST /a?b HTTP/1.1", b"hello")] * 2
    assert found[0].headers["x-y"] == "1,2"
    assert reader.is_between
    assert reader.end() is None


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_chunked_answer_is_put_together(size):
    reader = MessageReader(100, answers=True)
    found = [message for piece in pieces(CHUNKED + REQUEST, size) for message in reader.feed(piece)]
    assert [message.body for message in found] == [b"hello world", b"hello"]


def test_an_answer_without_a_length_ends_with_its_connection():
    reader = MessageReader(100, answers=True)
    assert list(reader.feed(b"HTTP/1.1 200 OK\r\n\r\nabc")) == []
    assert list(reader.feed(b"def")) == []
    assert reader.end().body == b"abcdef"


def test_a_request_without_a_length_has_no_body_and_neither_has_204():
    (message,) = MessageReader(100).feed(b"GET / HTTP/1.1\r\n\r\n")
    assert message.body == b""
    (answer,) = MessageReader(100, answers=True).feed(b"HTTP/1.1 204 No Content\r\n\r\n")
    assert answer.body == b""


def test_what_is_longer_than_the_limit_is_counted_and_thrown_away():
    reader = MessageReader(4)
    (message,) = [message for piece in pieces(REQUEST, 40) for message in reader.feed(piece)]
    assert (message.is_too_large, message.body_bytes, message.body) == (True, 5, b"")
    (whole,) = MessageReader(5).feed(REQUEST)
    assert (whole.is_too_large, whole.body) == (False, b"hello")


@pytest.mark.parametrize(
    "data",
    [
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length : 5\r\n\r\n",
        b"POST / HTTP/1.1\r\nnonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n",
        b"x" * 70_000,
    ],
)
def test_what_two_readers_could_read_differently_is_refused(data):
    with pytest.raises(BadMessageError):
        list(MessageReader(100).feed(data))


def test_a_message_that_is_cut_off_is_none():
    reader = MessageReader(100, answers=True)
    list(reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"))
    with pytest.raises(BadMessageError, match="cut off"):
        reader.end()


def test_a_client_that_waits_for_leave_to_send_is_seen_once():
    reader = MessageReader(100)
    assert list(reader.feed(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")) == []
    assert (reader.wants_go_ahead(), reader.wants_go_ahead()) == (True, False)
    assert [message.body for message in reader.feed(b"ab")] == [b"ab"]


@pytest.mark.parametrize(
    ("head", "kept"),
    [(b"HTTP/1.1\r\n\r\n", True), (b"HTTP/1.1\r\nConnection: close\r\n\r\n", False), (b"HTTP/1.0\r\n\r\n", False)],
)
def test_when_a_connection_is_kept(head, kept):
    (message,) = MessageReader(100).feed(b"GET / " + head)
    assert message.keeps_open is kept
