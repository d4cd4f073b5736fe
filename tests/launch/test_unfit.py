"""What cannot be on this machine, found without starting anything."""

from __future__ import annotations

import os

import pytest

from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.yaml_source import read_yaml
from launch.planning import plan
from launch.request import RunRequest
from launch.unfit import no_endpoint, why_alone, why_unfit, with_script, workers_here


def resolved(toy, *settings, check_files=True):
    return resolve(read_yaml(toy.folder / "toy.yaml"), "local", settings, check_files=check_files)


def test_a_machine_that_is_too_small_and_a_listed_trial_that_cannot_run_are_told(toy):
    assert why_unfit(resolved(toy), os.environ) is None
    assert "local.9000cpu does not fit here" in str(why_unfit(resolved(toy, "arguments.instance_type=local.9000cpu"), os.environ))
    toy.define(space="", trials="[{x: 0.5}, {x: 0.1}]", valid="['x < 0.4']")
    assert "trials.0: ruled out by valid: x < 0.4" in str(why_unfit(resolved(toy), os.environ))


def test_the_number_of_workers_is_that_which_an_experiment_here_would_have(toy):
    cores = len(os.sched_getaffinity(0))
    assert workers_here(resolved(toy, "arguments.instance_type=local.1cpu"), os.environ) == cores
    assert workers_here(resolved(toy, "exclusive=true"), os.environ) == 1
    elsewhere = resolve(read_yaml(toy.folder / "toy.yaml"), "sagemaker", ["sagemaker.arguments.instance_type=ml.c5.xlarge"])
    assert workers_here(elsewhere, os.environ) is None


def test_why_experiments_do_not_run_at_once_is_said_with_what_would_help(toy):
    cores = len(os.sched_getaffinity(0))
    one = "arguments.instance_type=local.1cpu"
    assert why_alone(resolved(toy, one, "n_workers=1"), os.environ) == ""
    said = why_alone(resolved(toy, one), os.environ)
    assert said.startswith(f"an experiment of toy has {cores} workers, and this machine room for {cores} such jobs")
    assert said.endswith(f"--n_workers {cores // 2} lets two run at once")
    assert "nothing may run beside a trial of toy (exclusive)" in why_alone(resolved(toy, "exclusive=true"), os.environ)
    assert why_alone(resolve(read_yaml(toy.folder / "toy.yaml"), "sagemaker", []), os.environ) == ""


def test_a_missing_script_is_tolerated_only_where_it_is_all_that_is_wrong(toy):
    toy.define(script="nowhere.py")
    found, why = with_script(lambda check: resolved(toy, check_files=check), tolerant=True)
    assert found.definition.name == "toy"
    assert "there is no file 'nowhere.py'" in str(why)
    with pytest.raises(UserError, match=r"nowhere\.py"):
        with_script(lambda check: resolved(toy, check_files=check), tolerant=False)
    toy.define(script="nowhere.py", space="3")
    with pytest.raises(UserError, match="space"):
        with_script(lambda check: resolved(toy, check_files=check), tolerant=True)


ENDPOINT = """
name: toy
script: toy.py
objectives: {max_rate_per_s: max}
space: {copies: {choice: [1, 2]}}
models: {net: {type: small_cnn}}
endpoint: {mode: multi}
"""


def test_an_endpoint_is_refused_where_none_can_be_brought_up(toy):
    assert no_endpoint(resolved(toy), os.environ) is None
    (toy.folder / "toy.yaml").write_text(ENDPOINT)
    found = no_endpoint(resolve(read_yaml(toy.folder / "toy.yaml"), "simulated", ["simulated.table=t.csv"], check_files=False), os.environ)
    assert "benchmark toy on simulated: it has an `endpoint`" in str(found)
    assert "back-end simulated brings up none" in str(found)


def test_an_endpoint_is_refused_before_anything_starts(toy):
    given = "models: {net: {type: small_cnn}}\nendpoint: {mode: single}\n"
    path = toy.folder / "toy.yaml"
    path.write_text(path.read_text(encoding="utf-8") + given)
    with pytest.raises(UserError, match="back-end simulated brings up none"):
        plan(RunRequest((str(path),), backend="simulated", results_dir=toy.folder / "results"))
    assert not (toy.folder / "results").exists()
