"""What only this machine has: refused where a study cannot go on without it, else named."""

from __future__ import annotations

import sys

import pytest

from benchmarking.archive.identity import ExperimentSpec
from definitions.errors import UserError
from definitions.registry import Registry
from definitions.remote import RemoteOptions
from definitions.resolve import resolve
from launch.launching import laptop_only
from launch.launching.laptop_only import check_travels


def spec(tmp_path, *settings: str, method: str = "RS", backend: str = "sagemaker") -> ExperimentSpec:
    resolved = resolve(Registry().find("digits"), backend, settings)
    return ExperimentSpec(resolved, method, 0, "t", tmp_path, hears_levels=False, repeats=1)


class Distribution:
    name = "outrider_Other"


class Point:
    name = "OTHER"
    dist = Distribution()


@pytest.fixture
def plugin(monkeypatch):
    monkeypatch.setattr(laptop_only, "installed", lambda group: (Point(),) if group == "outrider.methods" else ())


def test_a_study_of_built_in_parts_travels(tmp_path):
    assert check_travels([spec(tmp_path)], RemoteOptions(), {}) == ()


@pytest.mark.parametrize("line", ["outrider-other", "outrider_other>=2", "git+https://example.com/x#egg=outrider-other"])
def test_a_plug_in_travels_by_its_requirement_alone(tmp_path, plugin, line):
    with pytest.raises(UserError, match=r"method OTHER comes from the package outrider_Other, which is not in remote.requirements"):
        check_travels([spec(tmp_path, method="OTHER")], RemoteOptions(), {})
    assert check_travels([spec(tmp_path, method="OTHER")], RemoteOptions(requirements=(line,)), {}) == ()


def test_a_variant_of_a_plug_ins_method_is_found_by_its_base(tmp_path, plugin):
    with pytest.raises(UserError, match="method OTHER comes from"):
        check_travels([spec(tmp_path, "methods.mine.base=OTHER", method="mine")], RemoteOptions(), {})


def test_a_definition_that_names_a_method_of_this_machine_alone_is_refused(tmp_path, plugin):
    # No experiment runs it, and yet the definition could not be read without it.
    with pytest.raises(UserError, match=r"digits: its definition can be read on this machine alone: .*OTHER"):
        check_travels([spec(tmp_path, "methods.mine.base=OTHER")], RemoteOptions(), {})


def test_results_and_interpreters_of_this_machine_are_refused_together(tmp_path):
    with pytest.raises(UserError, match=r"2 things are only on this machine") as raised:
        check_travels([spec(tmp_path, f"python={sys.executable}", "warm_start=earlier", backend="local")], RemoteOptions(), {})
    assert "warm_start reads the results of earlier" in str(raised.value)
    assert f"python {sys.executable} is an interpreter of this machine" in str(raised.value)


def test_paths_and_variables_are_named(tmp_path):
    (tmp_path / "data").mkdir()
    with_path = spec(tmp_path, f"arguments.data={tmp_path / 'data'}", f"environment.OTHER={tmp_path}/none", "reuse=true")
    assert check_travels([with_path], RemoteOptions(), {"OUTRIDER_PRICES": "p", "OUTRIDER_ROLE": "r"}) == (
        "digits: reuse: what was measured on this machine is not there",
        f"digits: arguments.data = {tmp_path / 'data'} is a path of this machine",
        "variables that do not travel: OUTRIDER_PRICES",
    )


def test_a_home_folder_is_a_path_of_this_machine(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert check_travels([spec(tmp_path, "arguments.data=~/data")], RemoteOptions(), {}) == (
        "digits: arguments.data = ~/data is a path of this machine",
    )
