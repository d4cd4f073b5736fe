"""S3 by unmodified boto3: objects, ranges, listings, copies, uploads in parts, errors."""

from __future__ import annotations

import io
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import ClientError

from backends.emulator.s3.store import S3Store
from tests.backends.emulator.asking import ask_signed
from tests.backends.emulator.s3.buckets import code_of, put

pytestmark = pytest.mark.slow


def test_an_object_comes_back_as_it_was(bench, box):
    s3 = bench.s3
    content = bytes(range(256)) * 1000
    s3.put_object(
        Bucket=box, Key="ä/ b+c&d%.txt", Body=content, Metadata={"Name": "value"}, ContentType="text/plain", CacheControl="no-cache"
    )
    found = s3.get_object(Bucket=box, Key="ä/ b+c&d%.txt")
    assert found["Body"].read() == content
    assert (found["ContentType"], found["CacheControl"], found["Metadata"]) == ("text/plain", "no-cache", {"name": "value"})
    head = s3.head_object(Bucket=box, Key="ä/ b+c&d%.txt")
    assert (head["ContentLength"], head["ETag"]) == (256000, found["ETag"])
    assert s3.list_objects_v2(Bucket=box)["Contents"][0]["Key"] == "ä/ b+c&d%.txt"


@pytest.mark.parametrize(
    ("header", "expected"),
    [("bytes=2-4", b"234"), ("bytes=7-", b"789"), ("bytes=-2", b"89"), ("bytes=8-99", b"89"), ("bytes=-99", b"0123456789")],
)
def test_ranges(bench, box, header, expected):
    bench.s3.put_object(Bucket=box, Key="digits", Body=b"0123456789")
    found = bench.s3.get_object(Bucket=box, Key="digits", Range=header)
    assert found["Body"].read() == expected
    assert found["ResponseMetadata"]["HTTPStatusCode"] == 206


def test_a_range_past_the_end_is_refused(bench, box):
    bench.s3.put_object(Bucket=box, Key="digits", Body=b"0123456789")
    with pytest.raises(ClientError) as caught:
        bench.s3.get_object(Bucket=box, Key="digits", Range="bytes=10-")
    assert caught.value.response["Error"]["Code"] == "InvalidRange"


def test_listings_by_prefix_delimiter_and_page(bench, box):
    put(bench, box, "a/1", "a/2", "a/b/3", "c", "d/4", "e")
    pages = list(bench.s3.get_paginator("list_objects_v2").paginate(Bucket=box, Delimiter="/", PaginationConfig={"PageSize": 2}))
    shown = [[one["Prefix"] for one in page.get("CommonPrefixes", [])] + [one["Key"] for one in page.get("Contents", [])] for page in pages]
    assert shown == [["a/", "c"], ["d/", "e"]]
    below = bench.s3.list_objects_v2(Bucket=box, Prefix="a/", Delimiter="/")
    assert [one["Key"] for one in below["Contents"]] == ["a/1", "a/2"]
    assert [one["Prefix"] for one in below["CommonPrefixes"]] == ["a/b/"]
    every = bench.s3.get_paginator("list_objects_v2").paginate(Bucket=box, PaginationConfig={"PageSize": 1}).search("Contents[].Key")
    assert list(every) == ["a/1", "a/2", "a/b/3", "c", "d/4", "e"]
    older = bench.s3.get_paginator("list_objects").paginate(Bucket=box, Delimiter="/", PaginationConfig={"PageSize": 1})
    assert len(list(older)) == 4
    assert bench.s3.list_objects_v2(Bucket=box, StartAfter="c")["KeyCount"] == 2


def test_large_objects_go_up_in_parts(bench, box):
    content = bytes(range(256)) * 60_000
    config = TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20)
    bench.s3.upload_fileobj(io.BytesIO(content), box, "big", Config=config, ExtraArgs={"Metadata": {"a": "b"}})
    head = bench.s3.head_object(Bucket=box, Key="big")
    assert (head["ContentLength"], head["ETag"].strip('"').split("-")[1], head["Metadata"]) == (len(content), "3", {"a": "b"})
    target = io.BytesIO()
    bench.s3.download_fileobj(box, "big", target, Config=config)
    assert target.getvalue() == content
    bench.s3.copy({"Bucket": box, "Key": "big"}, box, "copy", Config=config)
    assert bench.s3.get_object(Bucket=box, Key="copy")["Body"].read() == content


