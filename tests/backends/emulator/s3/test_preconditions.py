"""Tests for the conditions of reads and writes of S3; the statuses are those that S3 documents for conditional requests."""

from __future__ import annotations

import pytest

from backends.emulator.http.errors import ServiceError
from backends.emulator.s3.preconditions import UNCONDITIONAL, WriteCondition, read_condition, write_condition


def outcome(condition, etag):
    try:
        condition.check(etag)
    except ServiceError as error:
        return error.status
    return 200


@pytest.mark.parametrize(
    ("headers", "condition"),
    [
        ({}, UNCONDITIONAL),
        ({"if-none-match": "*"}, WriteCondition(absent=True)),
        ({"if-match": '"abc"'}, WriteCondition(etag="abc")),
        ({"if-match": "*"}, WriteCondition(etag="*")),
    ],
)
def test_what_a_write_asks_for(headers, condition):
    assert write_condition(headers) == condition


@pytest.mark.parametrize("headers", [{"if-none-match": '"abc"'}, {"if-none-match": "*", "if-match": "abc"}])
def test_what_no_write_can_ask_for_is_refused(headers):
    with pytest.raises(ServiceError) as caught:
        write_condition(headers)
    assert caught.value.status == 501


@pytest.mark.parametrize(
    ("condition", "etag", "status"),
    [
        (UNCONDITIONAL, None, 200),
        (UNCONDITIONAL, "abc", 200),
        (WriteCondition(absent=True), None, 200),
        (WriteCondition(absent=True), "abc", 412),
        (WriteCondition(etag="abc"), "abc", 200),
        (WriteCondition(etag="*"), "abc", 200),
        (WriteCondition(etag="abc"), "abd", 412),
        (WriteCondition(etag="abc"), None, 404),
        (WriteCondition(etag="*"), None, 404),
    ],
)
def test_what_comes_of_a_write(condition, etag, status):
    assert outcome(condition, etag) == status


def test_what_was_deleted_while_the_content_was_on_its_way_is_a_conflict():
    assert outcome(WriteCondition(etag="abc").begun("abc"), None) == 409
    # What another wrote meanwhile is an object of another content, or one where none was to be.
    assert outcome(WriteCondition(etag="abc").begun("abc"), "abd") == 412
    assert outcome(WriteCondition(absent=True).begun(None), "abc") == 412


NOON = 1_777_896_000.75
BEFORE, AT, AFTER = (f"Mon, 04 May 2026 {time} GMT" for time in ("11:59:59", "12:00:00", "12:00:01"))


def reading(**headers):
    try:
        return read_condition({name.replace("_", "-"): value for name, value in headers.items()}, "abc", NOON)
    except ServiceError as error:
        return error.status


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, None),
        ({"if_none_match": '"x", "abc"'}, 304),
        ({"if_match": '"x", "abc"'}, None),
        ({"if_match": '"x"'}, 412),
        ({"if_modified_since": BEFORE}, None),
        ({"if_modified_since": AT}, 304),
        ({"if_unmodified_since": BEFORE}, 412),
        ({"if_unmodified_since": AT}, None),
        ({"if_unmodified_since": BEFORE, "if_match": '"abc"'}, None),
        ({"if_modified_since": AFTER, "if_none_match": '"x"'}, None),
        ({"if_modified_since": "yesterday"}, None),
    ],
)
def test_reads(headers, expected):
    assert reading(**headers) == expected
