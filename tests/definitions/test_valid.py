"""The expressions of `valid`: what they mean and what they refuse."""

import pytest

from definitions.errors import UserError
from definitions.valid import parse_rule

POINT = {"a": 3, "b": 4.0, "mode": "file", "flag": True, "none": None}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > 2", True),
        ("1 < a < 3", False),
        ("1 < a <= 3 < b", True),
        ("a * 2 + 1 == 7", True),
        ("b // 3 == 1 and b % 3 == 1 and b / 8 == 0.5", True),
        ("-a < +a", True),
        ("mode == 'file'", True),
        ("mode in ['file', 'pipe']", True),
        ("mode not in ('file', 'pipe')", False),
        ("a in {1, 2}", False),
        ("not (mode == 'file' and a > 5)", True),
        ("a > 5 or flag", True),
        ("flag == true and flag is True", True),
        ("none is null and none is None and none == null", True),
        ("absent is None", True),
        ("'il' in mode", True),
        ("a", True),
        ("a - 3", False),
    ],
)
def test_meaning(text, expected):
    assert parse_rule(text).holds(POINT) is expected


def test_a_decided_expression_is_not_evaluated_further():
    assert parse_rule("a < 5 or absent > 1").holds(POINT) is True
    assert parse_rule("a > 5 and absent > 1").holds(POINT) is False
    assert parse_rule("a > 5 > absent").holds(POINT) is False


def test_names_are_those_read_in_their_order_once():
    assert parse_rule("b > a and a != null and true").names == ("b", "a")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("open('x')", "Call"),
        ("a.b", "Attribute"),
        ("a[0]", "Subscript"),
        ("[x for x in a]", "ListComp"),
        ("lambda: 1", "Lambda"),
        ("a ** 2", "Pow"),
        ("a if b else 1", "IfExp"),
        ("f'{a}'", "JoinedStr"),
        ("a << 9", "LShift"),
        ("(a := 1)", "NamedExpr"),
    ],
)
def test_nothing_else_is_understood(text, node):
    with pytest.raises(UserError) as caught:
        parse_rule(text)
    assert str(caught.value) == (
        f"valid: {text!r} uses {node}\n  only keys, constants, comparison, arithmetic, in, and, or, not are understood"
    )


@pytest.mark.parametrize("text", ["a >", "", "a = 1", "import os", "a\x00", "3and a", "(" * 500 + ")" * 500])
def test_what_is_no_expression(text):
    with pytest.raises(UserError, match="is not an expression"):
        parse_rule(text)


def test_a_name_that_is_no_key_gets_the_nearest():
    with pytest.raises(UserError) as caught:
        parse_rule("batch_sise > 3", ("batch_size", "rate"))
    assert str(caught.value) == (
        "valid: 'batch_sise > 3' names 'batch_sise', which is no key of the configurations\n  did you mean 'batch_size'?"
    )
    with pytest.raises(UserError, match="known: none"):
        parse_rule("x > 3", ())


@pytest.mark.parametrize("text", ["mode > 3", "a / 0 > 1", "none + 1 > 0", "a in b"])
def test_values_that_cannot_be_computed_with(text):
    with pytest.raises(UserError, match=r"cannot be evaluated\n  .*configuration: \{'a': 3"):
        parse_rule(text).holds(POINT)


def test_keys_that_are_no_names_stand_in_backticks():
    rule = parse_rule("`model.lr` * 2 > `batch-size` and text != 'a `b` c'", ("model.lr", "batch-size", "text"))
    assert set(rule.names) == {"model.lr", "batch-size", "text"}
    assert rule.text.startswith("`model.lr`")
    assert rule.holds({"model.lr": 3, "batch-size": 5, "text": "x"}) is True
    assert rule.holds({"model.lr": 2, "batch-size": 5, "text": "x"}) is False
    assert rule.holds({"model.lr": 3, "batch-size": 5, "text": "a `b` c"}) is False


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model.lr > 1", "valid: 'model.lr > 1' reads model.lr as several names\n  write it in backticks: `model.lr`"),
        ("batch-size > 1", "names 'batch', which is no key of the configurations\n  write it in backticks: `batch-size`"),
        ("`batch-sise` > 1", "names 'batch-sise', which is no key of the configurations\n  did you mean 'batch-size'?"),
        ("`x > 1", "is not an expression"),
    ],
)  # fmt: skip
def test_a_key_without_backticks_is_told_so(text, said):
    with pytest.raises(UserError) as error:
        parse_rule(text, ("model.lr", "batch-size", "x"))
    assert said in str(error.value)
