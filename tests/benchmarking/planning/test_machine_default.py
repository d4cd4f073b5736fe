"""The instance type that a machine offers becomes an argument of the definition, where nobody named one."""

import pytest

from benchmarking.planning.machine_default import with_machine_default
from definitions.resolve import Resolved
from tests.benchmarking.experiments import definition

TWO_GPUS = {"CUDA_VISIBLE_DEVICES": "0,1"}


def with_default(environ, backend="local", **changes):
    return with_machine_default(Resolved(definition(**changes), {}, backend), environ)


def test_with_gpus_it_is_a_share_with_one_and_its_origin_is_the_machine():
    found = with_default(TWO_GPUS)
    assert str(found.definition.arguments["instance_type"]).endswith("cpu.1gpu")
    assert found.origins["arguments.instance_type"] == "this machine"


@pytest.mark.parametrize(
    "said",
    [
        {"arguments": {"instance_type": "local.1cpu"}},
        {"space": {"x": {"choice": [1]}, "instance_type": {"choice": ["local.1cpu"]}}},
    ],
)
def test_what_was_said_stays(said):
    assert with_default(TWO_GPUS, **said).definition == definition(**said)


def test_without_gpus_and_on_other_back_ends_nothing_changes():
    assert with_default({"CUDA_VISIBLE_DEVICES": ""}).definition == definition()
    assert with_default(TWO_GPUS, backend="simulated").definition == definition()
