"""Which lines of a large piece of output can have something in them: those with a text that what is looked for must have. Pure.

Looking for a text in a piece takes a hundredth of what splitting it into lines and searching each of them takes.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any


class LineFilter:
    """Finds the lines that hold one of several texts.

    Args:
        texts: of ASCII letters, without line ends.
        wrapped: those of them that may be broken by a line feed, as programs do that wrap lines at a width.
        ignores_case: whether upper and lower case are the same.
    """

    def __init__(self, texts: Iterable[bytes], wrapped: Iterable[bytes] = (), *, ignores_case: bool = False) -> None:
        found = {text.lower() for text in texts} if ignores_case else set(texts)
        # Who has a text has also what is in the text.
        self._texts = sorted(text for text in found if not any(other != text and other in text for other in found))
        self._ignores_case = ignores_case
        self._wrapped = sorted({text.lower() for text in wrapped} if ignores_case else set(wrapped))
        self._broken = [re.compile(b"\n?".join(re.escape(bytes([letter])) for letter in text)) for text in self._wrapped]

    def spans(self, body: bytes, before: bytes = b"") -> list[tuple[int, int]]:
        """Return where such lines begin and end, ends included, in ascending order; of a text that is broken, the line with its end.

        Args:
            body: whole lines, each ended by a line feed, a carriage return, or both.
            before: the line before them, without its end.
        """
        searched = body.lower() if self._ignores_case else body
        has_returns = b"\r" in body
        found: dict[int, int] = {}
        for text in self._texts:
            at = searched.find(text)
            while at >= 0:
                end = line_end(body, at, has_returns)
                found[_line_start(body, at, has_returns)] = end
                at = searched.find(text, end)
        if self._wrapped and not has_returns:
            found |= {start: line_end(body, start, has_returns) for start in self._after_breaks(searched, before)}
        return sorted(found.items())

    def _after_breaks(self, searched: bytes, before: bytes) -> Iterator[int]:
        """Yield where the lines begin that have the end of a text which begins in the line before."""
        above = before.lower() if self._ignores_case else before
        joined = searched.replace(b"\n", b"")
        for text, broken in zip(self._wrapped, self._broken, strict=True):
            if text in above[1 - len(text) :] + joined[: len(text) - 1]:
                yield 0
            # Counting takes next to nothing, and mostly says that there is none.
            if joined.count(text) > searched.count(text):
                yield from (searched.rfind(b"\n", 0, one.end()) + 1 for one in broken.finditer(searched) if b"\n" in one[0])


def _line_start(body: bytes, at: int, has_returns: bool) -> int:
    start = body.rfind(b"\n", 0, at) + 1
    return max(start, body.rfind(b"\r", start, at) + 1) if has_returns else start


def line_end(body: bytes, at: int, has_returns: bool = True) -> int:
    """Return where the line at a place ends, with its end; -1 where it has none."""
    end = body.find(b"\n", at)
    if not has_returns:
        return end + 1 if end >= 0 else -1
    back = body.find(b"\r", at, end if end >= 0 else len(body))
    if back < 0:
        return end + 1 if end >= 0 else -1
    return back + 2 if back + 1 == end else back + 1


def required_texts(expression: str) -> tuple[bytes, ...] | None:
    """Return texts of which any match of a regular expression has at least one; None where nothing is known of its matches.

    Args:
        expression: that can be compiled. Of one that ignores case they are in lower case.
    """
    # The parser has no public name, but its tree has been the same since Python 3.6.
    tree = importlib.import_module("re._parser").parse(expression)
    found = max(_candidates(tree), key=_worth, default=None)
    if found is None:
        return None
    ignores_case = re.compile(expression).flags & re.IGNORECASE
    return tuple(text.lower() if ignores_case else text for text in found)


def _worth(texts: Sequence[bytes]) -> tuple[int, int]:
    # A space alone is in every line.
    return min(len(text) if text.strip() or len(text) > 3 else 0 for text in texts), -len(texts)


def _candidates(tree: Iterable[Any]) -> Iterator[tuple[bytes, ...]]:
    """Yield sets of texts of which each match has one."""
    run = b""
    for name, argument in in_a_row(tree):
        if name == "LITERAL" and (32 <= argument < 127 or argument == 9):
            run += bytes([argument])
            continue
        if name == "AT":
            continue  # takes no letter
        if run:
            yield (run,)
            run = b""
        if name.endswith("_REPEAT") and argument[0] > 0:
            yield from (tuple(text * (argument[0] if len(argument[2]) == 1 else 1) for text in one) for one in _candidates(argument[2]))
        elif name == "BRANCH":
            best = [max(_candidates(branch), key=_worth, default=None) for branch in argument[1]]
            if all(one is not None for one in best):
                yield tuple(text for one in best if one is not None for text in one)
    if run:
        yield (run,)


def in_a_row(tree: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a tree that follow each other, groups taken apart; one with flags of its own as something unknown."""
    for operator, argument in tree:
        name = str(operator)
        if name == "SUBPATTERN" and not argument[1] and not argument[2]:
            yield from in_a_row(argument[3])
        elif name == "ATOMIC_GROUP":
            yield from in_a_row(argument)
        else:
            yield ("UNKNOWN" if name == "SUBPATTERN" else name), argument
