"""Values keep the form in which they were written, through copies, JSON and the shown definition."""

import copy
import json
import pickle
from pathlib import Path

import pytest

from definitions.resolve import resolve
from definitions.show import inline, render
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


def test_numbers_within_lists_and_mappings_have_their_forms_too():
    value = parse_yaml("a: {betas: [1e3, -1e-5, 0x10, .5], on: true, none: null, text: 1e3 }", Path("d.yaml")).data["a"]
    assert text_of(value) == '{"betas":[1e3,-1e-5,16,0.5],"on":true,"none":null,"text":1e3}'
    from_journal = json.loads(json.dumps(value, sort_keys=True))
    assert text_of(in_own_form(from_journal, [{"betas": []}, value], whole=False)) == text_of(value)
    assert [text_of(one) for one in in_own_form([1000.0, 2], [[1], [parse_scalar("1e3"), 2]], whole=False)] == ["1e3", "2"]
    assert text_of([float("inf"), {1: float("nan")}]) == '[Infinity,{"1":NaN}]'


def test_true_is_no_number_in_a_list_either():
    listed = [[1, 0], [True, False], {"a": [1]}]
    assert in_own_form([True, False], listed, whole=False) is listed[1]
    assert in_own_form([1.0, 0.0], listed, whole=False) is listed[0]
    assert in_own_form({"a": [True]}, listed, whole=False) == {"a": [True]}


def test_a_drawn_negative_exponent_is_shown_so_that_it_comes_back_as_one_that_nobody_wrote():
    text = "name: d\nscript: t.py\narguments: {{a: {}}}\nspace: {{x: {{choice: [1, 2]}}}}\nobjectives: {{loss: min}}\n"
    resolved = resolve(parse_yaml(text.format("-1e-05"), Path("d.yaml")), "local", check_files=False)
    assert "a: -1e-05" in render(resolved)
    assert inline({"a": -1e-05, "b": 1e-05}) == "{a: -0.00001, b: 1e-05}"
