from __future__ import annotations

import json

import pytest

from backends.deployment import Tensor
from benchmarking.models.engines import engine, half_reference, trtexec_arguments
from benchmarking.models.exported import ExportedModel
from definitions.errors import UserError

IMAGE = Tensor("image", "FP32", (3, 224, 224))
TOKENS = Tensor("input_ids", "INT64", (-1,)), Tensor("attention_mask", "INT64", (-1,))


def test_shapes_go_from_one_sample_to_the_most_and_are_best_at_the_preferred_batch():
    found = trtexec_arguments([IMAGE], {}, 32, [8, 16, 64], "fp16")
    assert found == (
        "--minShapes=image:1x3x224x224",
        "--optShapes=image:16x3x224x224",
        "--maxShapes=image:32x3x224x224",
        "--fp16",
        "--skipInference",
    )


def test_free_dimensions_get_the_size_of_what_is_made():
    samples = {"input_ids": [128], "attention_mask": [128]}
    found = trtexec_arguments(TOKENS, samples, 8, [], "fp32")
    assert found[1] == "--optShapes=input_ids:8x128,attention_mask:8x128"
    assert "--fp16" not in found
    assert trtexec_arguments(TOKENS[:1], {}, 2, [], "fp32")[2] == "--maxShapes=input_ids:2x16"


def test_a_model_without_batches_has_its_shapes_in_the_file():
    assert trtexec_arguments([IMAGE], {}, 0, [], "fp32") == ("--skipInference",)


@pytest.fixture
def found(tmp_path):
    reference = tmp_path / "reference.json"
    reference.write_text(json.dumps({"inputs": [1], "outputs": [2], "tolerance": {"absolute": 1e-4, "relative": 1e-3}}))
    return ExportedModel(tmp_path, tmp_path / "model.onnx", reference, (IMAGE,), (), "", (1, 2))


def test_an_engine_is_made_once_for_a_type_of_instance_and_its_arguments(found):
    orders = []

    def build(order):
        orders.append(order)
        order.target.parent.mkdir(parents=True)
        order.target.write_bytes(b"engine")

    first = engine("net", found, ("--fp16",), "ml.g4dn.xlarge", build)
    assert engine("net", found, ("--fp16",), "ml.g4dn.xlarge", None) == first
    others = {engine("net", found, *given, build) for given in ((("--fp16",), "ml.g5.xlarge"), ((), "ml.g4dn.xlarge"))}
    assert len({first, *others}) == 3
    assert [one.instance_type for one in orders] == ["ml.g4dn.xlarge", "ml.g5.xlarge", "ml.g4dn.xlarge"]


def test_where_nobody_makes_engines_that_is_said(found):
    with pytest.raises(UserError, match=r"model 'net' as trt\n  its engine is made by trtexec on a GPU"):
        engine("net", found, (), "local.1cpu", None)


def test_half_the_digits_are_compared_more_widely(found):
    content = json.loads(half_reference(found).read_text())
    assert content == {"inputs": [1], "outputs": [2], "tolerance": {"absolute": 2e-2, "relative": 2e-2}}
