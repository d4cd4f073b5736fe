"""What trials deploy. Models are archives of a made-up S3, so that nothing is exported; exports are tested with the models."""

from __future__ import annotations

import pytest

from benchmarking.models.packaging import write_archive
from benchmarking.planning import deployments as module
from benchmarking.planning.deployments import Deployments
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from definitions.trial import TrialSpec

TENSOR = {"name": "x", "shape": [4]}


def archive(name):
    return {
        "type": "package",
        "uri": f"s3://b/{name}.tar.gz",
        "platform": "onnx",
        "inputs": [TENSOR],
        "outputs": [TENSOR],
        "max_batch_size": 4,
    }


@pytest.fixture
def store(tmp_path, monkeypatch):
    """The names of the archives that are there."""
    there = ["first", "second"]
    (tmp_path / "model.onnx").write_bytes(b"weights" * 10)

    def fetch(uri, path):
        name = uri.removeprefix("s3://b/").removesuffix(".tar.gz")
        if name not in there:
            raise UserError(f"{uri} is not there")
        if path is not None:
            write_archive(path, name, "", {"model.onnx": tmp_path / "model.onnx"})
        return name

    monkeypatch.setattr(module, "fetch_by", lambda environ: fetch)
    return there


def made(tmp_path, *, backend="local", endpoint=None, models=("first", "second"), **given):
    definition = BenchmarkDefinition(
        name="served",
        script="load.py",
        objectives={"max_rate_per_s": "max"},
        models={name: archive(name) for name in models},
        endpoint={"mode": "multi", "copies": 3, **(endpoint or {})},
        **{"space": {"copies": {"choice": [1, 2]}}, "arguments": {"instance_type": "local.1cpu"}, **given},
    )
    return Deployments(definition, backend, tmp_path / "cache", {})


def test_a_trial_overrides_what_the_definition_says(tmp_path, store):
    one = made(tmp_path).of(TrialSpec({"copies": 5, "batch_delay_ms": 2.0, "instance_type": "local.2cpu", "slo_ms": 20}))
    assert (one.copies, one.batch_delay_ms, one.instance_type, one.server, one.mode) == (5, 2.0, "local.2cpu", "ort", "multi")
    assert [target.name for target in one.targets] == [
        "first-v0.tar.gz", "second-v0.tar.gz", "first-v1.tar.gz", "second-v1.tar.gz", "first-v2.tar.gz"
    ]  # fmt: skip


def test_what_the_load_alone_is_told_needs_no_other_deployment(tmp_path, store):
    found = made(tmp_path)
    assert found.of(TrialSpec({"copies": 2, "slo_ms": 20})) is found.of(TrialSpec({"copies": 2, "slo_ms": 50}))
    keys = {found.of(TrialSpec({"copies": copies})).key for copies in (1, 2, 8)}
    assert len(keys) == 1


def test_a_model_of_several_is_served_alone(tmp_path, store):
    one = made(tmp_path).of(TrialSpec({"mode": "single", "model": "second", "copies": 1}))
    assert [target.package.name for target in one.targets] == ["second"]


def test_elsewhere_triton_serves_and_the_archive_stays_in_s3(tmp_path, store):
    arguments = {"instance_type": "ml.m5.large", "instance_count": 2}
    one = made(tmp_path, backend="sagemaker", arguments=arguments).of(TrialSpec({}))
    assert (one.server, one.instance_count, one.packages[0].path, one.packages[0].uri) == ("triton", 2, "", "s3://b/first.tar.gz")


def test_a_model_that_is_missing_rules_out_its_trials_alone(tmp_path, store):
    store.remove("second")
    found = made(tmp_path, space={"model": {"choice": ["first", "second"]}})
    found.prepare()
    assert found.problem(TrialSpec({"model": "first"})) is None
    assert found.problem(TrialSpec({"model": "second"})) == "s3://b/second.tar.gz is not there"


def test_where_no_model_can_be_had_nothing_starts(tmp_path, store):
    store.clear()
    with pytest.raises(UserError, match="is not there"):
        made(tmp_path).prepare()


def test_a_model_that_is_larger_than_the_memory_is_no_trial(tmp_path, store):
    found = made(tmp_path, endpoint={"memory": 100})
    assert "as a file, and models have 100 B of memory" in (found.problem(TrialSpec({})) or "")
    assert made(tmp_path, endpoint={"memory": "1MB"}).problem(TrialSpec({})) is None


def test_without_an_endpoint_there_is_nothing(tmp_path):
    plain = BenchmarkDefinition(name="a", script="a.py", objectives={"loss": "min"}, space={"x": 1})
    found = Deployments(plain, "local", tmp_path, {})
    found.prepare()
    assert (found.of(TrialSpec({})), found.problem(TrialSpec({}))) == (None, None)


def test_on_the_emulator_an_engine_is_made_and_then_served_by_nobody(tmp_path, store, monkeypatch):
    tensors = {"inputs": [TENSOR], "outputs": [TENSOR]}
    engine = {"type": "package", "uri": "s3://b/first.tar.gz", "platform": "trt", **tensors}
    definition = BenchmarkDefinition(
        name="served",
        script="load.py",
        objectives={"max_rate_per_s": "max"},
        models={"first": engine},
        endpoint={"mode": "multi"},
        space={"copies": {"choice": [1, 2]}},
        arguments={"instance_type": "ml.g4dn.xlarge"},
    )
    described = type(module.backend_description("sagemaker"))
    monkeypatch.setattr(described, "finds_interpreters_here", lambda self, environ: bool(environ))
    emulated, real = (Deployments(definition, "sagemaker", tmp_path / "cache", environ) for environ in ({"emulated": "1"}, {}))
    found = emulated.problem(TrialSpec({}))
    assert found is not None
    assert "nothing on this machine does, as it needs a GPU and TensorRT; the emulator serves on this machine" in found
    assert real.problem(TrialSpec({})) is None
