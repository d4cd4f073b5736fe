"""Texts that name a key without a value: what goes with it, and what is refused before anything starts."""

from pathlib import Path

import pytest

from benchmarking.planning.absent_keys import check_absent_keys, has_own_flag, is_left_out, lacking_keys
from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.template import parse_template
from definitions.yaml_source import parse_yaml


def definition(*lines):
    text = "name: one\nobjectives: {duration_s: min}\n" + "\n".join(lines) + "\n"
    return resolve(parse_yaml(text, Path("one.yaml")), "local", check_files=False).definition


def said(*lines):
    try:
        check_absent_keys(definition(*lines))
    except UserError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("word", "goes"),
    [("${m}", True), ("--m=${m}", True), ("optim.m=${m}", True), ("-m${m}", True), ("--m ${m}", False), ("a b=${m}", False),
     ("${m}.csv", False), ("dir/${m}", False), ("--x=${l},${m}", False), ("--x=a/${m}", False)],
)  # fmt: skip
def test_the_words_that_are_a_keys_alone(word, goes):
    assert is_left_out(parse_template(word)) is goes


@pytest.mark.parametrize(
    ("before", "own"), [("--m", True), ("-m", True), ("--optim-m", False), ("m", False), ("--M", True), ("--momentum", True), ("-v", False)]
)
def test_a_keys_own_flag(before, own):
    assert has_own_flag(before, "m", {"m": "--momentum"}) is own


def test_which_keys_a_trial_may_be_without():
    found = lacking_keys(
        definition(
            "script: t.py",
            "arguments: {a: null, b: 1, instance_type: local.1cpu}",
            "space: {o: {choice: [sgd, null]}, x: {choice: [1, 2]}, m: {when: 'x == 1', uniform: [0, 1]}}",
        )
    )
    assert {key: why for key, why in found.items() if "." not in key} == {
        "a": "is null", "o": "may be null", "m": "is there only when x == 1"
    }  # fmt: skip
    assert found["outrider.instance_count"] == "is given nowhere"
    assert "outrider.instance_type" not in found
    listed = lacking_keys(definition("script: t.py", "trials: [{x: 1, y: 2, z: null}, {x: 3, z: 1}]"))
    assert (listed.get("x"), listed["y"], listed["z"]) == (None, "is not in every trial", "may be null")


SPACE = "space: {o: {choice: [sgd, adam]}, m: {when: \"o == 'sgd'\", uniform: [0, 1]}}"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("command: [sh, -c, 'train --o ${o} --m ${m}']", "command: 'train --o ${o} --m ${m}' names m, which is there only when o == 'sgd'"),
        ("command: [p, --name, 'run_${o}_${m}']", "command: 'run_${o}_${m}' names m"),
        ("command: [p, '${o}', -n, '${m}']", "command: -n would stay alone before ${m}, which is there only when"),
        ("command: [papermill, a, -p, o, '${o}', -p, m, '${m}']", "command: m would stay alone before ${m}"),
        ("command: [p, '${arguments}']\nprepare: [sh, -c, 'mkdir ${m}']", "prepare: 'mkdir ${m}' names m"),
        ("script: t.py\nenvironment: {TAG: 'a ${m}'}", "environment.TAG: a ${m} names m"),
        ("command: [sh, -c, 'p ${arguments} ${level}']", "names outrider.level, which has no value without `fidelity`"),
        ("command: [sh, -c, 'p ${arguments} ${instance_count}']", "names outrider.instance_count, which is given nowhere"),
    ],
)
def test_what_would_say_something_else_is_refused(line, problem):
    assert problem in said(SPACE, *line.split("\n"))


@pytest.mark.parametrize(
    "line",
    [
        "command: [sh, -c, 'train --o ${o} --m ${m:-0}']",
        "command: [sh, -c, 'train ${arguments} | tee log']",
        "command: [p, --o, '${o}', --m, '${m}', -x]",
        "command: [p, '${o}', '--m=${m}', --, '${m}']",
        "script: t.py\nenvironment: {M: '${m}'}",
    ],
)
def test_what_is_clear_is_not(line):
    assert said(SPACE, *line.split("\n")) == ""


def test_a_file_of_metrics_must_have_a_name_in_every_trial():
    text = said(SPACE, "script: t.py", "read: 'log_${m}.csv'")
    assert "read: log_${m}.csv names m, which is there only when o == 'sgd'" in text
    assert "say what stands in its place, ${key:-TEXT}" in text
