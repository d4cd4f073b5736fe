"""Whose interpreter the key `python` names, on each back-end."""

from pathlib import Path

import pytest

from definitions.resolve import resolve
from definitions.show import render
from definitions.yaml_source import parse_yaml


def resolved(text, backend, **options):
    return resolve(parse_yaml(text, Path("demo.yaml")), backend, check_files=False, **options)


def test_an_interpreter_of_this_machine_is_not_looked_for_in_a_container():
    text = "name: d\nscript: t.py\npython: .venv/bin/python\nspace: {a: 1}\nobjectives: {x: min}\nsagemaker: {framework: pytorch}\n"
    assert resolved(text, "local").definition.python == str(Path.cwd() / ".venv/bin/python")
    assert resolved(text, "sagemaker").definition.python is None
    there = text.replace("pytorch}", "pytorch, python: /opt/conda/bin/python}")
    assert resolved(there, "sagemaker").definition.python == "/opt/conda/bin/python"


@pytest.mark.parametrize("block", ["framework: pytorch", "framework: pytorch, python: /opt/conda/bin/python"])
def test_an_emulated_container_has_the_interpreters_of_this_machine(block):
    text = f"name: d\nscript: t.py\npython: .venv/bin/python\nspace: {{a: 1}}\nobjectives: {{x: min}}\nsagemaker: {{{block}}}\n"
    found = resolved(text, "sagemaker", environ={"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"}).definition.python
    assert found == ("/opt/conda/bin/python" if "conda" in block else str(Path.cwd() / ".venv/bin/python"))
    assert resolved(text, "sagemaker", environ={"AWS_ENDPOINT_URL": "https://example.com"}).definition.python in (
        None,
        "/opt/conda/bin/python",
    )


def test_the_interpreter_of_a_container_is_still_its_own_where_a_resolved_definition_is_read_again():
    text = "name: d\nscript: t.py\nspace: {a: 1}\nobjectives: {x: min}\nsagemaker: {framework: pytorch, python: /opt/conda/bin/python}\n"
    first = resolved(text, "sagemaker")
    assert resolved(render(first), "sagemaker").definition == first.definition
    assert first.origins["sagemaker.python"] == "demo.yaml:5 (sagemaker)"
