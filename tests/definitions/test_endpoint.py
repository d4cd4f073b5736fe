from __future__ import annotations

import typing
from pathlib import Path

import pytest
from pydantic import ValidationError

from backends import deployment
from definitions import endpoint, models
from definitions.definition_hash import definition_hash
from definitions.endpoint import EndpointBlock, endpoint_of, single_problem
from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.schema import BenchmarkDefinition
from definitions.yaml_source import read_yaml

GIVEN = {
    "name": "served",
    "script": "load.py",
    "objectives": {"max_rate_per_s": "max"},
    "models": {"cnn": {"type": "small_cnn"}},
    "endpoint": {"mode": "multi", "copies": 2},
    "space": {"copies": {"choice": [1, 2]}},
}


def refused(**given) -> str:
    with pytest.raises(ValidationError) as caught:
        BenchmarkDefinition(**{**GIVEN, **given})
    return str(caught.value)


def test_a_configuration_overrides_the_block():
    block = EndpointBlock(mode="multi", copies=2, memory="512MB")
    found = endpoint_of(block, {"copies": 8, "platform": "pt", "slo_ms": 50, "instance_type": "local.1cpu"})
    assert (found.copies, found.platform, found.memory, found.mode) == (8, "pt", 512_000_000, "multi")
    assert found.instance_type is None


def test_a_whole_number_may_be_written_with_a_point():
    assert endpoint_of(EndpointBlock(mode="multi"), {"copies": 4.0}).copies == 4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"endpoint": None}, "models are packaged for an endpoint"),
        ({"models": {}}, "there is nothing to serve"),
        ({"endpoint": {"mode": "multi", "model": "bert"}}, "there is no model 'bert'; known: cnn"),
        ({"space": {"model": {"choice": ["cnn", "bert"]}}}, "there is no model 'bert'"),
        ({"space": {"copies": {"choice": [0, 1]}}}, "copies 0: input should be greater than 0"),
        ({"space": {"platform": {"choice": ["onnx", "tf"]}}}, "platform 'tf'"),
        ({"space": {"server": {"choice": ["tgi"]}}}, "server 'tgi'"),
        ({"space": {}, "trials": [{"batch_delay_ms": -1.0}]}, "batch_delay_ms -1.0"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_definition(given, words):
    assert words in refused(**given)


def test_an_endpoint_that_exists_needs_no_models():
    found = BenchmarkDefinition(**{**GIVEN, "models": {}, "endpoint": {"mode": "multi", "existing": "theirs"}})
    assert found.endpoint is not None
    assert found.endpoint.existing == "theirs"


@pytest.mark.parametrize(
    ("given", "names", "words"),
    [
        ({"mode": "single"}, ["a", "b"], "mode single serves one model, and there are 2"),
        ({"mode": "single", "copies": 3}, ["a"], "3 copies need mode multi"),
        ({"mode": "single", "model": "a"}, ["a", "b"], None),
        ({"mode": "multi", "copies": 3}, ["a", "b"], None),
    ],
)
def test_mode_single_serves_one_model_once(given, names, words):
    found = single_problem(EndpointBlock(**given), names)
    assert found is None if words is None else words in (found or "")


def test_instances_of_the_endpoint_are_those_of_the_jobs():
    block = {"mode": "multi", "instance_type": "ml.m5.large", "instance_count": 2}
    found = BenchmarkDefinition(**{**GIVEN, "endpoint": block})
    assert found.arguments == {"instance_type": "ml.m5.large", "instance_count": 2}
    searched = {"instance_type": {"choice": ["ml.m5.large", "ml.c5.large"]}}
    assert BenchmarkDefinition(**{**GIVEN, "endpoint": block, "space": searched}).arguments == {"instance_count": 2}


def test_keys_that_the_endpoint_takes_reach_the_script_too():
    assert "copies" in BenchmarkDefinition(**GIVEN).calling.keys


def test_another_deployment_is_another_measurement():
    plain = BenchmarkDefinition(**GIVEN)
    for given in ({"endpoint": {"mode": "multi", "copies": 3}}, {"models": {"cnn": {"type": "small_cnn", "seed": 1}}}):
        assert definition_hash(BenchmarkDefinition(**{**GIVEN, **given})) != definition_hash(plain)


def test_a_definition_without_an_endpoint_is_what_it_was():
    plain = {key: value for key, value in GIVEN.items() if key not in ("models", "endpoint")}
    assert definition_hash(BenchmarkDefinition(**plain)) == "5ffdcd332ef647f5"


def test_the_words_are_those_of_deployments():
    fields = EndpointBlock.model_fields
    assert typing.get_args(fields["mode"].annotation) == deployment.MODES
    assert typing.get_args(models.Platform) == deployment.PLATFORMS
    assert typing.get_args(models.Datatype) == tuple(deployment.DATATYPES)
    assert typing.get_args(typing.get_args(fields["server"].annotation)[0]) == deployment.SERVERS
    assert "instance_type" not in endpoint.ENDPOINT_KEYS


def written(folder: Path, text: str) -> Path:
    (folder / "load.py").write_text("")
    path = folder / "served.yaml"
    path.write_text(text)
    return path


DEFINITION = """\
name: served
script: load.py
objectives: {max_rate_per_s: max}
models:
  net: {type: onnx, path: net.onnx}
endpoint: {mode: single}
space: {batch_delay_ms: {choice: [0.0, 2.0]}}
local: {endpoint: {memory: 1GB}}
"""


def test_a_file_is_relative_to_the_definition_and_a_block_is_laid_over(tmp_path):
    found = resolve(read_yaml(written(tmp_path, DEFINITION)), "local", ["endpoint.client_cores=0"]).definition
    assert found.models["net"].path == str(tmp_path / "net.onnx")
    assert found.endpoint == EndpointBlock(mode="single", memory=10**9, client_cores=0)


def test_a_wrong_key_is_said_with_its_line(tmp_path):
    with pytest.raises(UserError, match=r"served.yaml:6.*endpoint.memry: unknown key; did you mean 'memory'"):
        resolve(read_yaml(written(tmp_path, DEFINITION.replace("{mode: single}", "{memry: 1GB}"))), "local")


def test_two_models_of_one_name_are_refused_with_their_line(tmp_path):
    twice = DEFINITION.replace("  net: {type: onnx, path: net.onnx}", "  net: {type: onnx, path: net.onnx}\n  net: {type: small_cnn}")
    with pytest.raises(UserError, match=r"served.yaml:6.*the key 'net' is given twice"):
        resolve(read_yaml(written(tmp_path, twice)), "local")
