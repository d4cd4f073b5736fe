import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from benchmarking.datasets import EmbeddedS3, prepare
from benchmarking.datasets.s3upload import upload
from definitions.errors import OutriderError, UserError
from definitions.schema import BytesDataset, ImagesDataset, PathDataset, S3Dataset

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with EmbeddedS3(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    return server.target.client()


def keys(client, prefix=""):
    listed = client.list_objects_v2(Bucket="outrider", Prefix=prefix)
    return [entry["Key"] for entry in listed.get("Contents", [])]


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid, within_s=90.0):
    deadline = time.monotonic() + within_s
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not is_alive(pid)


def listening_addresses(pid):
    inodes = {str(link.readlink()).removeprefix("socket:[").removesuffix("]") for link in Path(f"/proc/{pid}/fd").iterdir()}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                found.append(fields[1])
    return found


def test_a_copy_is_made_once(server, client, tmp_path):
    spec = ImagesDataset(type="images", samples=6, image_size=32)
    made = prepare("photos", spec, cache=tmp_path, s3=server.target)
    root = made.path.parent.name
    assert made.uri == f"s3://outrider/datasets/{root}/data/"
    assert keys(client, f"datasets/{root}/data/") == [
        f"datasets/{root}/data/{('china', 'flower')[index % 2]}/{index:06d}.jpg" for index in (0, 2, 4, 1, 3, 5)
    ]

    class Counting:
        def __init__(self):
            self.puts = 0

        def list_objects_v2(self, **asked):
            return client.list_objects_v2(**asked)

        def get_object(self, **asked):
            return client.get_object(**asked)

        def put_object(self, **asked):
            self.puts += 1
            return client.put_object(**asked)

    counting = Counting()
    assert upload(made.path, root, server.target, client=counting) == made.uri
    assert counting.puts == 0


def test_a_half_made_copy_goes_on(server, client, tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"1")
    (tmp_path / "b.jpg").write_bytes(b"22")

    class Failing:
        def __init__(self):
            self.real = client

        def get_object(self, **asked):
            return self.real.get_object(**asked)

        def list_objects_v2(self, **asked):
            return self.real.list_objects_v2(**asked)

        def put_object(self, **asked):
            if asked["Key"].endswith("b.jpg"):
                raise RuntimeError("the cable is out")
            return self.real.put_object(**asked)

    with pytest.raises(RuntimeError, match="cable"):
        upload(tmp_path, "half", server.target, client=Failing())
    marker = json.loads(client.get_object(Bucket="outrider", Key="datasets/half/complete.json")["Body"].read())
    assert marker["complete"] is False
    first = client.head_object(Bucket="outrider", Key="datasets/half/data/a.jpg")["LastModified"]
    said = []
    upload(tmp_path, "half", server.target, say=said.append)
    assert keys(client, "datasets/half/") == ["datasets/half/complete.json", "datasets/half/data/a.jpg", "datasets/half/data/b.jpg"]
    assert client.head_object(Bucket="outrider", Key="datasets/half/data/a.jpg")["LastModified"] == first
    assert json.loads(client.get_object(Bucket="outrider", Key="datasets/half/complete.json")["Body"].read()) == {
        "content": "half",
        "complete": True,
        "objects": 2,
        "bytes": 3,
    }


def test_what_was_lost_in_s3_is_sent_again(server, client, tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"1")
    (tmp_path / "b.jpg").write_bytes(b"22")
    upload(tmp_path, "lost", server.target)
    client.delete_object(Bucket="outrider", Key="datasets/lost/data/a.jpg")
    client.put_object(Bucket="outrider", Key="datasets/lost/data/b.jpg", Body=b"2")
    upload(tmp_path, "lost", server.target)
    assert client.get_object(Bucket="outrider", Key="datasets/lost/data/a.jpg")["Body"].read() == b"1"
    assert client.get_object(Bucket="outrider", Key="datasets/lost/data/b.jpg")["Body"].read() == b"22"


def test_another_set_under_the_same_key_is_refused(server, client, tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"1")
    upload(tmp_path, "taken", server.target, content="one")
    (tmp_path / "a.jpg").write_bytes(b"2")
    with pytest.raises(UserError, match=r"another data set is there \(one\)\n.*another prefix"):
        upload(tmp_path, "taken", server.target, content="other")
    assert client.get_object(Bucket="outrider", Key="datasets/taken/data/a.jpg")["Body"].read() == b"1"


