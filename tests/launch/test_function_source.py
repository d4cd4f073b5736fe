"""Where a function's source is found, and what of it is replaced."""

from __future__ import annotations

import ast

import pytest

from launch.function_source import attribute_chains, global_names, source_of, source_of_class, top_level_names

first, second = (lambda x: x + 1), (lambda x: x + 2)
nested = lambda n: lambda x: x * n  # noqa: E731
same = [lambda x: x, lambda x: x]


def decorator(function):
    return function


@decorator
@decorator
def decorated(x: int = 1, *, é="ä", **more) -> int:
    """Says é."""
    return x  # the end


def text(function, **how):
    return source_of(function.__code__).text({}, **{"decorated": False, **how})


def test_one_of_several_lambdas_on_a_line_is_told_by_its_place():
    assert (text(first), text(second)) == ("lambda x: x + 1", "lambda x: x + 2")
    assert text(nested) == "lambda n: lambda x: x * n"
    assert text(nested(3)) == "lambda x: x * n"
    assert [source_of(one.__code__).node.col_offset for one in same] == [8, 21]


def test_decorators_are_left_out_where_they_are_not_asked_for():
    assert text(decorated).splitlines()[0].startswith("def decorated(")
    assert text(decorated, decorated=True).splitlines()[:2] == ["@decorator", "@decorator"]
    assert text(decorated).endswith("return x  # the end") is False
    assert text(decorated).endswith("return x")


def test_parts_are_replaced_by_their_place_whatever_characters_come_before():
    found = source_of(decorated.__code__)
    arguments = found.node.args
    replaced = {arguments.kw_defaults[0]: "None", arguments.args[0].annotation: "'int'", arguments.defaults[0]: "2"}
    head = found.text(replaced, decorated=False).splitlines()[0]
    assert head.partition("  #")[0] == "def decorated(x: 'int' = 2, *, é=None, **more) -> int:"


def test_an_inner_function_keeps_its_margin():
    def inner():
        return 1

    found = source_of(inner.__code__)
    assert found.is_indented
    assert found.text({}, decorated=False) == "    def inner():\n        return 1"


def test_what_has_no_source_is_not_found():
    names = {}
    exec("def made(): pass", names)
    assert source_of(names["made"].__code__) is None
    assert source_of_class("Made", ["<nowhere>", __file__]) is None


def test_global_names_are_those_of_inner_code_too_and_no_attributes():
    def function():
        class Inner:
            value = alpha.attribute  # noqa: F821

        def inner():
            global delta
            delta = [beta for beta in gamma]  # noqa: F821

        return Inner, inner

    names = set(global_names(function.__code__))
    assert {"alpha", "gamma", "delta"} <= names
    assert not names & {"attribute", "beta", "value"}


@pytest.mark.parametrize(
    ("source", "chains"),
    [("a.b.c + a.d", {"a.b.c", "a.b", "a.d"}), ("f(a).b", set()), ("x.a.b", set()), ("a.b(1).c", {"a.b"}), ("a[0].b", set())],
)
def test_chains_of_attributes_begin_at_the_name(source, chains):
    assert {f"a.{chain}" for chain in attribute_chains(ast.parse(source), "a")} == chains


def test_what_is_guarded_is_not_at_the_top_level():
    source = "import a.b, c as d\nfrom e import f\nx, (y, z) = 1, (2, 3)\nn: int = 1\ndef g(): inner = 1\nclass H: pass\n"
    source += "if __name__ == '__main__':\n    guarded = 1\n    def main(): pass\n"
    assert top_level_names(source) == {"a", "d", "f", "x", "y", "z", "n", "g", "H"}
