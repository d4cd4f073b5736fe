"""A shown definition loads to what was shown."""

from pathlib import Path

import pytest
import yaml

from definitions.definition_hash import definition_hash
from definitions.resolve import Resolved, resolve, resolve_python
from definitions.schema import BenchmarkDefinition, Budget
from definitions.show import render
from definitions.yaml_source import parse_yaml

TEXT = """\
name: demo
script: train.py
source_dir: /code
space:
  batch_size: {choice: [32, 64]}
  mode: file
objectives: {loss: min}
budget: {max_cost: 2}
local: {repeats: 2, grace_s: 1}
"""
SHOWN = """\
name: demo                            # demo.yaml:1
description: ""                       # default
script: train.py                      # demo.yaml:2
source_dir: /code                     # demo.yaml:3
include: []                           # default
command: null                         # default
arguments_style: flags                # default
booleans: value                       # default
lists: words                          # default
rename: {}                            # default
python: null                          # default
working_dir: job                      # default
environment: {}                       # default
metrics: null                         # default
progress: null                        # default
read: []                              # default
seed_argument: null                   # default
prepare: null                         # default
cleanup: null                         # default
warmup_runs: 0                        # default
arguments: {}                         # default
space:
  batch_size: {choice: [32, 64, 96]}  # --set
  mode: file                          # demo.yaml:6
valid: []                             # default
base_trial: {}                        # default
trials: []                            # default
inputs: {}                            # default
datasets: {}                          # default
models: {}                            # default
endpoint: null                        # default
scale: 1.0                            # default
stands_for: {}                        # default
compare_within: {}                    # default
repeats: 2                            # demo.yaml:9 (local)
order: default                        # default
objectives:
  loss: min                           # demo.yaml:7
fidelity: null                        # default
n_workers: null                       # default
exclusive: null                       # default
budget:
  max_wallclock_time: null            # default
  max_failures: 3                     # default
  max_cost: 2.0                       # demo.yaml:8
  max_num_trials: null                # default
  max_run: null                       # default
keep: 1                               # default
log_cap: 100000000                    # default
preload: []                           # default
method: null                          # default
methods: {}                           # default
points_to_evaluate: []                # default
warm_start: []                        # default
reuse: false                          # default
study:
  methods: []                         # default
  seeds: 8                            # default
remote: {}                            # default
local:
  grace_s: 1.0                        # demo.yaml:9 (local)
  store_faults: null                  # default
"""


def again(resolved: Resolved) -> BenchmarkDefinition:
    return resolve(parse_yaml(render(resolved), Path("shown.yaml")), resolved.backend, check_files=False).definition


def test_what_it_looks_like():
    assert render(resolve(parse_yaml(TEXT, Path("demo.yaml")), "local", ["batch_size=32,64,96"], check_files=False)) == SHOWN


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "on",
        "null",
        "~",
        "true",
        "1e-3",
        "1e5",
        "12",
        "010",
        "1_000",
        "1:30",
        "2026-11-27",
        "0x1f",
        ".5",
        ".nan",
        "",
        " x ",
        "a: b",
        "a # b",
        "#",
        "line\nbreak\n",
        "tab\there",
        "'",
        '"',
        "it's",
        "- x",
        "[1",
        "{",
        "*a",
        "&a",
        "!x",
        "%x",
        "@x",
        "`x",
        "größe 日本",
        "\u2028",
        "\ufeff",
        "x" * 300,
        "a " * 100,
        "\\n",
        "<<",
        "=",
        "\U0001f600",
        "\x85",
    ],
)
def test_any_text_comes_back(text):
    definition = BenchmarkDefinition(
        name="d",
        description=text,
        script="t.py",
        arguments={"x": text},
        space={"a": text, "b": {"choice": [text, 1, None]}},
        objectives={text or "x": "min"},
    )
    resolved = resolve_python(definition, "local", check_files=False)
    assert again(resolved) == resolved.definition
    assert yaml.safe_load(render(resolved))["arguments"]["x"] == text


@pytest.mark.parametrize("number", [1e-5, 1e300, 0.1, 1e16, -0.0, 5e-324, 2.0, 123456789.123, float("inf"), 10**30, True, None])
def test_any_number_comes_back(number):
    definition = BenchmarkDefinition(name="d", script="t.py", arguments={"x": number}, space={"a": 1}, objectives={"x": "min"})
    resolved = resolve_python(definition, "local", check_files=False)
    read = again(resolved).arguments["x"]
    assert (repr(read), type(read)) == (repr(number), type(number))


def test_everything_at_once_comes_back_with_the_same_hash():
    definition = BenchmarkDefinition.model_validate(
        {
            "name": "d",
            "script": "t.py",
            "objectives": {"a": "max", "b": "min"},
            "base_trial": {"a": 1, "b": "no"},
            "trials": [{}, {"c": None, "dataset": "p.q"}, {"a": 1e-7, "dataset": "s"}],
            "valid": ["not (a == 'x: y' and b in ['#'])"],
            "inputs": {"train": {"dataset": "s"}, "test": {}},
            "datasets": {"p.q": {"type": "images", "samples": "2k"}, "s": {"type": "s3", "uri": "s3://b/c"}},
            "fidelity": {"kind": "progressive", "argument": "epochs", "reported_as": "epoch", "full": 27},
            "methods": {"M.1": {"base": "ASHA", "brackets": 3, "nested": {"x": [1, {"y": "no"}]}}},
            "study": {"methods": ["M.1"], "seeds": 2},
            "simulated": {"table": "x.csv", "failure_rate": 0.1},
        }
    )
    resolved = resolve_python(definition, "simulated", check_files=False)
    assert again(resolved) == resolved.definition
    assert definition_hash(again(resolved)) == definition_hash(resolved.definition)
    assert "  - {c: null, dataset: p.q}" in render(resolved)


def test_a_long_line_does_not_push_all_comments_away():
    definition = BenchmarkDefinition(
        name="d", script="t.py", space={"a": {"choice": list(range(100))}}, objectives={"x": "min"}, budget=Budget(max_cost=1)
    )
    lines = render(resolve_python(definition, "local", check_files=False)).splitlines()
    assert next(line for line in lines if line.startswith("  a:")).endswith("98, 99]}  # python")
    assert max(line.index("#") for line in lines if "  # " in line and not line.startswith("  a:")) < 65
