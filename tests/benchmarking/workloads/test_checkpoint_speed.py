import pytest

from benchmarking.datasets import EmbeddedS3
from benchmarking.workloads import checkpoint_speed
from benchmarking.workloads.checkpointing.models import bytes_of
from tests.benchmarking.workloads.workload_runs import WORKLOADS, job_of, program, reports, summaries

SHARE = 0.02
SMALL = ("--checkpoint_scale", SHARE, "--steps", 4, "--compute_s", 0.01)


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    monkeypatch.syspath_prepend(str(WORKLOADS))


def run(tmp_path, *arguments, **environment):
    ran = program("checkpoint_speed.py", *SMALL, *arguments, OUTRIDER_CHECKPOINT_DIR=str(tmp_path / "trial"), **environment)
    assert ran.returncode == 0, ran.stderr
    return ran


@pytest.mark.slow
def test_a_disk_is_measured_cold_and_left_empty(tmp_path):
    ran = run(tmp_path, "--checkpoint", "disk", "--epochs", 2, "--checkpoint_every", "2 steps")
    first, second = reports(ran.stdout)
    assert (first["epoch"], second["epoch"]) == (1, 2)
    for one in (first, second):
        assert one["checkpoint_saves"] == 2
        assert bytes_of("vit_base", SHARE) < one["checkpoint_bytes"] < 1.15 * bytes_of("vit_base", SHARE)
        assert one["checkpoint_of"] == "0.02 of vit_base"
        assert (one["page_cache"], one["checkpoint_cached_share"]) == ("cold", 0)
        assert one["checkpoint_durable_s"] == one["checkpoint_save_s"] < one["checkpoint_stall_s"]
        assert one["checkpoint_save_mb_per_s"] == one["checkpoint_save_mb_per_s_per_rank"] > 0
        assert one["checkpoint_load_mb_per_s"] > 0
        assert {"checkpoint_save_cpu_s", "checkpoint_load_cpu_s", "disturbed", "foreign_cpu_cores"} <= set(one)
        # Four steps of 0.01 s: the share of the stall goes by at least these.
        assert one["checkpoint_stall_share"] <= one["checkpoint_stall_s"] / (one["checkpoint_stall_s"] + 0.04)
    (summary,) = summaries(ran.stdout).values()
    assert {"fill", "train", "checkpoint", "page_cache", "restore"} <= set(summary["phases_s"])
    assert summary["phases_s"]["checkpoint"] >= first["checkpoint_stall_s"] + second["checkpoint_stall_s"] - 0.01
    assert [path.name for path in (tmp_path / "trial").iterdir()] == [".outrider-incarnation"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "sharding", "processes"),
    [("dcp_disk", "fsdp_full", 2), ("dcp_disk", "fsdp_hybrid", 4), ("dcp_disk", "ddp", 2), ("disk", "fsdp_full", 2), ("disk", "ddp", 2)],
)
def test_ranks_save_and_load_together(tmp_path, kind, sharding, processes):
    """What is sharded is that of a training in numbers of two bytes, with its optimiser's of four."""
    of = ("bfloat16", "adam") if sharding == "fsdp_full" else ("float32", "none")
    size = bytes_of("vit_base", SHARE, *of)
    ran = run(
        tmp_path, "--checkpoint", kind, "--checkpoint_sharding", sharding, "--processes", processes, "--epochs", 2,
        "--checkpoint_async", "true", "--checkpoint_dtype", of[0], "--checkpoint_optimiser", of[1], OUTRIDER_CORES="2",
    )  # fmt: skip
    found = reports(ran.stdout)
    assert sorted((one["outrider_rank"], one["epoch"]) for one in found) == [(rank, epoch) for rank in range(processes) for epoch in (1, 2)]
    for one in found:
        assert one["ranks"] == processes
        # Replicas are saved once.
        assert size < one["checkpoint_bytes"] < 1.15 * size
        writers = processes if kind == "dcp_disk" else 1
        assert one["checkpoint_save_mb_per_s_per_rank"] == pytest.approx(one["checkpoint_save_mb_per_s"] / writers)
        assert "checkpoint_save_cpu_s" not in one
    # What all ranks have after loading: one copy, one a group, or one each.
    copies = {"fsdp_full": 1, "fsdp_hybrid": 2, "ddp": processes}[sharding]
    (one, *_) = found
    assert one["checkpoint_load_mb_per_s"] * 1e6 * one["checkpoint_load_s"] == pytest.approx(copies * size, rel=0.01)


