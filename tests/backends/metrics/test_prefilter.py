"""Which texts a match must have, and which lines have them."""

from __future__ import annotations

import random
import re

import pytest

from backends.metrics.prefilter import LineFilter, line_end, required_texts


@pytest.mark.parametrize(
    ("expression", "texts"),
    [
        (r"val_acc: ([0-9.eE+-]+|nan)", (b"val_acc: ",)),
        (r"(?:train|test) loss (\d+)", (b" loss ",)),
        (r"(?:alpha|beta)=(\d+)", (b"alpha", b"beta")),
        (r"(?:al|)=(\d+)", (b"=",)),
        (r"(?i)Loss[ =:]+(.*?);", (b"loss",)),
        (r"(?i:Loss) of x (\d)", (b" of x ",)),
        (r"a(?:bcd)?e(\d)", (b"a",)),
        (r"(?:abc){2,}(x)", (b"abc",)),
        (r"^ {20,}(\w+)$", (b" " * 20,)),
        (r"\[([0-9]+)\]\tx", (b"]\tx",)),
        (r"größe: (\d)", (b"e: ",)),
        (r"(\d+)", None),
        (r"(?=loss)(.*)", None),
    ],
)
def test_required_texts(expression: str, texts: tuple[bytes, ...] | None) -> None:
    assert required_texts(expression) == texts


def test_no_line_that_matches_is_passed_over() -> None:
    draw = random.Random(1)
    expressions = [r"loss=(\d)", r"(?:ab|ba)c?(\d)", r"(?i)LoSS (\d)", r"a+b(\d)", r"=(?:loss|b)(\d)?"]
    for expression in expressions * 40:
        texts = required_texts(expression)
        assert texts is not None
        words = [b"loss", b"LOSS", b"=", b"a", b"b", b"c", b" ", b"1", b"2"]
        body = b"".join(
            b"".join(draw.choice(words) for _ in range(draw.randrange(8))) + draw.choice([b"\n", b"\r", b"\r\n"]) for _ in range(50)
        )
        spans = LineFilter(texts, ignores_case="(?i)" in expression).spans(body)
        at = 0
        while at < len(body):
            end = line_end(body, at)
            if re.search(expression.encode(), body[at:end].rstrip(b"\r\n")):
                assert (at, end) in spans
            at = end


def test_spans_are_whole_lines_each_once() -> None:
    body = b"no\na loss and a loss\nno\rloss\rno\r\n1: acc\r\n"
    spans = LineFilter([b"loss", b"acc"]).spans(body)
    assert [body[start:end] for start, end in spans] == [b"a loss and a loss\n", b"loss\r", b"1: acc\r\n"]


def test_of_texts_within_each_other_the_shorter_is_enough() -> None:
    body = b"val_loss\nloss\n"
    assert len(LineFilter([b"val_loss", b"loss"]).spans(body)) == 2
