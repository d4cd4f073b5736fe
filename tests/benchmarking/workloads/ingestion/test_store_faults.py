"""Reading from a store that fails, and in workers that die."""

import io
import os
import signal
import tarfile
from importlib.util import find_spec
from multiprocessing import forkserver

import pytest

from benchmarking.datasets import EmbeddedS3
from benchmarking.workloads.ingestion import BadSampleError, Channel, Knobs, make_loader, open_channel
from benchmarking.workloads.ingestion.stores.base import ATTEMPTS
from tests.benchmarking.workloads.ingestion.contract import keep, read

pytestmark = pytest.mark.slow
OBJECTS = 12
CONTENT = bytes(range(256)) * 40


@pytest.fixture
def store(tmp_path, monkeypatch):
    servers = []

    def start(*faults, content=CONTENT):
        server = EmbeddedS3(tmp_path / f"s3-{len(servers)}", faults=faults)
        servers.append(server)
        server.__enter__()
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "2")
        client = server.target.client()
        for number in range(OBJECTS):
            client.put_object(Bucket="outrider", Key=f"data/{number:02}.bin", Body=content if number != 5 else CONTENT)
        return server

    yield start
    for server in servers:
        server.__exit__(None, None, None)


def channel(reader, mode="none"):
    return Channel("s3://outrider/data/", reader, "files", format="bin", labels="none", input_mode=mode)


def contents(reader, mode="none", **given):
    knobs = Knobs(batch_size=5, **given)
    with open_channel(channel(reader, mode), os.environ, knobs) as opened:
        return [sample.content for sample in read(opened, knobs)], opened.tolerance.counts()


READERS = [("s3_map", "none"), ("s3_iterable", "none"), ("files", "fastfile"), ("boto3", "none")]
COPYING = ("files", "file")


@pytest.mark.parametrize(("reader", "mode"), [*READERS, COPYING])
@pytest.mark.parametrize("kind", ["truncate", "reset"])
def test_a_body_that_breaks_off_is_read_again(store, reader, mode, kind):
    store({"kind": kind, "operation": "GetObject", "key": "data/0[37].bin", "times": 2, "share": 0.4})
    found, counts = contents(reader, mode)
    assert found == [CONTENT] * OBJECTS
    assert counts["bad_samples"] == 0
    if reader == "boto3":  # the connector's client tries again by itself
        assert counts["read_retries"] == counts["read_errors"] == 2


@pytest.mark.parametrize(("reader", "mode"), [*READERS, COPYING])
def test_a_storm_of_503_passes(store, reader, mode):
    store({"kind": "s3_error", "operation": "GetObject", "status": 503, "code": "SlowDown", "times": 4})
    assert contents(reader, mode)[0] == [CONTENT] * OBJECTS


@pytest.mark.parametrize(("reader", "mode"), READERS)
def test_an_object_that_cannot_be_had_is_named_and_may_be_skipped(store, reader, mode):
    store({"kind": "s3_error", "operation": "GetObject", "key": "data/07.bin", "status": 403, "code": "AccessDenied"})
    with pytest.raises(BadSampleError, match=r"s3://outrider/data/07\.bin: it cannot be read"):
        contents(reader, mode)
    found, counts = contents(reader, mode, max_bad_samples=1)
    assert len(found) == OBJECTS - 1
    assert counts["bad_samples"] == 1


def test_what_file_mode_cannot_copy_ends_it_with_its_name(store):
    """Not skipped: what a platform cannot copy it has no job for."""
    store({"kind": "s3_error", "operation": "GetObject", "key": "data/07.bin", "status": 403, "code": "AccessDenied"})
    with pytest.raises(SystemExit, match=r"s3://outrider/data/07\.bin: it cannot be copied to the disk, .*: S3Exception: .*Forbidden"):
        contents(*COPYING, max_bad_samples=3)


SHARDS = [("s3_map", "none"), ("s3_iterable", "none"), ("tar", "fastfile"), ("tar", "file"), ("boto3", "none"), ("pipe", "pipe")]


