"""Engines that a definition needs, by its types, batches and instances; prices are made up."""

from __future__ import annotations

import pytest

from benchmarking.planning.engine_orders import EngineCost, engine_cost
from benchmarking.planning.worst_case import WorstCase
from definitions.schema import BenchmarkDefinition

ENGINE = {
    "type": "package",
    "uri": "s3://b/there.tar.gz",
    "platform": "trt",
    "inputs": [{"name": "x", "shape": [4]}],
    "outputs": [{"name": "y", "shape": [2]}],
}


def cost(space, backend="sagemaker", price=2.0, models=None, **endpoint):
    definition = BenchmarkDefinition(
        name="served",
        script="load.py",
        objectives={"max_rate_per_s": "max"},
        models=models or {"net": {"type": "small_cnn", "max_batch_size": 8}},
        endpoint={"mode": "multi", **endpoint},
        space={"instance_type": {"choice": ["ml.g4dn.xlarge"]}, **space},
    )
    return engine_cost(definition, backend, lambda name: price)


@pytest.mark.parametrize(
    ("space", "count"),
    [
        ({"platform": {"choice": ["pt", "trt", "onnx"]}, "copies": {"choice": [1, 4, 8]}}, 1),
        ({"platform": {"choice": ["trt"]}, "instance_type": {"choice": ["ml.g4dn.xlarge", "ml.g5.xlarge"]}}, 2),
        ({"platform": {"choice": ["trt"]}, "max_batch_size": {"choice": [4, 8, 16]}, "batch_delay_ms": {"choice": [0.0, 2.0]}}, 3),
        ({"platform": {"choice": ["pt", "onnx"]}}, 0),
    ],
)
def test_an_engine_is_made_for_each_type_batch_and_instance(space, count):
    found = cost(space)
    assert (len(found.instance_types), found.seconds, found.usd) == (count, 3600.0 * count, 2.0 * count)


def test_what_needs_none():
    trt = {"platform": {"choice": ["trt"]}}
    assert cost(trt, models={"net": ENGINE}).instance_types == ()
    assert cost(trt, backend="local").instance_types == ()
    assert cost(trt, price=None).usd is None


def test_what_engines_cost_is_within_the_limit_of_money():
    one, worst = EngineCost(("ml.g4dn.xlarge",), 3600.0, 2.0), WorstCase(100.0, 0.5, 0.8, 0, 4)
    assert one.added_to(worst, None) == WorstCase(3700.0, 2.5, 2.8, 0, 4)
    assert one.added_to(worst, 2.6) == WorstCase(3700.0, 2.5, 2.6, 0, 4)
    unknown = EngineCost(("ml.x",), 3600.0, None)
    assert (unknown.added_to(worst, None).usd, unknown.added_to(worst, 2.6).usd) == (None, 2.6)
    assert EngineCost((), 0.0, 0.0).added_to(worst, None) is worst