def test_uploads_that_go_wrong(bench, box):
    with pytest.raises(ClientError) as caught:
        bench.s3.upload_part(Bucket=box, Key="x", UploadId="none", PartNumber=1, Body=b"x")
    assert caught.value.response["Error"]["Code"] == "NoSuchUpload"
    upload = bench.s3.create_multipart_upload(Bucket=box, Key="x")["UploadId"]
    part = bench.s3.upload_part(Bucket=box, Key="x", UploadId=upload, PartNumber=2, Body=b"x")
    with pytest.raises(ClientError) as caught:
        bench.s3.complete_multipart_upload(
            Bucket=box, Key="x", UploadId=upload, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
        )
    assert caught.value.response["Error"]["Code"] == "InvalidPart"
    assert [one["PartNumber"] for one in bench.s3.list_parts(Bucket=box, Key="x", UploadId=upload)["Parts"]] == [2]
    bench.s3.abort_multipart_upload(Bucket=box, Key="x", UploadId=upload)
    assert bench.s3.list_objects_v2(Bucket=box)["KeyCount"] == 0


def test_copies_keep_or_replace_metadata(bench, box):
    bench.s3.put_object(Bucket=box, Key="a", Body=b"1", Metadata={"x": "1"})
    bench.s3.copy_object(Bucket=box, Key="b", CopySource={"Bucket": box, "Key": "a"})
    bench.s3.copy_object(Bucket=box, Key="c", CopySource=f"{box}/a", Metadata={"y": "2"}, MetadataDirective="REPLACE")
    assert bench.s3.head_object(Bucket=box, Key="b")["Metadata"] == {"x": "1"}
    assert bench.s3.head_object(Bucket=box, Key="c")["Metadata"] == {"y": "2"}


def test_deleting(bench, box):
    put(bench, box, "a", "b", "c")
    bench.s3.delete_object(Bucket=box, Key="a")
    answer = bench.s3.delete_objects(Bucket=box, Delete={"Objects": [{"Key": "b"}, {"Key": "none"}]})
    assert [one["Key"] for one in answer["Deleted"]] == ["b", "none"]
    with pytest.raises(ClientError) as caught:
        bench.s3.delete_bucket(Bucket=box)
    assert caught.value.response["Error"]["Code"] == "BucketNotEmpty"
    bench.s3.delete_object(Bucket=box, Key="c")
    bench.s3.delete_bucket(Bucket=box)
    with pytest.raises(ClientError):
        bench.s3.head_bucket(Bucket=box)
    assert box not in [one["Name"] for one in bench.s3.list_buckets()["Buckets"]]


def test_conditions(bench, box):
    put(bench, box, "a")
    with pytest.raises(ClientError) as caught:
        bench.s3.put_object(Bucket=box, Key="a", Body=b"2", IfNoneMatch="*")
    assert caught.value.response["Error"]["Code"] == "PreconditionFailed"
    etag = bench.s3.put_object(Bucket=box, Key="b", Body=b"2", IfNoneMatch="*")["ETag"]
    assert bench.s3.get_object(Bucket=box, Key="b", IfMatch=etag)["Body"].read() == b"2"
    with pytest.raises(ClientError) as caught:
        bench.s3.get_object(Bucket=box, Key="b", IfNoneMatch=etag)
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 304


def test_an_object_is_replaced_or_deleted_only_as_it_is_known(bench, box):
    first = bench.s3.put_object(Bucket=box, Key="a", Body=b"1")["ETag"]
    second = bench.s3.put_object(Bucket=box, Key="a", Body=b"2", IfMatch=first)["ETag"]
    assert code_of(bench.s3.put_object, Bucket=box, Key="a", Body=b"3", IfMatch=first) == ("PreconditionFailed", 412)
    assert code_of(bench.s3.put_object, Bucket=box, Key="none", Body=b"3", IfMatch=first) == ("NoSuchKey", 404)
    assert code_of(bench.s3.delete_object, Bucket=box, Key="a", IfMatch=first) == ("PreconditionFailed", 412)
    assert bench.s3.get_object(Bucket=box, Key="a")["Body"].read() == b"2"
    bench.s3.delete_object(Bucket=box, Key="a", IfMatch=second)
    assert bench.s3.list_objects_v2(Bucket=box)["KeyCount"] == 0


