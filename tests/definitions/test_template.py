"""Texts with placeholders."""

import pytest

from definitions.errors import UserError
from definitions.template import Placeholder, check_names, escaped, names_in, parse_template


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("",)),
        ("plain $HOME", ("plain $HOME",)),
        ("${a}", (Placeholder("a"),)),
        ("--x=${a}/${b}.csv", ("--x=", Placeholder("a"), "/", Placeholder("b"), ".csv")),
        ("${a}${b}", (Placeholder("a"), Placeholder("b"))),
        ("$${a} ${b}", ("${a} ", Placeholder("b"))),
        ("$$${a}", ("$${a}",)),
        ("--m ${m:-0.9} ${n:-}", ("--m ", Placeholder("m", "0.9"), " ", Placeholder("n", ""))),
        ("${a:b} ${c-d}", (Placeholder("a:b"), " ", Placeholder("c-d"))),
        ("a}b{", ("a}b{",)),
    ],
)
def test_the_parts_of_a_text(text, parts):
    assert parse_template(text) == parts


@pytest.mark.parametrize(
    ("text", "says"),
    [("a ${b", "has no end"), ("${a ${b}}", "within another"), ("${}", "has no name"), ("${:-x}", "has no name"), ("${ }", "has no name")],
)
def test_what_is_no_placeholder_is_told(text, says):
    with pytest.raises(UserError, match=says):
        parse_template(text)


def test_names_in_their_order_and_a_text_survives_its_escape():
    template = parse_template("${a}-${b}-${a}")
    assert names_in(template) == ("a", "b", "a")
    assert parse_template(escaped("cost ${x} and $${y}")) == ("cost ${x} and $${y}",)


def test_a_name_that_is_not_known_gets_the_nearest_one():
    check_names("${level} $${other}", ["level"])
    with pytest.raises(UserError, match=r"there is no \$\{levle\}[\s\S]*did you mean 'level'"):
        check_names("${levle}", ["level", "data"])
    with pytest.raises(UserError, match=r"\$\{data\} always has a value"):
        check_names("${level:-1} ${data:-x}", ["level", "data"], always=["data"])
