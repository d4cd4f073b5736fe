"""config.pbtxt in the forms that people write it in."""

from __future__ import annotations

import pytest

from backends.serving.pbtxt import ModelConfig, TensorConfig, parse

FULL = """
# Made by hand
name: "resnet"
platform: 'pytorch_libtorch'
max_batch_size: 32
input [
  { name: "INPUT__0", data_type: TYPE_FP32, dims: [ 3, 224, 224 ] }
]
output { name: "OUTPUT__0" data_type: TYPE_FP32 dims: 1000 }
instance_group [ { count: 2 kind: KIND_GPU }, { kind: KIND_CPU } ]
dynamic_batching { preferred_batch_size: [ 8, 16 ] max_queue_delay_microseconds: 500 }
parameters: { key: "MODE" value: { string_value: "a \\"b\\"" } }
"""


def test_what_servers_use_is_read():
    assert ModelConfig.of(FULL) == ModelConfig(
        32,
        True,
        0.5,
        3,
        (TensorConfig("INPUT__0", "FP32", (3, 224, 224)),),
        (TensorConfig("OUTPUT__0", "FP32", (1000,)),),
        (8, 16),
        {"MODE": 'a "b"'},
    )


def test_without_a_file_a_model_has_no_rows(tmp_path):
    assert ModelConfig.read(tmp_path / "config.pbtxt") == ModelConfig()


def test_several_inputs_are_read_one_by_one_or_as_a_list():
    one_by_one = 'input { name: "a" data_type: TYPE_INT64 dims: [-1] } input { name: "b" data_type: TYPE_INT64 dims: [-1] }'
    listed = 'input [ { name: "a" data_type: TYPE_INT64 dims: -1 }, { name: "b" data_type: TYPE_INT64 dims: [ -1 ] } ]'
    assert ModelConfig.of(one_by_one).inputs == ModelConfig.of(listed).inputs
    assert [one.name for one in ModelConfig.of(listed).inputs] == ["a", "b"]


@pytest.mark.parametrize("text", ["a {", "a [ 1", "a: }", '"a": 1', "max_batch_size: many", "input { dims: 3 }", "a: 1 ? b", 'a: "b'])
def test_what_is_no_configuration_is_refused(text):
    with pytest.raises(ValueError, match=r"config\.pbtxt|invalid literal"):
        ModelConfig.of(text)


def test_angle_brackets_and_separators_count_as_protocol_buffers_say():
    assert parse("a < b: 1; c: 2, > d: -3.5e2") == {"a": [{"b": ["1"], "c": ["2"]}], "d": ["-3.5e2"]}