def test_parts_become_an_object_only_where_there_is_none(bench, box):
    upload = bench.s3.create_multipart_upload(Bucket=box, Key="a")["UploadId"]
    etag = bench.s3.upload_part(Bucket=box, Key="a", UploadId=upload, PartNumber=1, Body=b"parts")["ETag"]
    put(bench, box, "a")
    given = {"Bucket": box, "Key": "a", "UploadId": upload, "MultipartUpload": {"Parts": [{"PartNumber": 1, "ETag": etag}]}}
    assert code_of(bench.s3.complete_multipart_upload, **given, IfNoneMatch="*") == ("PreconditionFailed", 412)
    # The parts are still there.
    bench.s3.delete_object(Bucket=box, Key="a")
    bench.s3.complete_multipart_upload(**given, IfNoneMatch="*")
    assert bench.s3.get_object(Bucket=box, Key="a")["Body"].read() == b"parts"


def test_of_many_conditional_writers_one_wins(bench, box):
    def write(number):
        try:
            bench.s3.put_object(Bucket=box, Key=f"claim/{number // 16}", Body=str(number).encode(), IfNoneMatch="*")
        except ClientError as error:
            return error.response["Error"]["Code"]
        return str(number)

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(write, range(16 * 10)))
    for round_ in range(10):
        of_round = answers[16 * round_ : 16 * (round_ + 1)]
        (winner,) = [answer for answer in of_round if answer != "PreconditionFailed"]
        assert bench.s3.get_object(Bucket=box, Key=f"claim/{round_}")["Body"].read() == winner.encode()


def test_a_presigned_address_works_without_credentials(bench, box):
    put(bench, box, "a")
    url = bench.s3.generate_presigned_url("get_object", Params={"Bucket": box, "Key": "a"})
    with urllib.request.urlopen(url) as response:
        assert response.read() == b"a"


@pytest.mark.parametrize(("kind", "code"), [("key", "NoSuchKey"), ("bucket", "NoSuchBucket")])
def test_what_is_not_there(bench, box, kind, code):
    with pytest.raises(ClientError) as caught:
        bench.s3.get_object(Bucket=box if kind == "key" else "no-such-bucket", Key="none")
    assert caught.value.response["Error"]["Code"] == code


def test_s3_errors_can_be_asked_for_and_boto3_retries_them(started):
    import boto3

    bench = started(faults=[{"kind": "s3_error", "operation": "GetObject", "key": "flaky", "code": "SlowDown", "status": 503, "times": 2}])
    bench.put("flaky", b"x")
    with pytest.raises(ClientError) as caught:
        bench.s3.get_object(Bucket="bucket", Key="flaky")
    assert caught.value.response["Error"]["Code"] == "SlowDown"
    patient = boto3.client(
        "s3",
        endpoint_url=bench.emulator.endpoint_url,
        region_name="us-east-1",
        aws_access_key_id=bench.emulator.credentials.access_key,
        aws_secret_access_key=bench.emulator.credentials.secret_key,
    )
    assert patient.get_object(Bucket="bucket", Key="flaky")["Body"].read() == b"x"


def test_a_job_s_own_downloads_and_uploads_can_fail(started, channel):
    faults = [
        {"kind": "s3_error", "operation": "JobGetObject", "key": "bad/*"},
        {"kind": "s3_error", "operation": "JobPutObject", "key": "out/up-*"},
    ]
    bench = started(faults=faults)
    bench.put("bad/1", b"x")
    down = bench.submit(InputDataConfig=[channel("train", "s3://bucket/bad/")])
    assert bench.ended(down)["FailureReason"].startswith("ClientError: Data download failed")
    up = bench.submit(name="up-1")
    assert bench.ended(up)["FailureReason"].startswith("ClientError: Artifact upload failed")


def test_an_object_that_is_replaced_while_it_is_asked_for_is_still_found(tmp_path, monkeypatch):
    store = S3Store(tmp_path)
    store.create_bucket("box")
    store.put("box", "key", [b"old"])
    look_up = store.get

    def slow(bucket, key):
        found = look_up(bucket, key)
        if found.size == 3:
            store.put("box", "key", [b"newer"])
        return found

    monkeypatch.setattr(store, "get", slow)
    found, content = store.open("box", "key")
    with content:
        assert (found.size, content.read()) == (5, b"newer")
    monkeypatch.undo()
    found.path.unlink()
    with pytest.raises(FileNotFoundError):
        store.open("box", "key")


