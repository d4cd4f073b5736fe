"""Data sets on S3 servers that are not ours, so that client and server cannot be wrong in the same way."""

from __future__ import annotations

import threading
from dataclasses import replace
from http.server import ThreadingHTTPServer

import pytest

from benchmarking.datasets import S3Target, prepare, upload
from benchmarking.datasets.s3target import list_objects, objects_under, put_object
from definitions.errors import UserError
from definitions.schema import S3Dataset

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["localbucket", "moto"])
def target(request, tmp_path_factory):
    if request.param == "localbucket":
        handler = pytest.importorskip("localbucket").S3Handler
        handler.data_root = tmp_path_factory.mktemp("s3")
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        port, stop = server.server_address[1], server.shutdown
    else:
        server = pytest.importorskip("moto.server").ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        server.start()
        port, stop = server.get_host_and_port()[1], server.stop
    found = S3Target("theirs", endpoint_url=f"http://127.0.0.1:{port}", access_key="x", secret_key="x", region="us-east-1")
    found.client().create_bucket(Bucket="theirs")
    yield found
    stop()


def test_a_folder_is_uploaded_listed_and_not_uploaded_again(target, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.jpg").write_bytes(b"one")
    (tmp_path / "2.jpg").write_bytes(b"zwei")
    uri = upload(tmp_path, "key", target)
    assert uri == "s3://theirs/datasets/key/data/"
    assert sorted(list_objects(uri, target)) == [("2.jpg", 4), ("a/1.jpg", 3)]
    assert target.client().get_object(Bucket="theirs", Key="datasets/key/data/a/1.jpg")["Body"].read() == b"one"
    # What has its name and size there is the same, as the key names the content.
    (tmp_path / "2.jpg").write_bytes(b"vier")
    upload(tmp_path, "key", target)
    assert target.client().get_object(Bucket="theirs", Key="datasets/key/data/2.jpg")["Body"].read() == b"zwei"
    assert sorted(list_objects(uri, target)) == [("2.jpg", 4), ("a/1.jpg", 3)]


def test_what_is_there_is_found(target, tmp_path):
    assert put_object("mine/x/1.tar", b"x", target) == "s3://theirs/datasets/mine/x/1.tar"
    assert list(objects_under("s3://theirs/datasets/mine", target)) == [("x/1.tar", 1)]
    assert list_objects("s3://theirs/datasets/yours", target) == []
    found = prepare("mine", S3Dataset(type="s3", uri="s3://theirs/datasets/mine", format="tar"), cache=tmp_path, s3=target)
    assert (found.uri, found.layout) == ("s3://theirs/datasets/mine", "shards")
    with pytest.raises(UserError, match="NoSuchBucket"):
        list_objects("s3://nowhere/x", replace(target, bucket="nowhere"))
