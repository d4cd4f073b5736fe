from __future__ import annotations

from pathlib import Path

import pytest

from benchmarking.planning.model_store import fetch_by
from definitions.errors import UserError


class AnswerError(Exception):
    def __init__(self, code) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


class Store:
    def __init__(self, objects) -> None:
        self.objects = objects

    def head_object(self, **given):
        place = given["Bucket"], given["Key"]
        if place not in self.objects:
            raise AnswerError("404")
        if self.objects[place] is None:
            raise AnswerError("403")
        return {"ContentLength": len(self.objects[place]), "ETag": '"1"'}

    def download_file(self, bucket, key, path):
        Path(path).write_bytes(self.objects[bucket, key])


def fetch(objects):
    return fetch_by({}, lambda service: Store(objects))


def test_an_object_is_asked_for_its_version_and_brought(tmp_path):
    get = fetch({("b", "models/net.tar.gz"): b"12345"})
    assert get("s3://b/models/net.tar.gz", None) == '5 "1"'
    get("s3://b/models/net.tar.gz", tmp_path / "net")
    assert (tmp_path / "net").read_bytes() == b"12345"


@pytest.mark.parametrize(("objects", "words"), [({}, "s3://b/k is not there"), ({("b", "k"): None}, "access is denied")])
def test_what_cannot_be_had_is_said(objects, words):
    with pytest.raises(UserError, match=words):
        fetch(objects)("s3://b/k", None)


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(UserError, match="cannot be kept"):
        fetch({("b", "k"): b"1"})("s3://b/k", tmp_path / "missing" / "net")
