"""Shared examples."""

import pytest

GOOD = {
    "name": "demo",
    "script": "train.py",
    "space": {"a": {"choice": [1, "x", None]}, "b": {"logfinrange": [1, 9, 3, True]}, "c": 5},
    "objectives": {"loss": "min"},
    "datasets": {"photos": {"type": "images", "samples": "2k", "shard_size": "8MiB"}},
    "methods": {"M": {"base": "ASHA", "brackets": 3}},
    "sagemaker": {"space": {"a": {"uniform": [0, 1]}}, "framework_version": "2.9"},
}


@pytest.fixture
def definition_examples():
    """Definitions as data, and whether they are in order."""
    return [
        (GOOD, True),
        ({**GOOD, "datasets": "sets.yaml"}, True),
        ({**GOOD, "space": {"a": [1, 2]}}, False),
        ({**GOOD, "space": {"a": {"choise": [1]}}}, False),
        ({**GOOD, "space": {"a": {"quniform": [0, 1]}}}, False),
        ({**GOOD, "local": {"space": {"a": {"choice": []}}}}, False),
        ({**GOOD, "max_run": 3}, False),
        ({**GOOD, "budget": {"max_failures": -1}}, False),
        ({**GOOD, "datasets": {"photos": {"type": "images", "samples": "many"}}}, False),
        ({**GOOD, "order": "sorted"}, False),
    ]
