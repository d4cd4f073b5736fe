import pytest

from benchmarking.planning.concurrency import instance_types, worker_count
from tests.benchmarking.experiments import definition

TWO_TYPES = {"instance_type": {"choice": ["local.1cpu", "local.4cpu"]}}


def capacity(instance_type):
    return {"local.1cpu": 8, "local.4cpu": 2, "ml.m5.large": 20, "ml.g5.xlarge": 3}.get(instance_type, 0)


@pytest.mark.parametrize(
    ("changes", "backend", "workers"),
    [
        ({}, "local", 8),
        ({"space": TWO_TYPES}, "local", 8),
        ({"n_workers": 3}, "local", 3),
        ({"n_workers": 50}, "local", 8),  # a ceiling: no more than fit
        ({"n_workers": 3, "exclusive": True}, "local", 1),
        ({"n_workers": 50, "arguments": {"instance_type": "ml.m5.large"}}, "sagemaker", 50),
        ({"objectives": {"cost_usd": "min"}}, "local", 1),
        ({"objectives": {"samples_per_s": "max"}}, "local", 1),
        ({"objectives": {"samples_per_s": "max"}, "exclusive": False}, "local", 8),
        ({"exclusive": True}, "local", 1),
        ({"arguments": {"instance_type": "ml.m5.large"}, "exclusive": True}, "sagemaker", 4),
        ({"arguments": {"instance_type": "ml.g5.xlarge"}}, "sagemaker", 3),
        ({"arguments": {"instance_type": "local.99cpu"}}, "local", 1),
    ],
)
def test_workers(changes, backend, workers):
    assert worker_count(definition(**changes), backend, capacity) == workers


def test_every_instance_type_once():
    assert instance_types(definition(space=TWO_TYPES), "local") == ["local.1cpu", "local.4cpu"]
    listed = definition(space={}, trials=({"instance_type": "b"}, {"x": 1}, {"instance_type": "b"}), arguments={})
    assert instance_types(listed, "local") == ["b", "local.1cpu"]
    assert instance_types(definition(arguments={"instance_type": "c"}), "local") == ["c"]
