from __future__ import annotations

import pytest

from benchmarking.planning.served import check_served, served_problem, server_of
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition

GIVEN = {
    "name": "served",
    "script": "load.py",
    "objectives": {"max_rate_per_s": "max"},
    "models": {"cnn": {"type": "small_cnn"}, "file": {"type": "onnx", "path": "net.onnx"}},
    "endpoint": {"mode": "multi"},
    "space": {"platform": {"choice": ["onnx", "pt", "trt"]}},
}


def problem(configuration, backend="local", refused=lambda server, platform: "", **endpoint):
    definition = BenchmarkDefinition(**{**GIVEN, "endpoint": {**GIVEN["endpoint"], **endpoint}})
    return served_problem(definition, backend, configuration, refused)


def test_a_configuration_that_can_be_served():
    assert problem({}) is None
    assert problem({"model": "cnn", "platform": "pt", "server": "triton"}) is None
    assert problem({"model": "cnn", "platform": "trt"}, "sagemaker") is None


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ({"platform": "pt"}, "model file cannot be packaged as pt; it is onnx"),
        ({"platform": "pt", "model": "cnn", "server": "ort"}, "server ort does not serve platform pt: triton and mms serve it"),
        ({"platform": "trt", "model": "cnn"}, "nothing on this machine does, as it needs a GPU and TensorRT"),
        ({"platform": "tf"}, "platform 'tf'"),
        ({"server": "tgi"}, "server 'tgi'"),
        ({"copies": 0}, "copies 0"),
        ({"model": "bert"}, "there is no model 'bert'; known: cnn, file"),
        ({"mode": "single"}, "mode single serves one model, and there are 2"),
        ({"existing": "theirs"}, "on this machine there are no endpoints but those that jobs bring up"),
    ],
)
def test_why_it_cannot(configuration, words):
    assert words in (problem(configuration) or "")


def checked(backend="local", space=None, **endpoint):
    changed = {"endpoint": {**GIVEN["endpoint"], **endpoint}, "models": {"cnn": {"type": "small_cnn"}}, "space": space or GIVEN["space"]}
    check_served(BenchmarkDefinition(**{**GIVEN, **changed}), backend, lambda server, platform: "")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"existing": "theirs"}, "on this machine there are no endpoints but those that jobs bring up"),
        ({"space": {"platform": {"choice": ["trt"]}}}, "nothing on this machine does, as it needs a GPU and TensorRT"),
        ({"space": {"platform": {"choice": ["pt", "trt"]}}, "server": "ort"}, "server ort does not serve platform pt"),
    ],
)
def test_what_nothing_could_serve_is_refused_before_anything_starts(given, words):
    with pytest.raises(UserError, match="benchmark served on local: no configuration's endpoint can be brought up") as refused:
        checked(**given)
    assert words in str(refused.value)


def test_what_can_be_served_in_part_is_left_to_its_configurations():
    checked()
    checked(space={"existing": {"choice": ["theirs"]}, "copies": {"choice": [1, 2]}}, backend="sagemaker")
    checked(mode="multi", space={"platform": {"choice": ["trt"]}}, backend="sagemaker")


def test_what_a_server_lacks_is_its_own_word():
    def lacks(server, platform):
        return f"{server} needs Java for {platform}"

    assert problem({"server": "mms"}, refused=lacks) == "mms needs Java for onnx"
    assert problem({"server": "mms"}, "sagemaker", refused=lacks) is None


def test_a_definition_without_an_endpoint_has_no_problem():
    plain = {key: value for key, value in GIVEN.items() if key not in ("models", "endpoint")}
    assert served_problem(BenchmarkDefinition(**plain), "local", {"platform": "trt"}) is None


@pytest.mark.parametrize(
    ("said", "backend", "server"),
    [({}, "local", "ort"), ({"platform": "pt"}, "local", "triton"), ({"server": "mms"}, "local", "mms"), ({}, "sagemaker", "triton")],
)
def test_where_nobody_says_it_the_platform_decides_on_the_server(said, backend, server):
    definition = BenchmarkDefinition(**GIVEN)
    block = definition.endpoint.model_copy(update=said)
    assert server_of(block, backend, {"cnn": definition.models["cnn"]}) == server
