"""The last lines of a log, in whatever pieces it comes."""

from __future__ import annotations

import random

import pytest

from backends.last_lines import TAIL_LINES, TAIL_WIDTH, LastLines


def kept(*pieces: bytes) -> tuple[str, ...]:
    lines = LastLines()
    for piece in pieces:
        lines.add(piece)
    return lines.texts()


def expected(log: bytes) -> tuple[str, ...]:
    """Return what a terminal would still show, row by row, without empty rows."""
    rows = [row for row in ([state for state in row.split(b"\r") if state] for row in log.split(b"\n")) if row]
    return tuple(row[-1].decode() for row in rows)[-TAIL_LINES:]


@pytest.mark.parametrize(
    ("log", "right"),
    [
        (b"one\n\ntwo\n", ("one", "two")),
        (b"10%\r20%\r30%\n", ("30%",)),
        (b"10%\r20%\r", ("20%",)),
        (b"10%\r\r\r\nx\r\n", ("10%", "x")),
        (b"a\r" + b"\n" * 100, ("a",)),
        (b"x\n" + b"\n" * 200, ("x",)),
        (b"x" * 2000 + b"\n", ("x" * TAIL_WIDTH + " ...",)),
    ],
)
def test_what_is_kept(log: bytes, right: tuple[str, ...]) -> None:
    assert kept(log) == right


def test_pieces_of_any_number_of_lines_keep_the_same() -> None:
    draw = random.Random(1)
    for _ in range(300):
        lines = [draw.choice([b"a", b"bb", b"", b"c%d" % draw.randrange(99)]) + draw.choice([b"\n", b"\r", b"\r\n"]) for _ in range(200)]
        cuts = sorted(draw.sample(range(200), draw.randrange(5)))
        pieces = [b"".join(lines[start:end]) for start, end in zip([0, *cuts], [*cuts, 200], strict=True)]
        assert kept(*pieces) == expected(b"".join(lines))
