"""What goes into a segment comes out of it, and what is no segment is said."""

from __future__ import annotations

import math

import pytest

from benchmarking.controller import journal_versions
from benchmarking.controller.journal import ControllerSession
from benchmarking.controller.sqlite_journal import SqliteJournal
from benchmarking.remote.segments import Segment, Writer, decoded, encoded, writer_of
from definitions import strict_json
from definitions.errors import UserError

WRITER = Writer("0f" * 8, "2", 3)


def rows(tmp_path, *bodies):
    journal = SqliteJournal(tmp_path / "journal.sqlite")
    for number, body in enumerate(bodies):
        journal.append(0.1 + 0.2 * number, "reported", body)
    found = journal.pending
    journal.close()
    return found


def test_every_body_comes_back_as_it_was(tmp_path):
    bodies = [{}, {"x": math.nan, "y": -math.inf}, {"text": 'a,"b]}\n\u2028[1,2'}, {"half": "\udc80"}, {"e": 1e-300, "big": 2**70}]
    made = Segment(7, WRITER, 1, rows(tmp_path, *bodies), (ControllerSession(3, 1.5, 2.25),))
    content = encoded(made)
    assert decoded(content, "x") == made
    assert content.count(b"\n") == 6
    assert [len(strict_json.loads(line)) for line in content.decode().split("\n")[1:-1]] == [3] * 5
    assert writer_of(content, "x") == WRITER
    assert made.last == 5


def test_one_without_records_says_who_wrote_it():
    made = Segment(2, WRITER, 11)
    assert (decoded(encoded(made), "x"), made.last) == (made, 10)


@pytest.mark.parametrize("cut", [1, 40, 250])
def test_one_that_is_cut_is_damaged(tmp_path, cut):
    content = encoded(Segment(1, WRITER, 1, rows(tmp_path, {"a": 1}, {"b": 2})))
    with pytest.raises(UserError, match="s3://b/k is damaged"):
        decoded(content[:-cut], "s3://b/k")


def test_what_is_no_record_is_damaged(tmp_path):
    content = encoded(Segment(1, WRITER, 1, rows(tmp_path, {"a": 1})))
    for wrong in (content.replace(b'{"a":1}', b"1"), content.replace(b"[0.1", b"[x"), content.replace(b'"reported"', b"reported")):
        assert wrong != content
        with pytest.raises(UserError, match="damaged"):
            decoded(wrong, "k")


def test_another_version_is_not_read_and_an_earlier_journal_is_brought_up(monkeypatch):
    body = strict_json.dumps({"configuration": {"x": 1, "fidelity": 0.5}})
    made = Segment(1, WRITER, 1, ((1, 0.5, "suggest", body), (2, 0.5, "start", "{}")))
    monkeypatch.setattr(journal_versions, "SCHEMA_VERSION", 1)
    old = encoded(made)
    monkeypatch.undo()
    first, second = decoded(old, "k").rows
    assert strict_json.loads(first[3]) == {"configuration": {"x": 1}, "level": 0.5, "repeat": 0}
    assert second == made.rows[1]
    with pytest.raises(UserError, match="has version 9"):
        decoded(encoded(made).replace(b'"schema_version":1', b'"schema_version":9'), "k")


def test_one_that_lacks_a_whole_line_or_does_not_say_what_it_is_is_damaged(tmp_path):
    head, first, second, _ = encoded(Segment(1, WRITER, 1, rows(tmp_path, {"a": 1}, {"b": 2}))).split(b"\n")
    for lines in ([head, first, b""], [head, first, second, b"[0.1,", b""], [head, first, second, b"[0.1,"]):
        with pytest.raises(UserError, match="it is to hold 2 records, and has"):
            decoded(b"\n".join(lines), "k")
    for nothing in (b"{}", b"[]", b"3"):
        with pytest.raises(UserError, match="its first line does not say what it is"):
            decoded(b"\n".join([nothing, first, second, b""]), "k")


def test_a_writer_that_says_neither_controller_nor_generation_is_none_of_a_job():
    head = strict_json.loads(encoded(Segment(1, WRITER, 1)).decode().split("\n")[0])
    bare = {key: value for key, value in head.items() if key not in ("controller", "generation")}
    assert writer_of(strict_json.dumps(bare).encode() + b"\n", "k") == Writer(WRITER.token, "", 0)
