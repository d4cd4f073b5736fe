"""Checkpoints of a node that are kept in S3: what is brought, what is sent and when, what is cleared."""

from __future__ import annotations

import dataclasses
import itertools
import queue
import threading
import time
from pathlib import Path

import pytest

from backends.emulator import Emulator
from backends.job_spec import JobSpec
from backends.ray.mirror import PlaceInS3, S3Mirror
from backends.sagemaker.aws.clients import Clients

pytestmark = pytest.mark.slow
SPEC = JobSpec("one", 0, 1, "/s/main.py", checkpoint="t0")


class Node:
    """A node's folder, and the calls that its thread is to make."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        self.calls: queue.SimpleQueue = queue.SimpleQueue()
        self.said: list[str] = []
        self.folder = folder
        clients = Clients("us-east-1", environ)
        self.place = PlaceInS3("s3://kept/below", "tag/toy", clients, environ)
        self.store = self.place.store
        self.mirror = S3Mirror(self.store, lambda: clients.get("s3"), folder, self.calls.put, self.said.append, every_s=0.05)

    def bring(self, spec: JobSpec = SPEC) -> str:
        errors: list[str] = []
        self.mirror.bring(spec, errors.append)
        self.calls.get(timeout=60)()
        return errors[0]

    def finish(self, key: str = "t0") -> None:
        done: list[bool] = []
        self.mirror.finish(key, lambda: done.append(True))
        while not done:
            self.calls.get(timeout=60)()

    def write(self, name: str, text: str, key: str = "t0") -> None:
        path = self.folder / key / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name: str, key: str = "t0") -> str:
        return (self.folder / key / name).read_text()


@pytest.fixture(scope="module")
def emulator():
    with Emulator() as running:
        running.create_bucket("kept")
        yield running


@pytest.fixture
def nodes(emulator, tmp_path):
    """Two nodes, none of which sees the other's disk."""
    made = [Node(tmp_path / name, emulator.environment) for name in "ab"]
    made[0].store.delete(["t0", "t1"])
    return made


def until_kept(node: Node, name: str, text: bytes, key: str = "t0") -> None:
    client, deadline = node.place.clients.get("s3"), time.monotonic() + 60
    while True:
        try:
            if client.get_object(Bucket="kept", Key=node.store.folder(key) + name)["Body"].read() == text:
                return
        except client.exceptions.NoSuchKey:
            pass
        assert time.monotonic() < deadline, f"{name} is not kept"
        time.sleep(0.02)


def test_what_a_job_writes_is_kept_while_it_runs_and_another_node_goes_on_from_it(nodes):
    here, there = nodes
    assert here.bring() == ""
    here.write("deep/epoch", "3")
    here.write(".outrider-lives", "1")
    until_kept(here, "deep/epoch", b"3")  # the job has not ended, and its node may be gone from now on
    assert there.bring(dataclasses.replace(SPEC, restore_from="t0")) == ""
    assert there.read("deep/epoch") == "3"
    assert not (there.folder / "t0" / ".outrider-lives").exists()
    for node in nodes:
        node.finish()
        assert not (node.folder / "t0").exists()


def test_what_was_written_last_is_kept_at_the_end_and_what_was_deleted_is_gone(nodes):
    here, there = nodes
    here.bring()
    here.write("first", "1")
    until_kept(here, "first", b"1")
    (here.folder / "t0" / "first").unlink()
    here.write("last", "2")
    here.finish()
    there.bring(dataclasses.replace(SPEC, restore_from="t0"))
    assert sorted(path.name for path in (there.folder / "t0").iterdir()) == ["last"]
    there.finish()


def test_something_is_always_kept_of_a_job_that_writes_more_often_than_it_is_looked_at(nodes):
    here, _ = nodes
    here.mirror = S3Mirror(here.store, lambda: here.place.clients.get("s3"), here.folder, here.calls.put, here.said.append, every_s=0.5)
    here.bring()
    over = threading.Event()

    def write() -> None:
        for epoch in itertools.count():
            here.write(f"epoch-{epoch}.new", str(epoch))
            (here.folder / "t0" / f"epoch-{epoch}.new").rename(here.folder / "t0" / f"epoch-{epoch}")
            (here.folder / "t0" / f"epoch-{epoch - 1}").unlink(missing_ok=True)
            if over.wait(0.35):
                return

    writer = threading.Thread(target=write)
    writer.start()
    client, kept = here.place.clients.get("s3"), set()
    try:
        deadline = time.monotonic() + 60
        while len(kept) < 4 and time.monotonic() < deadline:
            listed = client.list_objects_v2(Bucket="kept", Prefix=here.store.folder("t0")).get("Contents", [])
            assert listed or not kept, "all were deleted before another was sent"
            kept |= {one["Key"] for one in listed}
            time.sleep(0.02)
    finally:
        over.set()
        writer.join()
    assert len(kept) >= 4
    here.finish()
    (last,) = client.list_objects_v2(Bucket="kept", Prefix=here.store.folder("t0"))["Contents"]
    assert last["Key"] == here.store.folder("t0") + max(
        (path.rsplit("/", 1)[-1] for path in {*kept, last["Key"]}), key=lambda name: int(name[6:])
    )


def test_another_trials_checkpoint_is_copied_and_one_that_starts_afresh_is_cleared(nodes):
    here, there = nodes
    here.bring()
    here.write("epoch", "7")
    here.finish()
    there.bring(dataclasses.replace(SPEC, checkpoint="t1", restore_from="t0"))
    assert there.read("epoch", "t1") == "7"
    there.finish("t1")
    assert there.store.exists("t1")
    here.bring(dataclasses.replace(SPEC, checkpoint="t1"))
    assert not there.store.exists("t1")
    assert [*(here.folder / "t1").iterdir()] == []
    here.finish("t1")


def test_a_bucket_that_is_not_there_is_why_a_job_cannot_start(emulator, tmp_path):
    node = Node(tmp_path, emulator.environment)
    node.mirror = S3Mirror(
        dataclasses.replace(node.place, uri="s3://nowhere").store,
        lambda: node.place.clients.get("s3"),
        tmp_path,
        node.calls.put,
        node.said.append,
    )
    assert "nowhere" in node.bring(dataclasses.replace(SPEC, restore_from="t0"))
    node.finish()


def test_only_an_emulators_keys_go_to_nodes(emulator):
    place = PlaceInS3("s3://kept", "tag/toy", Clients("eu-west-1", emulator.environment), emulator.environment)
    assert place.way()["AWS_ENDPOINT_URL"] == emulator.endpoint_url
    assert "AWS_SECRET_ACCESS_KEY" in place.way()
    real = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_ENDPOINT_URL_S3": "https://s3.example"}
    assert PlaceInS3("s3://kept", "tag/toy", Clients("eu-west-1", real), real).way() == {
        "AWS_ENDPOINT_URL_S3": "https://s3.example",
        "AWS_DEFAULT_REGION": "eu-west-1",
    }
    assert str(place) == "s3://kept#tag/toy"
