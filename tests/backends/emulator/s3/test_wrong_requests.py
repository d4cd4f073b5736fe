"""Uploads in parts as they are listed, and what S3 is asked wrong or in words that are not imitated: it is said, and nothing is done."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

import pytest
from botocore.exceptions import ClientError

from backends.emulator.s3.store import S3Store, Upload
from tests.backends.emulator.asking import ask_signed
from tests.backends.emulator.s3.buckets import code_of, put

pytestmark = pytest.mark.slow


def test_uploads_in_parts_are_listed_until_they_are_over(bench, box):
    keys = ["a/1", "a/1", "a/2", "b", "c/3", "\u00e9&"]
    begun = [(key, bench.s3.create_multipart_upload(Bucket=box, Key=key)["UploadId"]) for key in keys]
    found = bench.s3.list_multipart_uploads(Bucket=box)
    assert sorted((one["Key"], one["UploadId"]) for one in found["Uploads"]) == sorted(begun)
    assert abs((found["Uploads"][0]["Initiated"] - datetime.now(UTC)).total_seconds()) < 60
    pages = bench.s3.get_paginator("list_multipart_uploads").paginate(Bucket=box, Prefix="a/", PaginationConfig={"PageSize": 1})
    assert sorted(one["UploadId"] for page in pages for one in page["Uploads"]) == sorted(upload for key, upload in begun if key[0] == "a")
    pages = list(bench.s3.get_paginator("list_multipart_uploads").paginate(Bucket=box, Delimiter="/", PaginationConfig={"PageSize": 2}))
    assert [one["Prefix"] for page in pages for one in page.get("CommonPrefixes", [])] == ["a/", "c/"]
    assert [one["Key"] for page in pages for one in page.get("Uploads", [])] == ["b", "\u00e9&"]
    for key, upload in begun:
        bench.s3.abort_multipart_upload(Bucket=box, Key=key, UploadId=upload)
    assert "Uploads" not in bench.s3.list_multipart_uploads(Bucket=box)


def test_an_upload_is_of_one_object(bench, box):
    upload = bench.s3.create_multipart_upload(Bucket=box, Key="x")["UploadId"]
    for call, more in (
        (bench.s3.upload_part, {"PartNumber": 1, "Body": b"1"}),
        (bench.s3.abort_multipart_upload, {}),
        (bench.s3.list_parts, {}),
    ):
        assert code_of(call, Bucket=box, Key="y", UploadId=upload, **more) == ("NoSuchUpload", 404)


@pytest.mark.parametrize("number", [0, 10_001])
def test_parts_have_numbers_from_1_to_10_000(bench, box, number):
    upload = bench.s3.create_multipart_upload(Bucket=box, Key="x")["UploadId"]
    given = {"Bucket": box, "Key": "x", "UploadId": upload, "PartNumber": number, "Body": b"1"}
    assert code_of(bench.s3.upload_part, **given) == ("InvalidArgument", 400)


@pytest.mark.parametrize(
    ("method", "address", "code"),
    [
        ("GET", "?max-keys=abc", "InvalidArgument"),
        ("GET", "?max-keys=-1", "InvalidArgument"),
        ("GET", "?list-type=3", "InvalidArgument"),
        ("GET", "?encoding-type=xml", "InvalidArgument"),
        ("GET", "?uploads&max-uploads=x", "InvalidArgument"),
        ("PUT", "/k?uploadId=1", "InvalidArgument"),
        ("PUT", "/k?uploadId=1&partNumber=x", "InvalidArgument"),
    ],
)
def test_what_an_address_says_wrong_is_said(bench, box, method, address, code):
    status, answer, _ = ask_signed(bench.emulator.credentials, f"{bench.emulator.endpoint_url}/{box}{address}", method)
    assert (status, f"<Code>{code}</Code>".encode() in answer) == (400, True)


ONE = "<Object><Key>k</Key></Object>"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (f"<Delete>{1001 * ONE}</Delete>", "MalformedXML"),
        ("<Delete/>", "MalformedXML"),
        ('<!DOCTYPE a [<!ENTITY x "k">]><Delete><Object><Key>&x;</Key></Object></Delete>', "MalformedXML"),
        ("<Delete><Object><Key>k</Key><VersionId>3</VersionId></Object></Delete>", "NotImplemented"),
        ("<Delete><Object><Key>k</Key><ETag>x</ETag></Object></Delete>", "NotImplemented"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_what_cannot_be_deleted_together_is_not(bench, box, body, code, encoding):
    put(bench, box, "k")
    address = f"{bench.emulator.endpoint_url}/{box}?delete"
    _, answer, _ = ask_signed(bench.emulator.credentials, address, "POST", body.encode(encoding))
    assert f"<Code>{code}</Code>".encode() in answer
    assert bench.s3.list_objects_v2(Bucket=box)["KeyCount"] == 1


def test_it_is_copied_only_as_it_is_known(bench, box):
    etag = bench.s3.put_object(Bucket=box, Key="k", Body=b"1")["ETag"]
    given = {"Bucket": box, "Key": "c", "CopySource": f"{box}/k"}
    assert code_of(bench.s3.copy_object, **given, CopySourceIfMatch='"other"') == ("PreconditionFailed", 412)
    assert code_of(bench.s3.copy_object, **given, CopySourceIfNoneMatch=etag) == ("PreconditionFailed", 412)
    assert code_of(bench.s3.copy_object, **given, CopySourceIfModifiedSince=datetime.now(UTC)) == ("PreconditionFailed", 412)
    bench.s3.copy_object(**given, CopySourceIfMatch=etag)


def test_a_version_of_what_is_copied_is_not_taken_for_the_object(bench, box):
    put(bench, box, "k")
    source = {"Bucket": box, "Key": "k", "VersionId": "3"}
    assert code_of(bench.s3.copy_object, Bucket=box, Key="c", CopySource=source) == ("NoSuchVersion", 404)
    bench.s3.copy_object(Bucket=box, Key="c", CopySource={**source, "VersionId": "null"})


def test_an_unknown_sub_resource_changes_nothing(bench, box):
    bench.s3.put_object(Bucket=box, Key="k", Body=b"data")
    with pytest.raises(ClientError) as caught:
        bench.s3.put_object_legal_hold(Bucket=box, Key="k", LegalHold={"Status": "ON"})
    assert caught.value.response["Error"]["Code"] == "NotImplemented"
    assert bench.s3.get_object(Bucket=box, Key="k")["Body"].read() == b"data"


def test_an_upload_that_a_folder_of_an_earlier_version_holds_is_listed_and_can_be_ended(tmp_path):
    database = sqlite3.connect(tmp_path / "s3.sqlite")
    database.execute("CREATE TABLE uploads (id TEXT PRIMARY KEY, bucket TEXT, key TEXT, headers TEXT)")
    database.execute("INSERT INTO uploads VALUES ('u1', 'b', 'k', '{}')")
    database.commit()
    database.close()
    for _ in range(2):
        store = S3Store(tmp_path)
        store.create_bucket("b")
        assert store.uploads("b") == [Upload("u1", "b", "k", 0.0)]
        store.close()
    store = S3Store(tmp_path, lambda: 5.0)
    store.start_upload("b", "a", {})
    store.abort_upload(Upload("u1", "b", "k"))
    assert [(one.key, one.created) for one in store.uploads("b")] == [("a", 5.0)]
    store.close()
