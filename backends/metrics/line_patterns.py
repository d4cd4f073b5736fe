"""Finds the lines that an expression without any fixed text can match, many lines in one search. Pure.

The expression is made wider, so that it is sound to pass over what does not match it: it is searched in bytes of ASCII, nothing in it takes
a line end, a line with other bytes always counts as found, and what cannot be said so (looking ahead, referring back) takes anything.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from backends.metrics.prefilter import in_a_row
from definitions.metrics import letters_of

_LINE_ENDS = frozenset("\r\n")
_LONGEST = {0: 512, 1: 512, 2: 128}
"""Bytes of a line that may be searched so, by how many parts of any length can give back what they took: its time grows with that power."""

_UNLIMITED = 100
"""As `definitions.metrics` counts: a part that is repeated more often is one of any length."""

_ANYTHING = r"[^\n]*"
_ONE_LETTER = ("LITERAL", "NOT_LITERAL", "IN", "ANY")
_LINE_FEED, _LAST = 10, 127
_RANKS = (b"]:", b">:")


class LinePattern:
    """One expression or several, of which a line that is not passed over may match one.

    Args:
        expressions: as `check_expression` takes them.

    Attributes:
        longest: bytes of a line that can be searched so; longer ones are not passed over.
    """

    def __init__(self, expressions: Sequence[str]) -> None:
        """Raise `ValueError` where one could take too long on many lines at once."""
        made = [_Translation(one) for one in expressions]
        self.longest = min(_LONGEST.get(one.degree, 0) for one in made)
        if not self.longest:
            raise ValueError("an expression that could take too long")
        self._texts = {ranks: [one.text(ranks=ranks) for one in made] for ranks in (False, True)}

    def places(self, body: bytes, following: Callable[[int], int]) -> Iterator[int]:
        """Yield a place in each line that may match, and in the first.

        Args:
            body: whole lines, each ended by a line feed.
            following: returns where the line of a place ends.
        """
        search = self._compiled(body).search
        at = 0
        for start, end in [*_long_lines(body, self.longest), (len(body), len(body))]:
            while at < start:
                # A line's beginning is searched as the line feed before it, which the first line does not have.
                match = search(body, at - 1, start) if at else None
                if match is None:
                    place = start if at else 0
                else:
                    place = max(at, match.start() + (match.end() > match.start() and body[match.start()] == _LINE_FEED))
                if place >= start:
                    break
                yield place
                at = following(place)
            if start < end:
                yield start
            at = end

    def _compiled(self, body: bytes) -> re.Pattern[bytes]:
        """Return what is searched in these lines: the less, the faster."""
        # A line can begin, for an expression, after the mark of a rank.
        texts = self._texts[any(mark in body for mark in _RANKS)]
        # These are few, and kept by the module that compiles them.
        return re.compile("|".join(texts if body.isascii() else [*texts, r"[\x80-\xff]"]).encode(), re.MULTILINE)


def line_pattern(expressions: Sequence[str]) -> LinePattern | None:
    """Return what finds the lines of expressions; None where each line has to be searched by itself."""
    try:
        return LinePattern(expressions) if expressions else None
    except ValueError:
        return None


def _long_lines(body: bytes, longest: int) -> list[tuple[int, int]]:
    """Return where lines longer than so many bytes begin and end, in ascending order."""
    found, at = [], 0
    while at + longest < len(body):
        end = body.rfind(b"\n", at, at + longest + 1) + 1
        if not end:
            end = body.find(b"\n", at) + 1 or len(body)
            found.append((at, end))
        at = end
    return found


class _Translation:
    """An expression in bytes that matches wherever the given one does.

    Attributes:
        degree: how many parts of any length can give back what they took.
    """

    def __init__(self, expression: str) -> None:
        # The parser has no public name, but its tree has been the same since Python 3.6.
        self._tree = list(in_a_row(importlib.import_module("re._parser").parse(expression)))
        flags = re.compile(expression).flags
        if flags & re.ASCII:
            raise ValueError("an expression in which the kinds of letters are others")
        self._ignores_case = bool(flags & re.IGNORECASE)
        self._has_ranks = self._is_within = False
        self.degree = 0
        self.text(ranks=True)

    def text(self, *, ranks: bool) -> str:
        """Return it; `ranks`: whether several processes may have written into one line."""
        self._has_ranks, self.degree = ranks, 0
        begins = bool(self._tree) and self._tree[0][0] == "AT" and str(self._tree[0][1]).startswith("AT_BEGINNING")
        if begins and not ranks:
            # One letter that has to come first is looked for by far faster than a place.
            return r"\n" + self._sequence(self._tree[1:], ())
        return self._sequence(self._tree, ())

    def _sequence(self, parts: Sequence[Any], after: Sequence[Any] | None) -> str:
        """Return the parts in their order; `after`: the parts that follow, None where these are not known."""
        return "".join(
            self._part(name, argument, None if after is None else [*parts[number + 1 :], *after])
            for number, (name, argument) in enumerate(parts)
        )

    def _part(self, name: str, argument: Any, after: Sequence[Any] | None) -> str:
        if name in _ONE_LETTER:
            return _class(self._taken(name, argument))
        if name == "AT":
            return self._place(str(argument))
        if name == "BRANCH":
            return "(?:" + "|".join(self._sequence(list(in_a_row(one)), after) for one in argument[1]) + ")"
        if name.endswith("_REPEAT"):
            return self._repeat(argument, after)
        if name in ("ASSERT", "ASSERT_NOT"):
            return ""
        self.degree += 1
        return _ANYTHING

    def _place(self, name: str) -> str:
        if name.startswith("AT_BEGINNING"):
            return r"(?:^|(?<=:)|(?<=: ))" if self._has_ranks else "^"
        if name.startswith("AT_END"):
            return r"(?=$|\[)" if self._has_ranks else "$"
        return ""

    def _repeat(self, argument: Any, after: Sequence[Any] | None) -> str:
        least, most, body = argument
        inner = list(in_a_row(body))
        if most <= _UNLIMITED:
            before = self.degree
            text = f"(?:{self._sequence(inner, after if most == 1 else None)}){{{least},{most}}}"
            self.degree = before + (self.degree - before) * most
            return text
        if self._is_within:
            # Within what is itself repeated the time could grow by more than one power.
            self.degree += len(_LONGEST)
        self._is_within = True
        text = f"(?:{self._sequence(inner, None)}){{{least},}}"
        self._is_within = False
        # What cannot be taken by what follows need not be given back, so that no time is spent on trying.
        if len(inner) == 1 and inner[0][0] in _ONE_LETTER and after is not None and not self._taken(*inner[0]) & self._next(after):
            return text + "+"
        self.degree += 1
        return text

    def _next(self, after: Sequence[Any]) -> frozenset[str]:
        """Return the letters that may be taken next; all of them where that is not known."""
        found: frozenset[str] = frozenset()
        for name, argument in after:
            if name in _ONE_LETTER:
                return found | self._taken(name, argument)
            if name.endswith("_REPEAT"):
                inner = list(in_a_row(argument[2]))
                if len(inner) != 1 or inner[0][0] not in _ONE_LETTER:
                    return self._taken("ANY", None)
                found |= self._taken(*inner[0])
                if argument[0] > 0:
                    return found
            elif name == "AT" and str(argument).startswith("AT_END"):
                # Of several ranks in one line the mark of the next one is an end too.
                return found | {"["}
            elif name not in ("AT", "ASSERT", "ASSERT_NOT"):
                return self._taken("ANY", None)
        return found

    def _taken(self, name: str, argument: Any) -> frozenset[str]:
        """Return the letters of ASCII that one part takes, without line ends."""
        found = letters_of(name, argument)
        if self._ignores_case:
            if name == "IN" and any(str(kind) == "RANGE" and value[1] > _LAST for kind, value in argument):
                # Some letters of other alphabets are, without their case, those of ASCII.
                found |= letters_of("ANY", None)
            lower = {one.lower() for one in found}
            upper = {one.upper() for one in found}
            found |= lower | upper | {one.upper() for one in lower} | {one.lower() for one in upper}
        return frozenset(one for one in found if len(one) == 1 and ord(one) <= _LAST) - _LINE_ENDS


def _class(letters: frozenset[str]) -> str:
    inner = "".join(f"\\x{ord(one):02x}" for one in sorted(letters))
    return f"[{inner}]" if inner else "(?!)"