PRINTABLE = "".join(map(chr, range(32, 127)))
NAMES = [
    "x" * 1024,
    (PRINTABLE * 11)[:1024],
    "é" * 512,
    "..",
    "../up",
    "a/../b",
    "/leading",
    "trailing/",
    "a//b",
    ".",
    "\t\n\r\x01\x7f",
    "e\u0301",
    "é",
    "\U0001f600",
]


def test_objects_may_be_called_anything_of_at_most_1024_bytes(bench, box):
    s3 = bench.s3
    for number, key in enumerate(NAMES):
        s3.put_object(Bucket=box, Key=key, Body=str(number).encode())
    for number, key in enumerate(NAMES):
        assert s3.get_object(Bucket=box, Key=key)["Body"].read() == str(number).encode(), key
        url = s3.generate_presigned_url("get_object", Params={"Bucket": box, "Key": key})
        with urllib.request.urlopen(url) as answer:
            assert answer.read() == str(number).encode(), key
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=box, PaginationConfig={"PageSize": 3})
    assert [one["Key"] for page in pages for one in page["Contents"]] == sorted(NAMES, key=str.encode)
    s3.copy_object(Bucket=box, Key="copied", CopySource={"Bucket": box, "Key": NAMES[1]})
    assert s3.get_object(Bucket=box, Key="copied")["Body"].read() == b"1"
    for key in [*NAMES, "copied"]:
        s3.delete_object(Bucket=box, Key=key)
    assert s3.list_objects_v2(Bucket=box)["KeyCount"] == 0


@pytest.mark.parametrize("key", ["x" * 1025, "é" * 513])
def test_a_longer_name_is_refused(bench, box, key):
    with pytest.raises(ClientError) as caught:
        bench.s3.put_object(Bucket=box, Key=key, Body=b"x")
    assert caught.value.response["Error"]["Code"] == "KeyTooLongError"


def test_a_name_that_is_no_text_is_refused(bench):
    status, answer, _ = ask_signed(bench.emulator.credentials, f"{bench.emulator.endpoint_url}/bucket/a%ff", "PUT", b"x")
    assert (status, b"<Code>InvalidURI</Code>" in answer) == (400, True)


def test_several_of_odd_names_are_deleted_at_once(bench, box):
    keys = ["\r\n", "a&b<c>", "é", "e\u0301"]
    put(bench, box, *keys)
    answer = bench.s3.delete_objects(Bucket=box, Delete={"Objects": [{"Key": key} for key in keys]})
    assert [one["Key"] for one in answer["Deleted"]] == keys
    assert bench.s3.list_objects_v2(Bucket=box)["KeyCount"] == 0


def test_what_a_checksum_in_the_end_of_a_body_belongs_to_is_kept(bench, box):
    bench.s3.put_object(Bucket=box, Key="k", Body=io.BytesIO(b"x" * 100_000), ChecksumAlgorithm="CRC32")
    assert bench.s3.get_object(Bucket=box, Key="k")["Body"].read() == b"x" * 100_000


NO_BUCKETS = [
    "my_bucket",
    "a..b",
    "-abc",
    "192.168.1.1",
    "xn--a",
    "Abc",
    "ab",
    "a" * 64,
    "abc-",
    "abc.",
    "sthree-a",
    "a-s3alias",
    "a--ol-s3",
]


@pytest.mark.parametrize("name", NO_BUCKETS)
def test_buckets_that_s3_would_not_make_are_refused(bench, name):
    status, answer, _ = ask_signed(bench.emulator.credentials, f"{bench.emulator.endpoint_url}/{name}", "PUT")
    assert (status, b"<Code>InvalidBucketName</Code>" in answer) == (400, True)


@pytest.mark.parametrize("name", ["good-bucket.1", "abc", "1a2", "b" * 63])
def test_buckets_that_s3_would_make_are_made(bench, name):
    assert ask_signed(bench.emulator.credentials, f"{bench.emulator.endpoint_url}/{name}", "PUT")[0] == 200
    bench.s3.delete_bucket(Bucket=name)
