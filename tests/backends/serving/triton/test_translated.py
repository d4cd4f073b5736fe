"""A package's configuration as that of the Python back-end."""

from __future__ import annotations

from backends.serving.pbtxt import ModelConfig
from backends.serving.triton.translated import python_config

SEED = """
name: "resnet"
platform: "pytorch_libtorch"
max_batch_size: 32
input { name: "INPUT__0" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] }
output { name: "OUTPUT__0" data_type: TYPE_FP32 dims: [ 1000 ] }
instance_group { count: 2 kind: KIND_GPU }
dynamic_batching { preferred_batch_size: [ 8, 16 ] max_queue_delay_microseconds: 500 }
"""


def test_all_is_kept_but_where_it_runs():
    text = python_config("m1", ModelConfig.of(SEED), None, 0.0)
    assert text.splitlines()[:3] == ['name: "m1"', 'backend: "python"', "max_batch_size: 32"]
    assert "count: 2 kind: KIND_CPU" in text
    assert "preferred_batch_size: [ 8, 16 ] max_queue_delay_microseconds: 500" in text
    before, after = ModelConfig.of(SEED), ModelConfig.of(text)
    assert (after.inputs, after.outputs, after.preferred) == (before.inputs, before.outputs, before.preferred)


def test_the_deployment_s_own_numbers_count():
    text = python_config("m1", ModelConfig.of(SEED), 8, 2.0)
    assert "max_batch_size: 8" in text
    assert "preferred_batch_size: [ 8 ] max_queue_delay_microseconds: 2000" in text
    assert "dynamic_batching" not in python_config("m1", ModelConfig.of(SEED), 1, 2.0)
