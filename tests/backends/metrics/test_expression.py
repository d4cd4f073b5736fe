"""The time that one expression takes for a line is bounded, also for many lines, and short lines are searched whole."""

from __future__ import annotations

import time

import pytest

from backends.metrics.expression import SAFE_LENGTH, Expression


@pytest.mark.parametrize("text", [r".*a.*a.*a.*a.*=(x)", r"\S+\s*\S+:\s*\S*=(x)", r".*=(x)"])
def test_the_time_for_one_line_is_bounded(text: str) -> None:
    expression = Expression(text)
    began = time.process_time()
    assert expression.search("a" * 1_000_000) is None
    assert time.process_time() - began < 10
    assert expression.given_up == 1


@pytest.mark.parametrize("text", [r".*a.*a.*a.*a.*=(x)", r"\S+\s*\S+:\s*\S*=(x)", r".*.*=(x)", r"[^0-9]+\d+=(x)", r".*=(x)"])
@pytest.mark.parametrize("letter", ["a", "٣"])
def test_the_time_for_short_lines_is_bounded_where_they_are_searched_without_a_watch(text: str, letter: str) -> None:
    expression = Expression(text)
    longest = max(
        length for length in range(SAFE_LENGTH + 1) if getattr(expression.search_in([letter * length]), "__self__", None) is not expression
    )
    began = time.process_time()
    assert expression.search_in([letter * longest])(letter * longest) is None
    # Twenty milliseconds is what it is made for; a slow machine may take longer.
    assert time.process_time() - began < 0.5


def test_what_is_beyond_a_short_line_is_found_too() -> None:
    expression = Expression(r"(\d+) of .* at (?:.*)")
    match = expression.search("-" * 5000 + "12 of 13 at 14")
    assert match is not None
    assert match[1] == "12"


@pytest.mark.parametrize(
    ("text", "line", "goes_on"),
    [
        (r"val loss: (\d+)", "epoch 1 val", True),
        (r"val loss: (\d+)", "epoch 1 val loss: ", True),
        (r"val loss: (\d+)", "epoch 1", False),
        (r"(?i)val loss: (\d+)", "epoch 1 VAL =", True),
        (r"(\d+)", "epoch 1", False),
    ],
)
def test_a_wrapped_line_ends_with_the_first_words_of_a_match(text: str, line: str, goes_on: bool) -> None:
    assert Expression(text).goes_on_after(line) is goes_on


@pytest.mark.parametrize(
    ("text", "has_words"), [(r"loss (\d+)", True), (r"= (\d+)", False), (r"x (\d+)", False), (r"(?:ab|==) (\d)", True), (r"(\d+)", False)]
)
def test_only_words_tell_the_lines_that_can_match(text: str, has_words: bool) -> None:
    assert Expression(text).has_words is has_words
