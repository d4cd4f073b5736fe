"""Reading from a store that fails, and in workers that die."""

import os
import signal
from multiprocessing import forkserver

import pytest

from benchmarking.datasets import EmbeddedS3
from benchmarking.workloads.ingestion import BadSampleError, Channel, Knobs, make_loader, open_channel
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


@pytest.mark.parametrize(("reader", "mode"), READERS)
@pytest.mark.parametrize("kind", ["truncate", "reset"])
def test_a_body_that_breaks_off_is_read_again(store, reader, mode, kind):
    store({"kind": kind, "operation": "GetObject", "key": "data/0[37].bin", "times": 2, "share": 0.4})
    found, counts = contents(reader, mode)
    assert found == [CONTENT] * OBJECTS
    assert counts["bad_samples"] == 0
    if reader == "boto3":  # the connector's client tries again by itself
        assert counts["read_retries"] == counts["read_errors"] == 2


@pytest.mark.parametrize(("reader", "mode"), READERS)
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
