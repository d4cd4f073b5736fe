"""Forms of values: one for all keys, or by key."""

from pathlib import Path

import pytest

from definitions.errors import UserError
from definitions.forms import form_of, unknown_keys
from definitions.resolve import resolve
from definitions.yaml_source import parse_yaml


def made(*lines, settings=()):
    text = "name: d\nscript: t.py\nspace: {amp: {choice: [true, false]}, lr: 1}\nobjectives: {loss: min}\n" + "\n".join(lines) + "\n"
    return resolve(parse_yaml(text, Path("d.yaml")), "local", settings, check_files=False).definition.calling


def test_the_form_of_a_key():
    forms = {"amp": "switch", "*": "no_switch"}
    assert [form_of(forms, key, "value") for key in ("amp", "other")] == ["switch", "no_switch"]
    assert form_of({"amp": "switch"}, "other", "value") == "value"
    assert form_of("switch", "any", "value") == "switch"


def test_keys_that_there_are_not():
    assert [*unknown_keys({"ampp": "switch", "*": "value"}, ["amp", "lr"])] == [
        ("ampp", "the script is told no 'ampp'; did you mean 'amp'?")
    ]
    assert [*unknown_keys("switch", [])] == []


def test_both_ways_are_read():
    assert made("booleans: switch").boolean("amp") == "switch"
    calling = made("booleans: {amp: switch}", "lists: {'*': comma, lr: repeated}")
    assert (calling.boolean("amp"), calling.boolean("lr"), calling.list_form("amp"), calling.list_form("lr")) == (
        "switch", "value", "comma", "repeated"
    )  # fmt: skip
    assert made(settings=["booleans.amp=switch"]).boolean("amp") == "switch"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("booleans: swich", "one of value, switch, no_switch, or a mapping of keys to these ('*' for all others); did you mean 'switch'"),
        ("lists: {lr: word}", "lists: lr: must be one of words, repeated, comma, or a mapping"),
        ("lists: {lrr: words}", "lists.lrr: the script is told no 'lrr'; did you mean 'lr'?"),
        ("booleans: {}", "booleans: must be one of"),
        ("booleans: [switch]", "booleans: must be one of"),
    ],
)  # fmt: skip
def test_what_is_no_form(line, said):
    with pytest.raises(UserError) as caught:
        made(line)
    assert said in str(caught.value)
