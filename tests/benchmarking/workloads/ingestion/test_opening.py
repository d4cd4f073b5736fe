import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from torch.utils.data import DataLoader

from benchmarking.datasets import EmbeddedS3, prepare
from benchmarking.workloads.ingestion import Channel, held_out, open_channel
from benchmarking.workloads.ingestion.stores.boto3_store import Boto3
from definitions.ingestion import INGESTIONS
from definitions.schema import ImagesDataset

ROOT = Path(__file__).resolve().parents[4]
SAMPLES = 40


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    with EmbeddedS3(folder / "s3") as server:
        sets = {
            layout: prepare(
                layout,
                ImagesDataset(type="images", format=form, samples=SAMPLES, image_size=32, shard_size="16KiB"),
                cache=folder / "cache",
                s3=server.target,
            )
            for layout, form in (("files", "jpg"), ("shards", "tar"))
        }
        yield sets, server.environment


@pytest.fixture
def s3_only(world, monkeypatch):
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in world[1].items():
        monkeypatch.setenv(name, value)
    return world


def read(channel, environment, *, workers=0, epoch=0):
    dataset, map_style = open_channel(channel, environment, seed=0, epoch=epoch)
    loader = DataLoader(dataset, batch_size=7, num_workers=workers, shuffle=map_style, collate_fn=list)
    return [sample for batch in loader for sample in batch]


def labels(samples):
    return {key: label for key, _, label in samples}


EXPECTED = {f"{index:06d}": index % 2 for index in range(SAMPLES)}


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["files", "shards"])
@pytest.mark.parametrize(
    ("ingestion", "workers"), [("local", 2), ("s3_map", 0), ("s3_map", 2), ("s3_iterable", 0), ("s3_iterable", 2), ("boto3", 0)]
)
def test_every_reader_gives_each_sample_once(s3_only, ingestion, layout, workers):
    sets, environment = s3_only
    entry = INGESTIONS[ingestion]
    channel = Channel(sets[layout].location(entry.input_mode), entry.layouts[layout], layout)
    samples = read(channel, environment, workers=workers)
    assert len(samples) == SAMPLES
    assert labels(samples) == EXPECTED
    assert {tuple(image.shape) for _, image, _ in samples} == {(32, 32, 3)}


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["files", "shards"])
def test_fsspec_reads_both_layouts(world, layout):
    assert labels(read(Channel(str(world[0][layout].path), "fsspec", layout), {})) == EXPECTED


@pytest.mark.slow
def test_images_are_the_same_through_s3_and_from_disk(s3_only):
    sets, environment = s3_only
    local = {key: image for key, image, _ in read(Channel(str(sets["files"].path), "files", "files"), {})}
    remote = {key: image for key, image, _ in read(Channel(sets["shards"].uri, "s3_iterable", "shards"), environment)}
    assert all((local[key] == remote[key]).all() for key in EXPECTED)


@pytest.mark.slow
def test_each_epoch_has_its_own_order(world):
    channel = Channel(str(world[0]["shards"].path), "tar", "shards")
    first, second, again = (list(labels(read(channel, {}, epoch=epoch))) for epoch in (0, 1, 0))
    assert first == again
    assert first != second
    assert sorted(first) == sorted(second)


@pytest.mark.slow
def test_pipe_reads_archives_that_follow_each_other_from_a_fifo(world, tmp_path):
    shards = sorted(world[0]["shards"].path.iterdir())
    assert len(shards) > 1
    os.mkfifo(tmp_path / "train_3")

    def feed():
        with (tmp_path / "train_3").open("wb") as fifo:
            for shard in shards:
                fifo.write(shard.read_bytes())

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    samples = read(Channel(str(tmp_path / "train"), "pipe", "shards"), {}, epoch=3)
    feeder.join(10)
    assert len(samples) == SAMPLES
    assert labels(samples) == EXPECTED


