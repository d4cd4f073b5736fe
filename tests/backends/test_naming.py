"""Job names: readable, short, and telling tags and experiments apart."""

from __future__ import annotations

from backends.naming import job_prefix, tag_mark


def test_a_prefix_is_readable_and_tells_experiments_apart():
    mark = tag_mark("t")
    assert mark == "e3b98a"
    assert job_prefix("image_ingestion", "t", "0123456789ab") == f"image-ingestion-{mark}-01234567"
    assert job_prefix("a" * 40, "t", "0123456789ab") == "a" * 24 + f"-{mark}-01234567"
    assert job_prefix("a" * 23 + "_b", "t", "ffffffffffff") == "a" * 23 + f"-{mark}-ffffffff"
    assert job_prefix("...", "t", "0123456789ab") == f"job-{mark}-01234567"


def test_tags_have_marks_of_their_own():
    assert len({tag_mark(tag) for tag in ("a", "b", "t", "t-1")}) == 4
