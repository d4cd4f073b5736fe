"""Engines are made by real training jobs of the emulator, in which a stand-in for trtexec runs."""

from __future__ import annotations

import json

import pytest

from backends.backend_context import BackendContext
from backends.emulator.container.trtexec import MARK
from backends.engine_order import EngineOrder
from backends.sagemaker.backend import SageMakerBackend
from backends.sagemaker.engines import TRTEXEC, build_engine, engine_job
from backends.sagemaker.jobs.options import Options
from backends.sagemaker.jobs.request import training_job
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition


def definition(**block):
    return BenchmarkDefinition(
        name="served",
        script="load.py",
        objectives={"max_rate_per_s": "max"},
        models={"net": {"type": "small_cnn"}},
        endpoint={"mode": "single", "platform": "trt"},
        space={"slo_ms": {"choice": [20, 50]}},
        sagemaker={"image": "123456789012.dkr.ecr.eu-north-1.amazonaws.com/triton:1", "bucket": "bucket", **block},
    )


def order(tmp_path, *arguments, content=b"onnx" * 10):
    (tmp_path / "model.onnx").write_bytes(content)
    shapes = [f"--{name}=image:{rows}x3x8x8" for name, rows in (("minShapes", 1), ("optShapes", 4), ("maxShapes", 8))]
    target = tmp_path / "kept" / "model.plan"
    return EngineOrder("net", tmp_path / "model.onnx", (*shapes, *arguments), "ml.g4dn.xlarge", target, max_run_s=600.0)


def test_the_job_is_trtexec_in_the_image_on_the_instance_that_will_serve(tmp_path):
    made = engine_job(order(tmp_path, "--fp16"), "p-engine-1", "s3://bucket/outrider/models/1/")
    options = Options("eu-north-1", "arn:aws:iam::1:role/r", "bucket", "tag/p", image_gpu="image", has_script=False)
    request = training_job(made, options)
    assert request["AlgorithmSpecification"]["ContainerEntrypoint"] == [TRTEXEC]
    arguments = request["AlgorithmSpecification"]["ContainerArguments"]
    assert arguments[:2] == ["--onnx=/opt/ml/input/data/model/model.onnx", "--saveEngine=/opt/ml/model/model.plan"]
    assert arguments[-1] == "--fp16"
    assert request["ResourceConfig"]["InstanceType"] == "ml.g4dn.xlarge"
    assert request["StoppingCondition"] == {"MaxRuntimeInSeconds": 600}
    (channel,) = request["InputDataConfig"]
    assert channel["DataSource"]["S3DataSource"]["S3Uri"] == "s3://bucket/outrider/models/1/"
    assert "tag" in [one["Value"] for one in request["Tags"]]


@pytest.fixture
def context(emulator, tmp_path):
    def make(prefix="served-1", **block):
        return BackendContext(definition(**block), tmp_path / "results", 0, emulator.environment, "tag", prefix)

    return make


@pytest.mark.slow
def test_an_engine_comes_back_and_its_bill_is_said(context, tmp_path, emulator):
    lines = []
    asked = order(tmp_path, "--fp16")
    build_engine(asked, context(), lines.append)
    written = json.loads(asked.target.read_text())
    assert (written["engine"], written["optShapes"]) == (MARK, "image:4x3x8x8")
    assert any("its TensorRT engine is made on ml.g4dn.xlarge" in line for line in lines)
    assert "dollars, which count as what trials cost does" in lines[-1]
    (job,) = [
        one for one in emulator.client("sagemaker").list_training_jobs()["TrainingJobSummaries"] if "-engine-" in one["TrainingJobName"]
    ]
    assert job["TrainingJobStatus"] == "Completed"


@pytest.mark.slow
def test_a_job_that_fails_is_told_with_its_log(context, tmp_path):
    with pytest.raises(UserError) as caught:
        build_engine(order(tmp_path, "--fp61"), context())
    assert "made no engine" in str(caught.value)
    assert "Unknown option: --fp61" in str(caught.value)
    assert not (tmp_path / "kept" / "model.plan").exists()


def engine_jobs(emulator, prefix):
    found = emulator.client("sagemaker").list_training_jobs()["TrainingJobSummaries"]
    return {one["TrainingJobName"]: one["TrainingJobStatus"] for one in found if one["TrainingJobName"].startswith(f"{prefix}-engine-")}


@pytest.mark.slow
def test_a_controller_that_died_meanwhile_left_a_job_which_the_next_one_finds(context, tmp_path, emulator, monkeypatch):
    asked, told = order(tmp_path, "--fp16"), []

    def killed(backend, name, order, say):
        while not engine_jobs(emulator, "killed"):
            backend.wait(0.2)
        raise KeyboardInterrupt

    # As a process that is killed: it neither waits for the job's end nor stops it.
    with monkeypatch.context() as dead:
        dead.setattr("backends.sagemaker.engines._awaited", killed)
        dead.setattr(SageMakerBackend, "close", SageMakerBackend.detach)
        with pytest.raises(KeyboardInterrupt):
            build_engine(asked, context("killed"), billed=lambda *given: told.append(given))
    (name,) = engine_jobs(emulator, "killed")
    build_engine(asked, context("killed"), billed=lambda *given: told.append(given))
    assert engine_jobs(emulator, "killed") == {name: "Completed"}
    assert json.loads(asked.target.read_text())["engine"] == MARK
    assert [(job, seconds is None) for job, _, seconds in told] == [(name, True), (name, True), (name, False)]
    # What was completed is not made again where this machine lost it.
    asked.target.unlink()
    build_engine(asked, context("killed"))
    assert list(engine_jobs(emulator, "killed")) == [name]
    assert asked.target.exists()


@pytest.mark.slow
def test_one_that_failed_earlier_is_tried_anew_and_its_bill_is_told(context, tmp_path, emulator):
    told = []
    for _ in range(2):
        with pytest.raises(UserError, match="made no engine"):
            build_engine(order(tmp_path, "--fp61"), context("failed"), billed=lambda *given: told.append(given))
    first, second = sorted(engine_jobs(emulator, "failed"))
    assert (first[-2:], second[-2:]) == ("-1", "-2")
    assert [job for job, _, seconds in told if seconds is not None] == [first, first, second]
