from collections import namedtuple

import pytest

from backends.common.aws_client import make_client
from benchmarking.datasets import EmbeddedS3
from benchmarking.datasets.s3target import S3Target, objects_under
from benchmarking.planning import checkpoints
from benchmarking.planning.checkpoints import (
    check_checkpoints,
    check_disk_for_checkpoints,
    checkpoint_disk,
    checkpoint_problem,
    left_out,
    needs_checkpoint_store,
    saves_checkpoints,
)
from benchmarking.planning.inputs import Inputs
from benchmarking.workloads.checkpointing import places
from definitions.errors import UserError
from definitions.program import install_extra
from definitions.schema import BenchmarkDefinition

ALL = lambda name: True  # noqa: E731


def made(space=None, **fields):
    return BenchmarkDefinition.model_validate(
        {"name": "b", "script": "t.py", "objectives": {"x": "min"}, "space": space or {"lr": {"uniform": [0, 1]}}, **fields}
    )


@pytest.mark.parametrize(
    ("fields", "ours"),
    [
        ({"arguments": {"checkpoint": "disk"}}, True),
        ({"space": {"checkpoint": {"choice": ["none", "dcp_s3"]}}}, True),
        ({"arguments": {"checkpoint": "dcp_dsk", "checkpoint_every": "1epoch"}}, True),
        # Scripts of others have keys of this name, too.
        ({"arguments": {"checkpoint": "model.ckpt"}}, False),
        ({"space": {"checkpoint": {"choice": [True, False]}}}, False),
        ({}, False),
    ],
)
def test_a_key_is_ours_by_its_values(fields, ours):
    definition = made(**fields)
    assert saves_checkpoints(definition) is ours
    if not ours:
        check_checkpoints(definition, "local", lambda name: False)
        assert not needs_checkpoint_store(definition, "local")
        assert left_out(definition, "local") == []


def test_a_package_that_is_missing_is_named_before_the_start_where_jobs_run_here():
    definition = made({"checkpoint": {"choice": ["disk", "lightning_disk", "dcp_s3"]}})
    without = {"s3torchconnector"}.__contains__
    assert checkpoint_problem(definition, "local", {"checkpoint": "disk"}, without) is None
    lightning = f"checkpoint lightning_disk needs what is not installed: pip install lightning, or {install_extra('lightning')}"
    assert checkpoint_problem(definition, "local", {"checkpoint": "lightning_disk"}, without) == lightning
    assert checkpoint_problem(definition, "sagemaker", {"checkpoint": "lightning_disk"}, without) is None
    assert left_out(definition, "local", without) == [
        f"left out: {lightning}",
        f"left out: checkpoint dcp_s3 needs what is not installed: pip install tenacity, or {install_extra('checkpoints')}",
    ]
    check_checkpoints(definition, "local", without)  # the disk is left
    with pytest.raises(UserError, match="its checkpoints\n  checkpoint lightning_disk needs what is not installed: pip install lightning"):
        check_checkpoints(made(arguments={"checkpoint": "lightning_disk"}), "local", without)
    assert "pip install boto3" in checkpoint_problem(definition, "local", {"checkpoint": "s3", "checkpoint_client": "boto3"}, without)


def test_a_kind_that_does_not_exist_is_an_error_although_others_are_there():
    definition = made({"checkpoint": {"choice": ["disk", "dcp_dsk"]}})
    with pytest.raises(UserError, match=r"checkpoint is 'dcp_dsk': it is one of .* did you mean dcp_disk"):
        check_checkpoints(definition, "local", ALL)


def test_what_contradicts_itself_is_left_out():
    definition = made({"checkpoint": {"choice": ["disk", "dcp_disk"]}, "checkpoint_threads": {"choice": [1, 4]}})
    (line,) = left_out(definition, "local", ALL)
    assert line.startswith("left out: checkpoint_threads is 4, and checkpoint disk is one stream")
    wrong = made(arguments={"checkpoint": "disk", "checkpoint_model": "vit_huge"})
    with pytest.raises(UserError, match="checkpoint_model is 'vit_huge': it is one of"):
        check_checkpoints(wrong, "local", ALL)


@pytest.mark.parametrize(
    ("fields", "needed"),
    [
        ({"arguments": {"checkpoint": "s3"}}, True),
        ({"space": {"checkpoint": {"choice": ["disk", "s3"]}}}, True),
        ({"arguments": {"checkpoint": "s3", "checkpoint_to": "s3://mine/p"}}, False),
        ({"arguments": {"checkpoint": "dcp_disk"}}, False),
        ({"space": None, "trials": [{"checkpoint": "disk"}, {"checkpoint": "s3"}]}, True),
    ],
)
def test_a_store_is_seen_to_where_some_configuration_saves_to_one(fields, needed, monkeypatch):
    monkeypatch.setattr(checkpoints, "_is_installed", ALL)
    definition = made(**fields) if fields.get("space", 1) is not None else made_of_trials(fields["trials"])
    assert needs_checkpoint_store(definition, "local") is needed