def test_copies_are_made_by_the_server(server, client, tmp_path):
    spec = BytesDataset(type="bytes", samples=3, size=10, copies=3)
    sent = []

    class Counting:
        def __getattr__(self, name):
            real = getattr(client, name)

            def call(**asked):
                sent.append((name, asked.get("Key", "").rpartition("/data/")[2]))
                return real(**asked)

            return call

    local = prepare("d", spec, cache=tmp_path)
    uri = upload(local.path, "copied", server.target, copies=3, client=Counting())
    prefix = uri.removeprefix("s3://outrider/")
    assert sorted(keys(client, prefix)) == sorted(f"{prefix}{path.relative_to(local.path)}" for path in local.path.rglob("*.bin"))
    assert sorted(key for name, key in sent if name == "put_object" and key.endswith(".bin")) == [
        f"00000{number}.bin" for number in range(3)
    ]
    assert sum(name == "copy_object" for name, _ in sent) == 6
    body = client.get_object(Bucket="outrider", Key=f"{prefix}copy-3/000001.bin")["Body"].read()
    assert body == (local.path / "000001.bin").read_bytes()


def test_own_folder_is_copied_anew_when_it_changes(server, client, tmp_path):
    (tmp_path / "1.jpg").write_bytes(b"1")
    first = prepare("own", PathDataset(type="path", path=str(tmp_path)), cache=tmp_path, s3=server.target)
    (tmp_path / "2.jpg").write_bytes(b"2")
    second = prepare("own", PathDataset(type="path", path=str(tmp_path)), cache=tmp_path, s3=server.target)
    assert first.uri != second.uri
    assert len(keys(client, second.uri.removeprefix("s3://outrider/"))) == 2


def test_prefix_in_s3_is_checked(server, client, tmp_path):
    client.put_object(Bucket="outrider", Key="mine/x/1.tar", Body=b"x")
    found = prepare("mine", S3Dataset(type="s3", uri="s3://outrider/mine", format="tar"), cache=tmp_path, s3=server.target)
    assert (found.path, found.uri, found.layout) == (None, "s3://outrider/mine", "shards")
    with pytest.raises(UserError, match="only in S3"):
        found.location("local")
    with pytest.raises(UserError, match="no object under this prefix"):
        prepare("mine", S3Dataset(type="s3", uri="s3://outrider/yours"), cache=tmp_path, s3=server.target)


def test_bucket_that_is_missing_is_the_users_to_mend(server, tmp_path):
    with pytest.raises(UserError, match="NoSuchBucket"):
        prepare("a", ImagesDataset(type="images", samples=1, image_size=8), cache=tmp_path, s3=replace(server.target, bucket="elsewhere"))


def test_only_who_has_the_servers_own_credentials_is_answered(server, client, tmp_path):
    client.put_object(Bucket="outrider", Key="mine", Body=b"x")
    for access_key in ("outrider-embedded", f"{server.target.access_key}0"):
        with pytest.raises(ClientError) as caught:
            replace(server.target, access_key=access_key).client().get_object(Bucket="outrider", Key="mine")
        assert (caught.value.response["Error"]["Code"], caught.value.response["ResponseMetadata"]["HTTPStatusCode"]) == (
            "InvalidAccessKeyId",
            403,
        )
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"{server.endpoint_url}/outrider/mine")
    with EmbeddedS3(tmp_path) as other:
        assert other.target.access_key != server.target.access_key
        shown = Path(f"/proc/{other.pid}/cmdline").read_text()
        assert other.target.access_key not in shown
        assert other.target.secret_key not in shown


def test_two_experiments_serve_one_cache(tmp_path):
    with EmbeddedS3(tmp_path) as one, EmbeddedS3(tmp_path) as other:
        one.target.client().put_object(Bucket="outrider", Key="a", Body=b"first")
        assert other.target.client().get_object(Bucket="outrider", Key="a")["Body"].read() == b"first"
        other.target.client().put_object(Bucket="outrider", Key="a", Body=b"second")
        assert one.target.client().get_object(Bucket="outrider", Key="a")["Body"].read() == b"second"
        # what no object refers to may be one that the other is about to register
        unregistered = tmp_path / "contents" / "zz" / "unregistered"
        unregistered.parent.mkdir()
        unregistered.touch()
        with EmbeddedS3(tmp_path):
            assert unregistered.exists()
    with EmbeddedS3(tmp_path) as alone:
        assert not unregistered.exists()
        assert alone.target.client().get_object(Bucket="outrider", Key="a")["Body"].read() == b"second"


def test_server_listens_on_loopback_alone_and_ends_with_its_block(tmp_path):
    with EmbeddedS3(tmp_path, bucket="mine") as running:
        pid = running.pid
        port = int(running.endpoint_url.rpartition(":")[2])
        assert listening_addresses(pid) == [f"0100007F:{port:04X}"]
        assert running.endpoint_url.startswith("http://127.0.0.1:")
        assert running.environment["AWS_ENDPOINT_URL"] == running.environment["AWS_ENDPOINT_URL_S3"] == running.endpoint_url
        assert running.environment["AWS_EC2_METADATA_DISABLED"] == "true"
        running.target.client().put_object(Bucket="mine", Key="kept", Body=b"of an earlier run")
    assert not is_alive(pid)
    with EmbeddedS3(tmp_path, bucket="mine") as again:
        assert again.target.client().get_object(Bucket="mine", Key="kept")["Body"].read() == b"of an earlier run"