@pytest.mark.slow
def test_a_store_is_measured_on_loopback_and_left_empty(tmp_path):
    with EmbeddedS3(tmp_path / "s3") as server:
        environ = {
            **server.environment, "OUTRIDER_CHECKPOINT_S3": f"s3://{server.bucket}/checkpoints", "OUTRIDER_JOB": "j",
            "OUTRIDER_STORE_PID": str(server.pid), "OUTRIDER_STORE_FOLDER": str(server.contents),
        }  # fmt: skip
        ran = run(tmp_path, "--checkpoint", "s3", "--epochs", 2, "--measure", "load", **environ)
        assert server.target.client().list_objects_v2(Bucket=server.bucket, Prefix="checkpoints/")["KeyCount"] == 0
        first, second = reports(ran.stdout)
    assert first["checkpoint_saves"] == 1
    assert "checkpoint_save_s" not in second
    assert second["checkpoint_load_s"] > 0
    assert (second["page_cache"], second["checkpoint_cached_share"]) == ("cold", 0)
    assert second["device_read_bytes"] >= 0


@pytest.mark.slow
def test_saves_alone_are_read_back_once_at_the_end(tmp_path):
    first, second = reports(run(tmp_path, "--checkpoint", "disk", "--epochs", 2, "--measure", "save").stdout)
    assert ("checkpoint_load_s" in first, "checkpoint_load_s" in second) == (False, True)
    assert first["checkpoint_save_s"] > 0 < second["checkpoint_save_s"]


@pytest.mark.slow
def test_what_is_read_back_otherwise_ends_the_trial(tmp_path, monkeypatch, capsys):
    from checkpointing.stores import torch_file  # lies beside the script

    load = torch_file.TorchFile.load

    def damaged(self, name, like):
        found = load(self, name, like)
        next(iter(found.values())).view(-1)[0] += 1
        return found

    monkeypatch.setattr(torch_file.TorchFile, "load", damaged)
    monkeypatch.setenv("OUTRIDER_CHECKPOINT_DIR", str(tmp_path))
    with pytest.raises(SystemExit, match=r"rank 0: checkpoint step-000001 at .* was read back otherwise: cls_token has other values"):
        checkpoint_speed.main(["--checkpoint", "disk", *map(str, SMALL)], {})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--checkpoint", "none"], "checkpoint is none: there is nothing to measure"),
        (["--checkpoint", "dsk"], "checkpoint is 'dsk'.* did you mean disk"),
        (["--checkpoint", "disk", "--checkpoint_model", "vit"], "checkpoint_model is 'vit': it is one of vit_base"),
        (["--checkpoint", "disk", "--checkpoint_scale", "0"], "checkpoint_scale is 0: it is a share"),
        (["--checkpoint", "disk", "--processes", "0"], "--processes 0: at least one"),
        (
            ["--checkpoint", "dcp_disk", "--checkpoint_sharding", "fsdp_full"],
            "and there is one rank: use processes of at least 2",
        ),
        (["--checkpoint", "s3"], "checkpoint s3 needs a bucket"),
    ],
)
def test_what_cannot_be_is_said(words, said, tmp_path, monkeypatch):
    monkeypatch.setenv("OUTRIDER_CHECKPOINT_DIR", str(tmp_path))
    with pytest.raises(SystemExit, match=said):
        checkpoint_speed.main([*words, "--epochs", "1"], {})


def test_a_disk_that_is_too_small_is_said_before_anything_is_filled(tmp_path, monkeypatch):
    from checkpointing import places

    monkeypatch.setenv("OUTRIDER_CHECKPOINT_DIR", str(tmp_path))
    monkeypatch.setattr(places.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1e9}))
    with pytest.raises(SystemExit, match=r"2 x 27 GB are needed, and .* has 1 GB left"):
        checkpoint_speed.main(["--checkpoint", "disk", "--checkpoint_model", "llama_7b"], {})


@pytest.mark.parametrize("benchmark", ["checkpointing", "dcp_save", "dcp_load", "lightning_checkpointing"])
def test_the_definitions_give_what_the_script_takes(benchmark):
    local, cloud = (checkpoint_speed.parse_arguments(list(job_of(benchmark, backend).arguments)) for backend in ("local", "sagemaker"))
    assert (local.checkpoint_scale, cloud.checkpoint_scale) == (0.25, 1.0)
    assert checkpoint_speed.scaled(cloud, {"OUTRIDER_SCALE": "0.005"}).checkpoint_scale == 0.005
    assert local.page_cache == "cold"
    assert (local.processes, cloud.processes) == ((2, 8) if benchmark.startswith("dcp") else (1, 1))
