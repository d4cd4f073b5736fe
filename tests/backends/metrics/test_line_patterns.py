"""Lines that an expression without fixed text may match are found many at once, and none is passed over."""

from __future__ import annotations

import random
import re

import pytest

from backends.metrics.line_patterns import line_pattern
from backends.metrics.patterns import decoded, own_parts
from backends.metrics.prefilter import LineFilter, line_end

EXPRESSIONS = [
    r"^\s*([0-9.eE+-]+|nan)\s*$",
    r"(\d+\.\d+)$",
    r"([0-9.]+)%",
    r"^(\d+)\s+\S+$",
    r"(?i)^[k-s] ?([0-9]+)",
    r"(?<!\.)\b(\d+)\b(?!\.)",
    r"^(?:\d+,){2}(\d+)",
    r"(\d+)(?:,|;|$)",
    r"\A[^:]*: *(\d)\Z",
    r"(?s:.)(\d)(?:a|[^\W\d])?$",
    r"(\d)(?=,)",
    r"^(\d*)$",
]
WORDS = [
    b"1",
    b"23",
    b".",
    b",",
    b";",
    b"%",
    b" ",
    b"  ",
    b"\t",
    b"nan",
    b"1,2,",
    b"0.5",
    b"k",
    b"S",
    b":",
    b": ",
    b"a",
    b"[rank1]: ",
    b"[rank0]: ",
    "é".encode(),
    b"\xff",
    "٣".encode(),
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_no_line_that_matches_is_passed_over(expression: str) -> None:
    draw = random.Random(expression)
    pattern = line_pattern([expression])
    assert pattern is not None
    matched = 0
    for number in range(300):
        # With few words, so that some bodies have neither ranks nor other letters than those of ASCII.
        words = draw.sample(WORDS, 8) if number % 2 else WORDS[:-5]
        count = draw.choice((3, 6, 200))
        lines = [b"".join(draw.choice(words) for _ in range(draw.randrange(count))) for _ in range(8)]
        body = b"".join(line + draw.choice([b"\n", b"\n", b"\r", b"\r\n"]) for line in lines)
        spans = LineFilter((), pattern=pattern).spans(body)
        at = 0
        ours = set()
        while at < len(body):
            end = line_end(body, at)
            ours.add((at, end))
            line = body[at:end].rstrip(b"\r\n")
            if line and any(re.search(expression, part) for part in own_parts(decoded(line))):
                matched += 1
                assert (at, end) in spans, line
            at = end
        assert set(spans) <= ours
    assert matched > 5


def test_of_lines_in_words_those_with_the_number_alone_are_found_and_the_first() -> None:
    pattern = line_pattern([r"^\s*([0-9.eE+-]+)\s*$"])
    body = b"2026-11-28 12:00:01 fetched 3\n" * 3 + b" 0.25 \n" + b"12 s\n" * 3 + b"1e-3\r\n"
    assert [body[start:end] for start, end in LineFilter((), pattern=pattern).spans(body)] == [
        b"2026-11-28 12:00:01 fetched 3\n",
        b" 0.25 \n",
        b"1e-3\r\n",
    ]


def test_a_line_too_long_to_be_searched_with_others_is_looked_at_by_itself() -> None:
    pattern = line_pattern([r"^(\d+)$"])
    assert pattern is not None
    assert pattern.longest == 512
    body = b"a\nb\n" + b"x" * 513 + b"\n" + b"y" * 512 + b"\nc\n"
    assert [end - start for start, end in LineFilter((), pattern=pattern).spans(body)] == [2, 514]


@pytest.mark.parametrize(
    ("expression", "longest"),
    [(r"^\s*([0-9.]+)\s*$", 512), (r"(\d+).*,", 128), (r".*(\d+),", 512), (r".*-.*-(\d+).*,", None), (r"(?a)(\d+)", None)],
)
def test_how_long_lines_may_be_follows_from_what_can_give_back_letters(expression: str, longest: int | None) -> None:
    pattern = line_pattern([expression])
    assert (None if pattern is None else pattern.longest) == longest
