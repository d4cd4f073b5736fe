"""Values keep the form in which they were written, through copies, JSON and the shown definition."""

import copy
import json
import pickle
from pathlib import Path

import pytest

from definitions.resolve import resolve
from definitions.show import render
from definitions.written import in_own_form, text_of, written_int
from definitions.yaml_source import parse_scalar, parse_yaml

FORMS = ["0x10", "0o17", "+5", "-0", "1e3", "1.50", "007", "1_000", "yes", "2026-11-27", "1:30", "12", "-3", "0.5"]


@pytest.mark.parametrize("form", FORMS)
def test_a_script_gets_what_was_written(form):
    value = parse_scalar(form)
    assert text_of(value) == form
    assert text_of(copy.deepcopy(value)) == form
    assert text_of(pickle.loads(pickle.dumps(value))) == form


@pytest.mark.parametrize("form", FORMS)
def test_a_value_that_comes_back_from_a_journal_has_its_form_again(form):
    value = parse_scalar(form)
    assert text_of(in_own_form(json.loads(json.dumps(value)), [7.5, value], whole=False)) == form


@pytest.mark.parametrize("form", FORMS)
def test_a_shown_definition_keeps_it(form):
    text = f"name: d\nscript: t.py\narguments: {{a: {form}}}\nspace: {{x: {{choice: [{form}, other]}}}}\nobjectives: {{loss: min}}\n"
    resolved = resolve(parse_yaml(text, Path("d.yaml")), "local", check_files=False)
    again = resolve(parse_yaml(render(resolved), Path("shown.yaml")), "local", check_files=False).definition
    assert text_of(again.arguments["a"]) == form
    assert text_of(again.search_space.domains["x"].grid(0)[0]) == form


def test_a_written_whole_number_is_one_in_all_else():
    value = written_int("0x10")
    assert (value, value + 1, json.dumps([value]), f"{value:d}") == (16, 17, "[16]", "16")
    assert type(written_int("16")) is int
