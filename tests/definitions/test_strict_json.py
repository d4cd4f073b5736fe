"""JSON that any strict parser reads, and the same text for the same content."""

import json
import math

import pytest

from definitions.strict_json import dumps, loads


def test_keys_are_sorted_and_nothing_is_spaced():
    assert dumps({"b": [1, 2.5, None, True], "a": "ü"}) == '{"a":"ü","b":[1,2.5,null,true]}'


@pytest.mark.parametrize(("value", "name"), [(math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")])
def test_what_json_has_no_word_for_is_tagged(value, name):
    written = dumps({"x": [value, 1.0]})
    assert written == f'{{"x":[{{"$float":"{name}"}},1.0]}}'
    assert json.loads(written, parse_constant=lambda word: pytest.fail(word)) == {"x": [{"$float": name}, 1.0]}
    assert str(loads(written)["x"][0]) == name


def test_what_was_written_is_read():
    value = {"a": [1, 2.5, "x", None, True, {"b": -0.0}], "c": {}, "d": 10**30, "e": "\u2028\x00\ud7ff"}
    assert loads(dumps(value)) == value
    assert loads(dumps((1, (2,)))) == [1, [2]]


@pytest.mark.parametrize("value", [1, "x", None, True, 2.5, [], math.inf])
def test_single_values(value):
    assert loads(dumps(value)) == value


def test_a_mapping_that_only_looks_like_a_tag_stays_one():
    for value in ({"$float": "big"}, {"$float": "nan", "x": 1}, {"$float": 3}, "$float"):
        assert loads(dumps(value)) == value


@pytest.mark.parametrize("value", [{1, 2}, object(), b"x", {"x": {math.nan}}])
def test_what_json_cannot_express_is_refused(value):
    with pytest.raises(TypeError):
        dumps(value)


@pytest.mark.parametrize("text", ["", "{", '{"a":1', "nope"])
def test_broken_text_is_refused(text):
    with pytest.raises(json.JSONDecodeError):
        loads(text)