def shards(server, reader, mode, **given):
    """Open four shards of three samples each."""
    client = server.target.client()
    for number in range(4):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w") as archive:
            for sample in range(3):
                info = tarfile.TarInfo(f"{number}{sample}.jpg")
                info.size = len(CONTENT)
                archive.addfile(info, io.BytesIO(CONTENT))
        client.put_object(Bucket="outrider", Key=f"tars/{number}.tar", Body=made.getvalue())
    told = Channel("s3://outrider/tars/", reader, "shards", format="tar", labels="none", input_mode=mode)
    return open_channel(told, os.environ, Knobs(batch_size=5, shuffle=False, **given))


def keys(opened, epoch=0):
    return [sample.key for sample in read(opened, Knobs(batch_size=5), epoch)]


KEYS = [f"{number}{sample}" for number in range(4) for sample in range(3)]


@pytest.mark.parametrize(("reader", "mode"), [*SHARDS, ("webdataset", "none")])
@pytest.mark.parametrize("kind", ["truncate", "reset"])
def test_a_shard_that_breaks_off_is_read_on_from_there(store, reader, mode, kind):
    if reader == "webdataset" and find_spec("webdataset") is None:
        pytest.skip("webdataset is not installed")
    server = store({"kind": kind, "operation": "GetObject", "key": "tars/[12].tar", "times": 2, "share": 0.4})
    with shards(server, reader, mode) as opened:
        assert keys(opened) == KEYS


@pytest.mark.parametrize(("reader", "mode"), SHARDS)
def test_a_shard_that_cannot_be_had_ends_the_reading_with_its_name(store, reader, mode):
    """Whoever fills a FIFO ends it there, which looks like the end of the data."""
    server = store({"kind": "s3_error", "operation": "GetObject", "key": "tars/2.tar", "status": 403, "code": "AccessDenied"})
    words = r"s3://outrider/tars/2\.tar: it cannot be (read|copied)"
    with pytest.raises((BadSampleError, SystemExit), match=words), shards(server, reader, mode) as opened:
        keys(opened)


def test_after_a_fifo_that_ended_too_early_the_next_epoch_has_its_own(store):
    refused = {"kind": "s3_error", "operation": "GetObject", "key": "tars/2.tar", "status": 403, "code": "AccessDenied", "times": ATTEMPTS}
    with shards(store(refused), "pipe", "pipe", max_bad_samples=9) as opened:
        with pytest.raises(BadSampleError, match=r"channel_0: s3://outrider/tars/2\.tar: it cannot be read"):
            keys(opened)
        assert keys(opened, 1) == KEYS


@pytest.mark.parametrize(("reader", "mode"), READERS)
def test_an_empty_object_is_named(store, reader, mode):
    server = store()
    server.target.client().put_object(Bucket="outrider", Key="data/03.bin", Body=b"")
    with pytest.raises(BadSampleError, match=r"data/03\.bin: (it is empty|it cannot be read)"):
        contents(reader, mode)


def test_an_object_that_vanishes_between_listing_and_reading_is_named(store):
    server = store()
    for reader, mode in READERS:
        server.target.client().put_object(Bucket="outrider", Key="data/04.bin", Body=CONTENT)
        knobs = Knobs(batch_size=5)
        with open_channel(channel(reader, mode), os.environ, knobs) as opened:
            server.target.client().delete_object(Bucket="outrider", Key="data/04.bin")
            with pytest.raises(BadSampleError, match=r"data/04\.bin: it cannot be read: "):
                read(opened, knobs)


def test_a_loader_worker_that_is_killed_ends_the_reading_with_its_number(tmp_path):
    for number in range(40):
        (tmp_path / f"{number:03}.bin").write_bytes(b"x")
    knobs = Knobs(batch_size=2, loader_workers=2)
    with open_channel(Channel(str(tmp_path), "files", "files", format="bin", labels="none"), {}, knobs) as opened:
        batches = iter(make_loader(opened, knobs, keep))
        next(batches)
        victim = batches._workers[0].pid  # noqa: SLF001  (no face of torch's names its workers)
        os.kill(victim, signal.SIGKILL)
        with pytest.raises(RuntimeError, match=rf"worker.*{victim}"):
            for _ in batches:
                pass


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_workers_that_are_not_forked_read_the_same(store, method):
    store()
    # A server of workers that an earlier test has left knows the environment of then, with no credentials in it.
    forkserver._forkserver._stop()  # noqa: SLF001 (nothing public ends it)
    for reader in ("s3_map", "s3_iterable", "boto3"):
        assert contents(reader, loader_workers=1, start_method=method)[0] == [CONTENT] * OBJECTS
