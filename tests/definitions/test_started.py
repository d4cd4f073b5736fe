"""What is to be started and is not there is told before anything starts."""

import sys

import pytest

from definitions.errors import UserError
from definitions.resolve import resolve
from definitions.started import script_of
from definitions.yaml_source import parse_yaml

HEAD = "name: d\nspace: {a: {choice: [1, 2]}}\nobjectives: {duration_s: min}\n"


@pytest.fixture
def resolved(tmp_path):
    """Resolve a definition in a folder that has a script."""
    for name in ("t.py", "own-program"):
        (tmp_path / name).touch()

    def call(lines: str, backend: str = "local"):
        return resolve(parse_yaml(HEAD + lines, tmp_path / "d.yaml"), backend, environ={}).definition

    return call


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("script: t.py\npython: /nowhere/python\n", "d.yaml:5: python: /nowhere/python\n  there is no such program"),
        ("script: t.py\npython: t.py\n", "there is no such program"),
        ("script: t.py\npython: ./t.py\n", "it is there and cannot be run"),
        ('command: [own-program, "${arguments}"]\n', "the one in source_dir is ./own-program"),
        ('command: [no-such-run, t.py, "${arguments}"]\n', "d.yaml:4: command: there is no program 'no-such-run'"),
        ("script: t.py\nprepare: [no-such-make, all]\n", "d.yaml:5: prepare: there is no program 'no-such-make'"),
        ("script: t.py\ncleanup: no-such-rm -r x\n", "d.yaml:5: cleanup: there is no program 'no-such-rm'"),
        ('command: [./nothing, "${arguments}"]\n', "d.yaml:4: command: ./nothing\n  there is no file"),
        ('command: [./own-program, "${arguments}"]\n', "own-program is there and cannot be run\n  chmod +x it"),
        ("script: t.py\nprepare: [/nowhere/at/all]\n", "d.yaml:5: prepare: /nowhere/at/all\n  there is no file /nowhere/at/all"),
    ],
)
def test_a_program_that_is_not_there_is_named(resolved, lines, said):
    with pytest.raises(UserError) as caught:
        resolved(lines)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "lines",
    [
        f"script: t.py\npython: {sys.executable}\n",
        'command: [pytest, t.py, "${arguments}"]\n',  # beside the interpreter
        'command: [sh, -c, "echo ${arguments}"]\n',
        'command: [./made, "${arguments}"]\nprepare: [sh, -c, make]\n',
        'command: [made, "${arguments}"]\nprepare: [sh, -c, make]\n',
        "script: t.py\nprepare: [sh, -c, make]\ncleanup: [./made]\n",
        "script: t.py\ncleanup: [sh, -c, ls]\n",
        'command: [made, "${arguments}"]\nenvironment: {PATH: /opt/made/bin}\n',
        'command: ["${a}", "${arguments}"]\n',
    ],
)
def test_what_is_there_or_may_be_there_by_then_is_taken(resolved, lines):
    resolved(lines)


def test_the_programs_of_a_container_are_its_own(resolved):
    text = """command: [no-such-run, t.py, "${arguments}"]
arguments: {instance_type: ml.m5.large}
sagemaker: {image: "1.dkr.ecr.eu-west-1.amazonaws.com/a:1", role: "arn:aws:iam::1:role/r"}
"""
    assert resolved(text, "sagemaker").command[0] == "no-such-run"


def test_the_script_that_python_is_given(resolved):
    assert script_of(resolved("script: t.py\n")) == "t.py"
    assert script_of(resolved('command: [python, t.py, "${arguments}"]\n')) == "t.py"
    assert script_of(resolved('command: [python, -m, t, "${arguments}"]\n')) is None