def made_of_trials(trials):
    return BenchmarkDefinition.model_validate({"name": "b", "script": "t.py", "objectives": {"x": "min"}, "trials": trials})


Usage = namedtuple("Usage", "total used free")


def test_a_disk_too_small_is_told_before_the_start(tmp_path, monkeypatch):
    """LLaMA 7B takes 27 GB, and the last stays until the next is whole; at a hundredth both fit."""
    monkeypatch.setattr(places.shutil, "disk_usage", lambda path: Usage(0, 0, 20e9))
    fields = {"arguments": {"checkpoint_model": "llama_7b"}}
    definition = made({"checkpoint": {"choice": ["disk", "dcp_disk"]}}, **fields)
    with pytest.raises(UserError, match=r"do not fit\n.* 2 x 27 GB are needed, and .* has 20 GB left\n.*use a larger disk"):
        check_disk_for_checkpoints(definition, tmp_path)
    with_state = made({"checkpoint": {"choice": ["disk"]}}, arguments={"checkpoint_model": "llama_7b", "checkpoint_optimiser": "adam"})
    with pytest.raises(UserError, match=r"2 x 80\.9 GB are needed"):
        check_disk_for_checkpoints(with_state, tmp_path)
    check_disk_for_checkpoints(made({"checkpoint": {"choice": ["disk", "dcp_disk"]}}, scale=0.01, **fields), tmp_path)
    both = made({"checkpoint": {"choice": ["disk", "s3"]}}, **fields)
    check_disk_for_checkpoints(both, tmp_path)
    too_small = checkpoint_disk(both, tmp_path)
    assert too_small({"checkpoint": "s3"}) is None
    assert "2 x 27 GB are needed" in too_small({"checkpoint": "disk"})
    assert checkpoint_disk(made(arguments={"checkpoint": "disk"}), tmp_path)({}) is None  # of a model that nobody knows


@pytest.mark.slow
def test_jobs_are_told_of_a_store_of_this_machine_and_of_the_scale(tmp_path):
    with Inputs(made(arguments={"checkpoint": "s3"}, scale=0.5), "local", tmp_path) as inputs:
        told = inputs.environment
        place = f"checkpoints/{told['OUTRIDER_STORE_PID']}"
        assert told["OUTRIDER_CHECKPOINT_S3"] == f"s3://outrider/{place}"
        assert told["OUTRIDER_SCALE"] == "0.5"
        assert told["AWS_ENDPOINT_URL_S3"].startswith("http://127.0.0.1:")
        assert int(told["OUTRIDER_STORE_PID"]) > 0
        assert inputs.notes == [f"embedded S3 server on {told['AWS_ENDPOINT_URL_S3']}"]
        client = make_client(
            "s3",
            region="us-east-1",
            endpoint_url=told["AWS_ENDPOINT_URL_S3"],
            access_key=told["AWS_ACCESS_KEY_ID"],
            secret_key=told["AWS_SECRET_ACCESS_KEY"],
        )
        for key in (f"{place}/job-of-a-trial-that-was-stopped/step-000001.pt", "checkpoints/1/of-another-experiment.pt"):
            client.put_object(Bucket="outrider", Key=key, Body=b"x")
    # What its jobs left goes with the server; what others have there is theirs.
    with EmbeddedS3(tmp_path / "s3") as server:
        assert [key for key, _ in objects_under("s3://outrider/checkpoints/", server.target)] == ["1/of-another-experiment.pt"]


def test_jobs_of_a_cloud_are_told_of_the_prefix_beside_the_data(tmp_path):
    definition = made(arguments={"checkpoint": "dcp_s3"})
    with Inputs(definition, "sagemaker", tmp_path, target=S3Target("bucket", "outrider/data/datasets")) as inputs:
        assert inputs.environment == {"OUTRIDER_CHECKPOINT_S3": "s3://bucket/outrider/data/checkpoints"}
    with pytest.raises(UserError, match="no bucket is known"), Inputs(definition, "sagemaker", tmp_path):
        pass
    with Inputs(made(arguments={"checkpoint": "disk"}), "local", tmp_path) as inputs:
        assert inputs.environment == {}
