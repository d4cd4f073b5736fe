"""Values that came through a journal are in the order and in the forms of the definition again."""

import json
from pathlib import Path

from benchmarking.planning.own_forms import OwnForms
from definitions.resolve import resolve
from definitions.written import text_of
from definitions.yaml_source import parse_yaml

HEAD = "name: d\nscript: t.py\nobjectives: {loss: min}\n"


def forms(line: str) -> OwnForms:
    return OwnForms(resolve(parse_yaml(HEAD + line, Path("d.yaml")), "local", check_files=False).definition)


def test_a_configuration_of_a_space_is_as_the_space_writes_it():
    made = forms("space: {z: {choice: [1e3, [1e1, 2]]}, n: {randint: [1, 3]}, a: {uniform: [0, 1]}, n2: {finrange: [1.0, 3, 3]}}\n")
    found = made.of(json.loads('{"a": 0.5, "n": 2.0, "n2": 2.0, "other": 7, "z": [10.0, 2]}'))
    assert [*found] == ["z", "n", "a", "n2", "other"]
    assert [text_of(one) for one in found["z"]] == ["1e1", "2"]
    assert (text_of(found["n"]), text_of(found["n2"]), found["other"]) == ("2", "2.0", 7)


def test_a_configuration_of_listed_trials_too():
    made = forms("base_trial: {b: 0x10}\ntrials: [{z: 1e3}, {z: [1e-2], a: -1e-5}]\n")
    found = made.of({"a": -1e-05, "b": 16, "z": [0.01]})
    assert {key: text_of(value) for key, value in found.items()} == {"b": "0x10", "z": "[1e-2]", "a": "-1e-5"}


def test_steps_between_whole_numbers_are_told_as_such():
    spaces = "a: {finrange: [16, 64, 4]}, b: {quniform: [0, 8, 2]}, c: {logfinrange: [1, 100, 3]}, d: {finrange: [0, 1, 5]}"
    conditional = "e: {quniform: [0, 2, 0.5]}, f: {when: 'a > 16', qloguniform: [1, 8, 1]}, u: {uniform: [0, 4]}"
    found = forms(f"space: {{{spaces}, {conditional}}}\n").of(
        {"a": 32.0, "b": 8.0, "c": 10.000000000000002, "d": 0.25, "e": 1.0, "f": 2.0, "u": 2.0}
    )
    assert {key: text_of(value) for key, value in found.items()} == {
        "a": "32", "b": "8", "c": "10", "d": "0.25", "e": "1.0", "f": "2", "u": "2.0",
    }  # fmt: skip
