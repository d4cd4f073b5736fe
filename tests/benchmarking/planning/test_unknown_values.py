"""Words that a script is told and does not take."""

import pytest

from benchmarking.planning.unknown_values import check_own_values, unknown_values
from definitions.errors import UserError
from definitions.registry import built_in
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml

SCRIPT = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--optimizer", choices=["adam", "sgd"], default="adam")
parser.add_argument("--optim.kind", dest="kind", choices=["fast", "slow"])
parser.add_argument("--layers", nargs="+", choices=["a", "b"])
parser.add_argument("--size", type=int, choices=[1, 2])
parser.add_argument("--name")
parser.parse_args()
"""


def said(tmp_path, *lines, script=SCRIPT):
    (tmp_path / "t.py").write_text(script, encoding="utf-8")
    lines = lines if any(line.startswith(("space", "trials")) for line in lines) else (*lines, "space: {seed: {choice: [1, 2]}}")
    text = "name: one\nscript: t.py\nobjectives: {duration_s: min}\n" + "\n".join(lines) + "\n"
    return unknown_values(resolve(parse_yaml(text, tmp_path / "one.yaml"), "local", check_files=False).definition)


@pytest.mark.parametrize("line", ["space: {optimizer: {choice: [adam, sdg]}}", "arguments: {optimizer: sdg}", "trials: [{optimizer: sdg}]"])
def test_a_word_that_is_none_of_the_parser_s_is_named_wherever_it_is_given(tmp_path, line):
    assert said(tmp_path, line) == ["optimizer=sdg is none of what the script takes by its source: adam, sgd; did you mean sgd?"]


def test_by_the_name_that_the_script_knows_it_by(tmp_path):
    found = said(tmp_path, "arguments: {speed: fats}", "rename: {speed: optim.kind}")
    assert found == ["speed=fats is none of what the script takes by its source: fast, slow; did you mean fast?"]


@pytest.mark.parametrize(
    "line",
    [
        "arguments: {optimizer: SGD}",  # a type such as str.lower may make it one
        "arguments: {optimizer: '${job}'}",
        "arguments: {name: anything, size: 1}",
        "arguments: {layers: c}",  # a list: each word of it may be meant
        "space: {lr: {uniform: [0, 1]}}",
    ],
)
def test_nothing_is_said_where_it_may_be_right(tmp_path, line):
    assert said(tmp_path, line) == []


def test_a_script_that_lists_nothing_takes_anything(tmp_path):
    assert said(tmp_path, "arguments: {optimizer: sdg}", script="import sys\nprint(sys.argv)\n") == []


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("model=resnet19", "model=resnet19"),
        ("accelerator=h100_resnet51", "did you mean h100_resnet50?"),
        ("page_cache=colt", "did you mean cold?"),
        ("start_method=thread", "fork, spawn, forkserver"),
        ("s3_reader=seqential", "did you mean sequential?"),
    ],
)
def test_our_own_script_is_told_nothing_that_it_does_not_know(setting, words):
    definition = resolve(built_in("demo"), "local", [f"arguments.{setting}"], check_files=False).definition
    with pytest.raises(UserError) as caught:
        check_own_values(definition)
    assert words in str(caught.value)


@pytest.mark.parametrize("setting", ["model=mine:Net", "model=resnet18", "accelerator=''", "start_method=spawn"])
def test_our_own_script_is_told_what_it_knows(setting):
    check_own_values(resolve(built_in("demo"), "local", [f"arguments.{setting}"], check_files=False).definition)
