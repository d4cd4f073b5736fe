"""Job names: readable, short, and telling tags and experiments apart."""

from __future__ import annotations

import pytest

from backends.naming import is_bucket_name, job_prefix, tag_mark


def test_a_prefix_is_readable_and_tells_experiments_apart():
    mark = tag_mark("t")
    assert mark == "e3b98a"
    assert job_prefix("image_ingestion", "t", "0123456789ab") == f"image-ingestion-{mark}-01234567"
    assert job_prefix("a" * 40, "t", "0123456789ab") == "a" * 24 + f"-{mark}-01234567"
    assert job_prefix("a" * 23 + "_b", "t", "ffffffffffff") == "a" * 23 + f"-{mark}-ffffffff"
    assert job_prefix("...", "t", "0123456789ab") == f"job-{mark}-01234567"


def test_tags_have_marks_of_their_own():
    assert len({tag_mark(tag) for tag in ("a", "b", "t", "t-1")}) == 4


REFUSED = """ab my_bucket My-bucket a..b -abc abc- bucket. .bucket 192.168.1.1 xn--a sthree-a ä-bucket amzn-s3-demo-bucket a-s3alias
    a--ol-s3 a.mrap a--x-s3 a--table-s3"""


@pytest.mark.parametrize("name", [*REFUSED.split(), "a b", "", "abc\n", "a" * 64])
def test_bucket_names_that_s3_refuses(name):
    assert not is_bucket_name(name)
