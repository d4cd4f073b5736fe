"""Which expressions are taken, and what is in them."""

from __future__ import annotations

import pytest

from definitions.metrics import MetricSources, check_expression, sources_of, time_power


@pytest.mark.parametrize(
    "text",
    [
        r"val_acc: ([0-9.eE+-]+|nan)", r"(?P<loss>\d+)", r"(?:\d+,)+(\d+)", r"(?:\s+\w+)*=(\d)", r".*Epoch.*loss: (\S+).*",
        r"(?i)Loss[ =:]+(.*?);",
        r"(?:train|test) (\d+)", r"(?:ab){3}(x)",
    ],
)  # fmt: skip
def test_usual_expressions_are_taken(text: str) -> None:
    check_expression(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("no group", "has 0 groups"),
        ("(one)(two)", "has 2 groups"),
        ("(", "is no regular expression"),
        ("(a+)+$", "repeats what itself repeats"),
        ("(?:a*)*=(x)", "repeats what itself repeats"),
        (r"(?:.*,)*(x)", "repeats what itself repeats"),
        (r"(?:\s*\w+)+=(\d)", "repeats what itself repeats"),
        (r"(?:\w\w|\d\d)*=(x)", "repeats what itself repeats"),
        (r"(?:(?:a|b+)*c?)*(x)", "repeats what itself repeats"),
        (".*" * 8 + "(x)", "at most 6"),
    ],
)
def test_what_is_wrong_or_takes_for_ever_is_refused_with_a_sentence(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_expression(text)


def test_forms_of_the_key() -> None:
    assert sources_of("keras", "epoch", ["loss"]) == MetricSources((), ("keras",), "epoch", ("loss",))
    assert sources_of(("xgboost", {"a": "a(x)"}), None, []) == MetricSources((("a", "a(x)"),), ("xgboost",))
    assert not sources_of(None, "epoch", ["loss"])


@pytest.mark.parametrize(
    ("text", "any_letters", "ascii_letters"),
    [
        (r"loss: (x)", 0, 0),
        (r"(\d+)", 1, 1),
        (r"^\s*([0-9.eE+-]+)\s*$", 3, 1),
        (r"(\d+\.\d+)$", 2, 1),
        (r"INFO .* (\d+)", 2, 2),
        (r".*a.*a.*=(x)", 3, 3),
        (r"(?i)[a-f]+[A-F]*(x)", 2, 2),
        (r"\d+(?:\s+|x)(y)", 2, 2),
        (r"\d+,?\d+(x)", 2, 2),
        (r"(?:\d+,)+(x)", 2, 2),
        (r"\d+[a-z]*(?=.*)(x)", 3, 3),
    ],
)
def test_the_power_that_the_time_of_a_search_grows_with(text: str, any_letters: int, ascii_letters: int) -> None:
    assert time_power(text) == any_letters
    assert time_power(text, ascii_only=True) == ascii_letters
