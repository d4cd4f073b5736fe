"""What travels to jobs is uploaded once, and whole."""

from __future__ import annotations

import gzip
import io
import json

import pytest

from backends.emulator import Emulator
from backends.sagemaker.aws.errors import CloudError, FailureKind
from backends.sagemaker.code.packing import ARCHIVE, pack
from backends.sagemaker.code.upload import fits, upload_arguments, upload_code
from definitions.errors import OutriderError
from tests.backends.sagemaker.aws.fake_s3 import FakeClient, refused


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    write(folder, {"train.py": "print(1)\n", "requirements.txt": "numpy\n"})
    return folder


def archive(package):
    buffer = io.BytesIO()
    package.write(buffer)
    return buffer.getvalue()


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("arguments", "fitting"),
    [
        (["x" * 256], True),
        (["x" * 257], False),
        (["x"] * 99, True),
        (["x"] * 100, False),
        (["two\nlines"], False),
        ([""], True),
    ],
)
def test_arguments_fit_into_a_request(arguments, fitting):
    assert fits("train.py", arguments) is fitting


class Counted:
    """A boto3 client that counts its calls."""

    def __init__(self, client):
        self.client, self.calls = client, []
        client.meta.events.register("before-call", lambda model, **_: self.calls.append(model.name))


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as running:
        running.create_bucket("bucket")
        yield running


@pytest.mark.slow
def test_the_same_content_is_uploaded_once(emulator, source):
    client = emulator.client("s3")
    counted = Counted(client)
    uri = upload_code(pack(source), client, "bucket", "outrider")
    assert uri == f"s3://bucket/outrider/code/{pack(source).hash}/"
    assert counted.calls == ["HeadObject", "PutObject", "PutObject", "PutObject", "PutObject"]
    counted.calls.clear()
    assert upload_code(pack(source), client, "bucket", "outrider") == uri
    assert counted.calls == ["HeadObject"]
    content = client.get_object(Bucket="bucket", Key=f"outrider/code/{pack(source).hash}/{ARCHIVE}")["Body"].read()
    assert gzip.decompress(content) == gzip.decompress(archive(pack(source)))


@pytest.mark.slow
def test_an_upload_that_was_cut_short_is_made_anew(emulator, source):
    write(source, {"train.py": "print('cut short')\n"})
    client = emulator.client("s3")
    counted = Counted(client)
    emulator.add_faults([{"kind": "s3_error", "operation": "PutObject", "code": "AccessDenied", "status": 403, "after": 1, "times": 1}])
    with pytest.raises(OutriderError, match="AccessDenied"):
        upload_code(pack(source), client, "bucket", "")
    counted.calls.clear()
    upload_code(pack(source), client, "bucket", "")
    assert counted.calls == ["HeadObject", "PutObject", "PutObject", "PutObject", "PutObject"]


@pytest.mark.slow
def test_arguments_are_a_file_of_the_job(emulator):
    client = emulator.client("s3")
    uri = upload_arguments({"script": "train.py", "arguments": ["--x", "é\n"]}, client, "bucket", "/outrider/", "tag/demo", "demo-t1-a1")
    assert uri == "s3://bucket/outrider/jobs/tag/demo/demo-t1-a1/"
    body = client.get_object(Bucket="bucket", Key="outrider/jobs/tag/demo/demo-t1-a1/arguments.json")["Body"].read()
    assert json.loads(body) == {"script": "train.py", "arguments": ["--x", "é\n"]}


def test_credentials_that_expire_in_the_middle_of_an_upload_leave_nothing_that_counts(source):
    expired = refused("ExpiredToken", operation="PutObject")
    package, missing = pack(source), refused("404", 404, "HeadObject")
    client = FakeClient(head_object=[missing, missing], put_object=[{}, {}, expired, {}, {}, {}, {}])
    with pytest.raises(CloudError) as caught:
        upload_code(package, client, "b", "p")
    assert caught.value.failure.kind is FailureKind.CREDENTIALS
    keys = [request["Key"].rpartition("/")[2] for operation, request in client.asked if operation == "put_object"]
    assert keys[-1] == ARCHIVE
    assert "complete.json" not in keys
    # Once they are renewed all of it is uploaded anew.
    assert upload_code(package, client, "b", "p") == f"s3://b/p/code/{package.hash}/"
    assert client.asked[-1][1]["Key"].endswith("complete.json")
