"""Engines are made by real training jobs of the emulator, in which a stand-in for trtexec runs."""

from __future__ import annotations

import json

import pytest

from backends.base import BackendContext
from backends.emulator.container.trtexec import MARK
from backends.engine_order import EngineOrder
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
    def make(**block):
        return BackendContext(definition(**block), tmp_path / "results", 0, emulator.environment, "tag", "served-1")

    return make


@pytest.mark.slow
def test_an_engine_comes_back_and_its_bill_is_said(context, tmp_path, emulator):
    lines = []
    asked = order(tmp_path, "--fp16")
    build_engine(asked, context(), lines.append)
    written = json.loads(asked.target.read_text())
    assert (written["engine"], written["optShapes"]) == (MARK, "image:4x3x8x8")
    assert any("its TensorRT engine is made on ml.g4dn.xlarge" in line for line in lines)
    assert "dollars beside what trials cost" in lines[-1]
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