@pytest.mark.slow
def test_every_reader_in_the_ingestion_table_exists(world):
    for entry in INGESTIONS.values():
        for layout, reader in entry.layouts.items():
            location = str(world[0][layout].path) if entry.input_mode != "none" or reader == "fsspec" else world[0][layout].uri
            if not reader.startswith(("s3_", "boto3")):
                open_channel(Channel(location, reader, layout), {}, seed=0, epoch=0)
    with pytest.raises(SystemExit, match="there is no reader 'tape'"):
        open_channel(Channel("x", "tape", "files"), {}, seed=0, epoch=0)


def test_empty_channel_is_said(tmp_path):
    with pytest.raises(SystemExit, match=r"holds no \.tar files"):
        open_channel(Channel(str(tmp_path), "tar", "shards"), {}, seed=0, epoch=0)


def test_channel_is_read_from_the_environment():
    ours = {
        "OUTRIDER_CHANNEL_TRAIN": "s3://b/k",
        "OUTRIDER_READER_TRAIN": "s3_map",
        "OUTRIDER_LAYOUT_TRAIN": "shards",
        "SM_CHANNEL_TRAIN": "/x",
    }
    assert Channel.announced(ours) == Channel("s3://b/k", "s3_map", "shards")
    assert Channel.announced({"SM_CHANNEL_TRAIN": "/opt/ml/input/data/train"}) == Channel("/opt/ml/input/data/train", "files", "files")
    assert Channel.announced({"SM_CHANNEL_TRAIN": "/x", "OUTRIDER_LAYOUT_TRAIN": "shards"}).reader == "tar"
    with pytest.raises(SystemExit, match="no channel 'train'"):
        Channel.announced({})


def test_about_a_tenth_is_held_out():
    assert sum(held_out(f"{index:06d}") for index in range(2000)) == pytest.approx(200, abs=40)


@pytest.mark.slow
def test_boto3_connects_once_and_anew_after_a_fork(s3_only, monkeypatch):
    import boto3

    sessions, session = [], boto3.session.Session
    monkeypatch.setattr(boto3.session, "Session", lambda: sessions.append(1) or session())
    store = Boto3(s3_only[0]["files"].uri)
    assert len(store.names()) == SAMPLES
    store.names()
    assert len(sessions) == 1
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert len(store.names()) == SAMPLES
    assert len(sessions) == 2


@pytest.mark.slow
def test_script_runs_alone(world, tmp_path):
    sets, environment = world
    command = [sys.executable, str(ROOT / "benchmarking" / "workloads" / "image_ingestion.py")]
    ran = subprocess.run(
        [*command, "--epochs", "2", "--batch_size", "8", "--loader_workers", "1", "--image_size", "32"],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "backends" / "reporter"),
            **environment,
            "OUTRIDER_CHANNEL_TRAIN": sets["shards"].uri,
            "OUTRIDER_READER_TRAIN": "s3_iterable",
            "OUTRIDER_LAYOUT_TRAIN": "shards",
            "OUTRIDER_CORES": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    reports = [json.loads(line.partition(": ")[2]) for line in ran.stdout.splitlines() if line.startswith("[tune-metric]:")]
    assert [one["epoch"] for one in reports] == [1, 2]
    held = sum(held_out(key) for key in EXPECTED)
    for one in reports:
        assert one["samples"] == SAMPLES
        assert one["samples_per_s"] > 0
        assert 0 < one["first_batch_s"] < 60
        assert (one["accuracy"] * held) == pytest.approx(round(one["accuracy"] * held))
    assert reports[1]["loss"] < reports[0]["loss"]
    summaries = [line for line in ran.stdout.splitlines() if line.startswith("[outrider-summary]:")]
    summary = json.loads(summaries[-1].partition(": ")[2])
    assert summary["samples"] == 2 * SAMPLES
    assert {"startup", "load", "train"} <= set(summary["phases_s"])
