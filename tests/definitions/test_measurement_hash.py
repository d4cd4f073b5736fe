"""What makes two definitions measure the same of one configuration."""

from __future__ import annotations

import pytest

from definitions.definition_hash import measurement_hash
from definitions.schema import BenchmarkDefinition

PLAIN = {
    "name": "a",
    "script": "a.py",
    "space": {"x": {"uniform": [0, 1]}},
    "objectives": {"loss": "min"},
    "fidelity": {"kind": "per_job", "argument": "part", "ladder": [0.1]},
}


def hashed(**changes):
    return measurement_hash(BenchmarkDefinition(**(PLAIN | changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "b"},
        {"space": {"x": {"uniform": [0, 2]}, "y": 1}},
        {"space": {}, "trials": [{"x": 0.5}]},
        {"arguments": {"z": 1}},
        {"valid": ["x < 0.5"]},
        {"repeats": 3, "order": "interleave"},
        {"objectives": {"error": "max", "loss": "min"}},
        {"methods": {"m": {"base": "RS"}}, "method": "m"},
        {"warm_start": ["t"], "reuse": True, "points_to_evaluate": [{"x": 0.5}]},
        {"stands_for": {"x": {"0.5": "a half"}}},
        {"compare_within": ["x"]},
        {"budget": {"max_num_trials": 3}, "n_workers": 2, "log_cap": 1000},
        {"fidelity": {"kind": "per_job", "argument": "part", "ladder": [0.1, 0.2]}},
    ],
)
def test_what_is_measured_how_often_and_what_counts_is_not_in_it(changes):
    assert hashed(**changes) == hashed()


@pytest.mark.parametrize(
    "changes",
    [
        {"script": "b.py"},
        {"command": ["a.py", "${arguments}"], "script": None},
        {"arguments_style": "hyphens"},
        {"environment": {"A": "1"}},
        {"metrics": {"loss": "loss ([0-9.]+)"}},
        {"read": [{"path": "metrics.csv"}]},
        {"fidelity": {"kind": "per_job", "argument": "part", "full": 2}},
        {"fidelity": {"kind": "progressive", "argument": "part", "reported_as": "epoch", "full": 2}},
        {"exclusive": True},
        {"preload": ["torch"]},
        {"warmup_runs": 1},
        {"scale": 0.5},
        {"seed_argument": "seed"},
    ],
)
def test_how_the_script_is_run_and_read_is(changes):
    assert hashed(**changes) != hashed()
