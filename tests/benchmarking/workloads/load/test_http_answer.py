import pytest

from benchmarking.workloads.load.http_answer import AnswerReader, BadAnswerError

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Cold: 1\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: a\r\n\r\n"


def fed(content, size):
    reader, found = AnswerReader(), []
    for at in range(0, len(content), size):
        answer = reader.feed(content[at : at + size])
        if answer is not None:
            found.append(answer)
    return reader, found


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("content", [PLAIN, CHUNKED])
def test_pieces_of_any_size(content, size):
    reader, found = fed(content, size)
    assert [(one.status, one.body, one.keeps_open) for one in found] == [(200, b"hello", True)]
    assert not reader.has_begun


def test_headers_are_found_by_lower_case_names():
    assert fed(PLAIN, 1000)[1][0].headers["x-cold"] == "1"


def test_one_answer_after_another():
    reader, found = fed(PLAIN, 1000)
    assert reader.feed(PLAIN).body == found[0].body


def test_without_a_length_the_end_ends_it():
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.0 200 OK\r\n\r\nhel") is None
    assert reader.feed(b"lo") is None
    answer = reader.end()
    assert (answer.body, answer.keeps_open) == (b"hello", False)


@pytest.mark.parametrize("content", [PLAIN[:-1], CHUNKED[:-3], b"HTTP/1.1 200", b""])
def test_what_is_cut_off_is_no_answer(content):
    reader = AnswerReader()
    assert not content or reader.feed(content) is None
    assert reader.end() is None
    assert reader.has_begun == bool(content)


@pytest.mark.parametrize(
    ("content", "keeps"),
    [
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n", True),
        (PLAIN + b"more", False),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN, True),
        (b"HTTP/1.1 204 No\r\n\r\n", True),
    ],
)
def test_whether_the_connection_stays(content, keeps):
    assert fed(content, 1000)[1][0].keeps_open is keeps


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"SSH-2.0-x\r\n\r\n", "malformed"),
        (b"HTTP/1.1 abc\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "malformed"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "malformed"),
        (b"x" * 70_000, "malformed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", "too_large"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101, "too_large"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" + b"x" * 101, "too_large"),
    ],
)
def test_what_is_no_answer(content, kind):
    with pytest.raises(BadAnswerError) as raised:
        AnswerReader(most_body_bytes=100).feed(content)
    assert raised.value.kind == kind