def test_small_objects_do_not_wait_for_delayed_acknowledgements(client):
    client.put_object(Bucket="outrider", Key="small", Body=b"x" * 3000)
    fast = 0
    for _ in range(1000):
        started_at = time.monotonic()
        client.get_object(Bucket="outrider", Key="small")["Body"].read()
        # With Nagle's algorithm each takes at least 40 ms, and so do some without it on a busy machine: it is asked until enough did not.
        fast += time.monotonic() - started_at < 0.04
        if fast == 40:
            return
    pytest.fail(f"of 1000 small objects {fast} came in less than 40 ms")


@pytest.mark.parametrize("forked_holder", [False, True])
def test_server_dies_with_its_parent_however_that_dies(tmp_path, forked_holder):
    # a forked process that outlives the parent holds all its pipes open
    program = (
        "import os, sys, time; from pathlib import Path; from benchmarking.datasets import EmbeddedS3\n"
        "with EmbeddedS3(Path(sys.argv[1])) as s:\n"
        "    holder = os.fork() if sys.argv[2] == 'True' else -1\n"
        "    if holder == 0:\n"
        "        time.sleep(60)\n"
        "    print(s.pid, holder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), str(forked_holder)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    pid, holder = map(int, parent.stdout.readline().split())
    try:
        assert is_alive(pid)
        parent.kill()
        parent.wait()
        assert gone(pid)
    finally:
        parent.stdout.close()
        if holder > 0:
            os.kill(holder, signal.SIGKILL)


def test_server_that_cannot_start_says_why(tmp_path):
    folder = tmp_path / "s3"
    folder.mkdir()
    (folder / "contents").write_text("in the way")
    running = EmbeddedS3(folder)
    with pytest.raises(OutriderError, match=r"did not start: the folder .*contents; a file of this name is there; give another folder$"):
        running.__enter__()
    assert running.pid == 0


def test_a_proxy_is_not_asked_for_loopback(tmp_path, monkeypatch):
    import boto3

    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "intranet")
    monkeypatch.delenv("no_proxy", raising=False)
    with EmbeddedS3(tmp_path) as running:
        running.target.client().put_object(Bucket="outrider", Key="a", Body=b"x")
        assert running.environment["NO_PROXY"] == "intranet,127.0.0.1"
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        assert boto3.session.Session().client("s3").get_object(Bucket="outrider", Key="a")["Body"].read() == b"x"


def test_the_connectors_parts_and_ranges(server, monkeypatch):
    pytest.importorskip("s3torchconnector")
    from s3torchconnector import S3ClientConfig
    from s3torchconnector._s3client import S3Client

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", server.target.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", server.target.secret_key)
    connector = S3Client("us-east-1", endpoint=server.endpoint_url, s3client_config=S3ClientConfig(force_path_style=True))
    content = os.urandom(20 << 20)
    writer = connector.put_object("outrider", "in-parts")
    for start in range(0, len(content), 3 << 20):
        writer.write(content[start : start + (3 << 20)])
    writer.close()
    head = server.target.client().head_object(Bucket="outrider", Key="in-parts")
    assert (head["ContentLength"], head["ETag"].strip('"').rpartition("-")[2]) == (len(content), "3")
    assert connector.get_object("outrider", "in-parts").read() == content
    reader = connector.get_object("outrider", "in-parts")
    reader.seek(9_000_000)
    assert reader.read(1000) == content[9_000_000:9_001_000]
    assert [entry.key for page in connector.list_objects("outrider", "in-") for entry in page.object_info] == ["in-parts"]


def test_what_is_kept_is_closed_to_other_users(tmp_path):
    folder = tmp_path / "s3"
    before = os.umask(0)
    try:
        with EmbeddedS3(folder) as running:
            running.target.client().put_object(Bucket="outrider", Key="a", Body=b"x")
            kept = [folder, *folder.rglob("*")]
            assert [path for path in kept if path.stat().st_mode & 0o077] == []
            assert len(kept) > 4
    finally:
        os.umask(before)


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_no_web_page_is_answered(server, client, headers):
    client.put_object(Bucket="outrider", Key="page", Body=b"x")
    url = client.generate_presigned_url("get_object", Params={"Bucket": "outrider", "Key": "page"})
    with urllib.request.urlopen(url) as answer:
        assert answer.read() == b"x"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(url, headers=headers))
