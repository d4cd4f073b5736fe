"""Objectives of which less is better, and what deciding while a job runs needs."""

from __future__ import annotations

import pytest

from benchmarking.methods.direction import Primary, need_levels
from benchmarking.methods.registry import build_method
from definitions.errors import UserError
from tests.benchmarking.methods.method_experiments import benchmark, context


@pytest.mark.parametrize(
    ("method", "changes", "says"),
    [
        ("ASHA", {"fidelity": None}, "method ASHA needs a fidelity"),
        ("MSR", {"fidelity": {"kind": "per_job", "argument": "fraction"}}, "MSR needs a progressive fidelity[\\s\\S]*per_job"),
        ("ASHA", {"objectives": {"cost_usd": "min"}}, "compares cost_usd while jobs run"),
        ("MOASHA", {"objectives": {"loss": "min", "duration_s": "min"}}, "compares duration_s while jobs run"),
        ("ASHA", {"space": {}, "trials": ({"x": 1},)}, "needs a definition with a `space`"),
        ("ASHA_TPE", {"space": {"x": 1}}, "holds one configuration"),
        ("PBT", {"fidelity": None}, "needs a fidelity"),
    ],
)
def test_what_a_method_cannot_handle_is_told_before_the_start(method, changes, says):
    with pytest.raises(UserError, match=says):
        build_method(method, benchmark(**changes), 0, {}, region="us-east-1")


def test_less_is_better_of_the_first_objective():
    assert Primary({"loss": "min", "speed": "max"}).value({"loss": "1.5", "speed": 3.0}) == 1.5
    assert Primary({"speed": "max", "loss": "min"}).value({"loss": 1.5, "speed": 3.0}) == -3.0


def test_only_the_objectives_that_are_compared_have_to_be_known_while_a_job_runs():
    made = context(objectives={"loss": "min", "cost_usd": "min"})
    assert need_levels("M", made).reported_as == "epoch"
    with pytest.raises(UserError, match=r"compares cost_usd while jobs run[\s\S]*name objectives that the script reports"):
        need_levels("M", made, all_objectives=True)
