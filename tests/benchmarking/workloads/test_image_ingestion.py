import json
import os
import subprocess
import sys

import pytest

from benchmarking.datasets import EmbeddedS3, prepare
from benchmarking.workloads.ingestion_models.cnn import held_out
from benchmarking.workloads.measuring.bound import BOUNDS
from definitions.schema import BytesDataset, ImagesDataset, TableDataset
from tests.benchmarking.workloads.workload_runs import ROOT, reports, summaries

SAMPLES = 200


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    with EmbeddedS3(folder / "s3") as server:
        spec = ImagesDataset(type="images", format="tar", samples=SAMPLES, image_size=32, shard_size="16KiB")
        yield prepare("shards", spec, cache=folder / "cache", s3=server.target), server


def run(folder, *arguments, **environment):
    ran = subprocess.run(
        [sys.executable, str(ROOT / "benchmarking" / "workloads" / "image_ingestion.py"), "--image_size", "32", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "backends" / "reporter"), "OUTRIDER_CORES": "1", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran


@pytest.mark.slow
def test_it_runs_alone_and_measures_each_epoch(world, tmp_path):
    prepared, server = world
    ran = run(
        tmp_path, "--epochs", "2", "--batch_size", "8", "--loader_workers", "1", "--min_window_s", "0.001",
        **server.environment,
        OUTRIDER_CHANNEL_TRAIN=prepared.uri, OUTRIDER_READER_TRAIN="s3_iterable", OUTRIDER_LAYOUT_TRAIN="shards",
        OUTRIDER_STORE_PID=str(server.pid), OUTRIDER_STORE_FOLDER=str(server.contents), OUTRIDER_CEILINGS=str(tmp_path / "ceilings"),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    found = reports(ran.stdout)
    *found, bound = found
    assert [one["epoch"] for one in found] == [1, 2]
    assert bound["bound_by"] in (*BOUNDS, "not decided")
    assert {"bound_why", "ceiling_compute", "ceiling_decode", "ceiling_handover", "ceiling_reader"} <= set(bound)
    assert {"ceiling_store_latency", "ceiling_store_bandwidth"} <= set(bound)
    kinds = {path.name.partition("-")[0] for path in (tmp_path / "ceilings").glob("*.json")}
    assert kinds == {"compute", "memory", "handover", "reader", "store"}
    held = sum(held_out(f"{index:06d}") for index in range(SAMPLES))
    for one in found:
        assert one["samples"] == SAMPLES
        assert {"batch_size=8", "prefetch_factor=2", "shuffle=true", "torch_threads=1", "start_method=fork"} <= set(one["knobs"].split())
        assert one["samples_per_s"] > 0
        assert 0 < one["first_batch_s"] < one["epoch_s"] < 60
        assert 0 < one["accelerator_util"] <= 1
        assert one["wait_p50_s"] <= one["wait_p95_s"] <= one["wait_p99_s"] <= one["wait_max_s"]
        assert one["bytes"] == pytest.approx(sum(size for size in jpeg_sizes(prepared)))
        assert (one["accuracy"] * held) == pytest.approx(round(one["accuracy"] * held))
        assert {"server_cpu_s_per_sample", "workers_rss_bytes", "foreign_cpu_cores", "disturbed", "cached_share"} <= set(one)
    assert found[0]["list_s"] > 0 == found[1]["list_s"]
    assert found[1]["first_batch_s"] < found[0]["first_batch_s"]  # the worker is there already
    assert found[1]["loss"] < found[0]["loss"]
    (summary,) = summaries(ran.stdout).values()
    assert summary["samples"] == 2 * SAMPLES
    assert {"startup", "list", "load", "train"} <= set(summary["phases_s"])


def jpeg_sizes(prepared):
    import tarfile

    for shard in prepared.path.iterdir():
        with tarfile.open(shard) as archive:
            yield from (member.size for member in archive if member.name.endswith(".jpg"))


@pytest.mark.slow
def test_an_epoch_too_short_says_so_instead_of_a_rate(world, tmp_path):
    prepared, _ = world
    ran = run(tmp_path, "--model", "entitlement", OUTRIDER_CHANNEL_TRAIN=str(prepared.path), OUTRIDER_LAYOUT_TRAIN="shards")
    assert ran.returncode == 0, ran.stderr
    one, bound = reports(ran.stdout)
    assert "bound_by" in bound
    assert one["samples_per_s"].startswith("too short: 4 batches")
    assert "accuracy" not in one
    assert json.dumps(one)


ROWS = TableDataset(type="table", rows=300, columns=4)
RECORDS = BytesDataset(type="bytes", samples=14, size=20_000)


WAITED_FOR = ["--accelerator", "h100_unet3d", "--ceilings", "none"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "arguments", "content"), [(ROWS, ["--model", "mlp", "--max_samples", "256"], "rows"), (RECORDS, WAITED_FOR, "bytes")]
)
def test_what_is_no_image_is_trained_on_or_waited_for(tmp_path, spec, arguments, content):
    if spec is ROWS:
        pytest.importorskip("pyarrow")
    prepared = prepare("data", spec, cache=tmp_path / "cache")
    told = {"LAYOUT": spec.layout, "FORMAT": spec.format, "LABELS": spec.label_place, "CONTENT": spec.sample_content}
    ran = run(
        tmp_path, "--loader_workers", "1", *arguments,
        OUTRIDER_CHANNEL_TRAIN=str(prepared.path), **{f"OUTRIDER_{name}_TRAIN": value for name, value in told.items()},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    one = reports(ran.stdout)[0]
    assert spec.sample_content == content
    assert one["samples"] == (256 if spec is ROWS else 14)
    # Forecasts of its beginning want to know how much there is.
    assert '"done": 14.0, "total": 14.0' in ran.stdout if spec is RECORDS else True
    assert one["bytes"] == (256 * 4 * 4 if spec is ROWS else 14 * 20_000)
    assert ("loss" in one) == (spec is ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["disk", "dcp_disk", "s3"])
def test_checkpoints_are_saved_within_training_and_their_stall_is_apart(world, tmp_path, kind):
    prepared, server = world
    ran = run(
        tmp_path, "--epochs", "2", "--batch_size", "8", "--min_window_s", "0.001", "--ceilings", "none",
        "--checkpoint", kind, "--checkpoint_every", "5steps",
        **server.environment,
        OUTRIDER_CHECKPOINT_DIR=str(tmp_path / "trial"), OUTRIDER_CHECKPOINT_S3=f"s3://{server.bucket}/checkpoints",
        OUTRIDER_CHANNEL_TRAIN=str(prepared.path), OUTRIDER_LAYOUT_TRAIN="shards",
        OUTRIDER_STORE_PID=str(server.pid), OUTRIDER_STORE_FOLDER=str(server.contents),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    first, second = reports(ran.stdout)
    # 25 steps an epoch: five saves in each, of which the last of all is also that of the end.
    assert (first["checkpoint_saves"], second["checkpoint_saves"]) == (5, 5)
    for one in (first, second):
        assert one["checkpoint_of"] == "the model"
        assert one["checkpoint_stall_share"] == pytest.approx(one["checkpoint_stall_s"] / one["epoch_s"])
    assert ("checkpoint_load_s" in first, "checkpoint_load_s" in second) == (False, True)
    assert second["checkpoint_cached_share"] == 0
    (summary,) = summaries(ran.stdout).values()
    stalls = first["checkpoint_stall_s"] + second["checkpoint_stall_s"]
    assert summary["phases_s"]["checkpoint"] == pytest.approx(stalls, rel=0.2, abs=0.01)


OWN_MODELS = """
class Raises:
    load_sample = staticmethod(len)
    def __init__(self, options): self.steps = 0
    def train(self, batch):
        self.steps += 1
        if self.steps > 25: raise ValueError("the twenty-sixth batch is odd")
    def save(self, path): path.touch()

class SaysIt(Raises):
    def train(self, batch): return "low"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said", "epochs"),
    [
        ("Raises", "ValueError: the twenty-sixth batch is odd", 1),
        ("SaysIt", "model 'own_models:SaysIt': train returned 'low', which is no loss; return a number, or None for none", 0),
    ],
)
def test_a_users_model_that_raises_or_returns_no_loss_ends_the_trial_with_its_words(world, tmp_path, name, said, epochs):
    prepared, _ = world
    (tmp_path / "own_models.py").write_text(OWN_MODELS)
    path = os.pathsep.join([str(ROOT / "backends" / "reporter"), str(tmp_path)])
    ran = run(
        tmp_path, "--epochs", "2", "--batch_size", "8", "--model", f"own_models:{name}", "--ceilings", "none",
        PYTHONPATH=path, OUTRIDER_CHANNEL_TRAIN=str(prepared.path), OUTRIDER_LAYOUT_TRAIN="shards",
    )  # fmt: skip
    assert ran.returncode != 0
    assert said in ran.stderr
    # What was measured before is kept.
    assert [one["epoch"] for one in reports(ran.stdout)] == list(range(1, epochs + 1))


@pytest.mark.slow
def test_where_there_is_no_gpu_another_model_stands_in_and_a_part_of_a_batch_is_no_ceiling(world, tmp_path):
    prepared, _ = world
    # 200 samples are three batches of 64 and one of 8, on which the model waits as long.
    ran = run(
        tmp_path, "--model", "resnet50", "--model_without_gpu", "sleep", "--compute_s", "0.05", "--batch_size", "64", "--shuffle", "false",
        OUTRIDER_CHANNEL_TRAIN=str(prepared.path), OUTRIDER_LAYOUT_TRAIN="shards",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    one, bound = reports(ran.stdout)
    assert one["model_used"] == "sleep"
    assert bound["ceiling_compute"] == pytest.approx(64 / 0.05, rel=0.1)
