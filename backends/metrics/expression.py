"""One regular expression of a metric, searched in bounded time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence

from backends.metrics.prefilter import required_texts
from definitions.metrics import time_power

LINE_BUDGET_S = 0.02
"""Processor seconds after which the search in a longer part of a line is given up."""

SAFE_LENGTH = 4096
_SAFE_LENGTHS = {0: SAFE_LENGTH, 1: SAFE_LENGTH, 2: 256, 3: 96, 4: 48, 5: 32}
_SAFE_FOR_MANY = 24
"""Letters that are searched within the budget, by the power that the time grows with: n parts of any length try each way to share
out the letters, which are length ** (n + 1) / (n + 1)! steps, here some millions at most."""

_BETWEEN = " :=>-"
_WRAPPED = 200
"""Of two lines so many letters before and after the wrap are searched."""


class Expression:
    """One compiled regular expression with one group.

    Args:
        text: as `check_expression` takes it.
    """

    def __init__(self, text: str) -> None:
        self._regex = re.compile(text)
        self._safe, self._safe_ascii = (
            _SAFE_LENGTHS.get(time_power(text, ascii_only=ascii_only), _SAFE_FOR_MANY) for ascii_only in (False, True)
        )
        self.given_up = 0
        self.ignores_case = bool(self._regex.flags & re.IGNORECASE)
        texts = required_texts(text)
        # Of several words the first, as the line may be wrapped after it.
        self.words = None if texts is None else tuple(map(_first_word, texts))
        self._texts = tuple(one.decode() for one in texts or ())
        self._wrapped_after = tuple({end for one in self._texts for end in _beginnings(one)})

    @property
    def has_words(self) -> bool:
        """Whether a match has words in it, of which lines without it have none: a mark such as `=` or `.` is in many."""
        return self.words is not None and (any(_is_word(one) for one in self._texts) or min(map(len, self.words)) > 2)

    def may_end_in(self, text: str, before: str) -> bool:
        """Return whether a line has what a match must have, or the end of it, so that a match may have begun in the line before."""
        lowered, above = (text.lower(), before.lower()) if self.ignores_case else (text, before)
        return any(one in lowered or one in above[-len(one) :] + lowered[: len(one)] for one in self._texts)

    def goes_on_after(self, text: str) -> bool:
        """Return whether a line ends in the midst of what a match must have, be it of a word, or right after it."""
        end = text[-_WRAPPED:].rstrip(_BETWEEN)
        return bool(self._wrapped_after) and (end.lower() if self.ignores_case else end).endswith(self._wrapped_after)

    def search_wrapped(self, before: str, text: str) -> re.Match[str] | None:
        """Return a match that begins in one line and ends in the next, which was wrapped between words or within one."""
        for end, start, between in ((before.rstrip(), text.lstrip(), " "), (before, text, "")):
            end = end[-_WRAPPED:]
            found = self._regex.finditer(f"{end}{between}{start[:_WRAPPED]}")
            if (match := next((one for one in found if one.start() < len(end) < one.end(1)), None)) is not None:
                # A number that begins in the line before is that line's.
                return match if match.start(1) >= len(end) else None
        return None

    def search_in(self, lines: Sequence[str]) -> Callable[[str], re.Match[str] | None]:
        """Return what searches these lines, with nothing about it where all of them are short."""
        safe = self._safe_ascii if all(map(str.isascii, lines)) else self._safe
        return self._regex.search if max(map(len, lines), default=0) <= safe else self.search

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match; a line that takes too long is searched only as far as there was time, and counted."""
        window = self._safe_ascii if text.isascii() else self._safe
        while len(text) > window:
            # Twice the length takes at most 2 ** n times as long, so that what one try takes bounds the next.
            began = time.perf_counter()
            found = self._regex.search(text[:window])
            if time.perf_counter() - began > LINE_BUDGET_S and self._takes_long(text[:window]):
                self.given_up += 1
                return found
            window *= 2
        return self._regex.search(text)

    def _takes_long(self, text: str) -> bool:
        # Asking for the processor's time takes longer than most searches, so that it is asked only where the wall clock went too far.
        began = time.thread_time()
        self._regex.search(text)
        return time.thread_time() - began > LINE_BUDGET_S


def _first_word(text: bytes) -> bytes:
    words = text.split()
    return words[0] if words and len(words[0]) > 2 else text


def _is_word(text: str) -> bool:
    return any(len(word.rstrip(_BETWEEN)) > 1 for word in text.split())


def _beginnings(text: str) -> list[str]:
    """Return what a text begins with, letter by letter, without what stands between a name and its number; nothing of mere marks."""
    if not _is_word(text):
        return []
    return [end for count in range(1, len(text) + 1) if (end := text[:count].rstrip(_BETWEEN)).strip()]
