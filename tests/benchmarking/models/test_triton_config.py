"""The four templates of the MME benchmark by hand are special cases of the one object."""

from __future__ import annotations

import pytest

from backends.deployment import Tensor
from benchmarking.models.triton_config import TritonConfig, named_in

IMAGE, SCORES = Tensor("INPUT__0", "FP32", (3, 224, 224)), Tensor("OUTPUT__0", "FP32", (1000,))
TOKENS = (Tensor("INPUT__0", "INT32", (128,)), Tensor("INPUT__1", "INT32", (128,)))
ANSWERS = (Tensor("OUTPUT__0", "FP32", (128, 768)), Tensor("1634__1", "FP32", (768,)))

PT_VISION = """\
name: "resnet"
platform: "pytorch_libtorch"
max_batch_size: 32
input [
  {
    name: "INPUT__0"
    data_type: TYPE_FP32
    dims: [ 3, 224, 224 ]
  }
]
output [
  {
    name: "OUTPUT__0"
    data_type: TYPE_FP32
    dims: [ 1000 ]
  }
]
instance_group [
  {
    count: 1
    kind: KIND_GPU
  }
]
dynamic_batching {
  preferred_batch_size: [ 16 ]
}
"""


def test_a_vision_model_of_torchscript_whose_requests_are_put_together():
    found = TritonConfig("resnet", "pt", (IMAGE,), (SCORES,), 32, device="gpu", preferred_batch_sizes=(16,))
    assert found.text() == PT_VISION


def test_a_text_model_of_torchscript_without_batching():
    text = TritonConfig("bert", "pt", TOKENS, ANSWERS, 128, device="gpu").text()
    assert "max_batch_size: 128\n" in text
    assert "dynamic_batching" not in text
    assert text.count("data_type: TYPE_INT32") == 2
    assert '    dims: [ 128, 768 ]\n  },\n  {\n    name: "1634__1"' in text


def test_a_vision_model_of_tensorrt_that_is_warmed_up():
    text = TritonConfig("resnet", "trt", (IMAGE,), (SCORES,), 12, device="cpu", warm_up=True).text()
    assert 'platform: "tensorrt_plan"' in text
    assert "kind: KIND_GPU" in text  # an engine runs nowhere else
    warm_up = text[text.index("model_warmup") :]
    assert "batch_size: 12" in warm_up
    assert 'key: "INPUT__0"' in warm_up
    assert "dims: [ 3, 224, 224 ]" in warm_up
    assert "zero_data: true" in warm_up


def test_a_text_model_of_tensorrt():
    text = TritonConfig("bert", "trt", TOKENS, ANSWERS, 32, batch_delay_us=5000, preferred_batch_sizes=(16,)).text()
    assert "preferred_batch_size: [ 16 ]\n  max_queue_delay_microseconds: 5000" in text


@pytest.mark.parametrize(("platform", "key"), [("onnx", "intra_op_thread_count"), ("pt", "INTRA_OP_THREAD_COUNT")])
def test_threads_are_a_parameter_of_the_back_end(platform, key):
    text = TritonConfig("m", platform, (IMAGE,), (SCORES,), 8, threads=2).text()
    assert f'parameters {{\n  key: "{key}"\n  value: {{ string_value: "2" }}\n}}' in text
    assert "parameters" not in TritonConfig("m", "trt", (IMAGE,), (SCORES,), 8, threads=2).text()


def test_nothing_is_put_together_where_a_request_is_one_sample():
    for most in (0, 1):
        assert "dynamic_batching" not in TritonConfig("m", "onnx", (IMAGE,), (SCORES,), most, batch_delay_us=100).text()


def test_a_free_dimension_is_warmed_up_at_its_least_and_a_single_number_is_reshaped():
    tokens, mean = Tensor("ids", "INT64", (-1,)), Tensor("mean", "FP32", ())
    text = TritonConfig("m", "onnx", (tokens,), (mean,), 4, warm_up=True).text()
    assert "    dims: [ -1 ]" in text
    assert "        dims: [ 1 ]" in text
    assert "    dims: [ 1 ]\n    reshape: { shape: [ ] }" in text


def test_the_name_is_read_back():
    assert named_in(PT_VISION) == "resnet"
    assert named_in("max_batch_size: 1\n") is None
