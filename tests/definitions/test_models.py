from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from definitions.models import EndpointModels

MODELS = TypeAdapter(EndpointModels)
TENSOR = {"name": "x", "shape": [4], "datatype": "FP32"}


def one(**given):
    return MODELS.validate_python({"net": given})["net"]


@pytest.mark.parametrize(
    ("given", "platforms"),
    [
        ({"type": "resnet18"}, ("onnx", "pt", "trt")),
        ({"type": "torch", "factory": "timm:create_model", "inputs": [TENSOR]}, ("onnx", "pt", "trt")),
        ({"type": "onnx", "path": "net.onnx"}, ("onnx",)),
        ({"type": "torchscript", "path": "net.pt", "inputs": [TENSOR]}, ("pt",)),
        ({"type": "package", "uri": "s3://b/net.tar.gz", "platform": "trt", "inputs": [TENSOR], "outputs": [TENSOR]}, ("trt",)),
    ],
)
def test_what_a_model_can_be_packaged_for(given, platforms):
    assert one(**given).platforms == platforms


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"type": "resnet34"}, "resnet34"),
        ({"type": "torch", "factory": "create_model", "inputs": [TENSOR]}, "needs module:function"),
        ({"type": "torch", "factory": "timm:create_model", "inputs": []}, "at least 1"),
        ({"type": "torch", "factory": "a:b", "inputs": [{**TENSOR, "shape": [0]}]}, "a dimension is a size of at least 1"),
        ({"type": "torch", "factory": "a:b", "inputs": [{**TENSOR, "datatype": "float"}]}, "FP32"),
        ({"type": "text_encoder", "width": 100, "heads": 12}, "cannot be shared out among 12 heads"),
        ({"type": "small_cnn", "max_batch_size": 4, "preferred_batch_sizes": [8]}, "8 is above max_batch_size 4"),
        ({"type": "small_cnn", "opset": 3}, "greater than or equal to 7"),
        ({"type": "package", "uri": "https://b/net.tar.gz", "platform": "pt", "inputs": [TENSOR], "outputs": [TENSOR]}, "s3://"),
    ],
)
def test_what_no_model_is(given, words):
    with pytest.raises(ValidationError, match=words):
        one(**given)


@pytest.mark.parametrize("name", ["../up", "a b", "", "a/b"])
def test_a_name_is_part_of_an_address(name):
    with pytest.raises(ValidationError):
        MODELS.validate_python({name: {"type": "small_cnn"}})
