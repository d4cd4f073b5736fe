"""Numbers as they were written, and the text in which a script gets a value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from definitions import strict_json


class WrittenFloat(float):
    """A number that was written otherwise than Python writes it: `1e3`, `1.50`. It is a float in all else, in JSON too.

    Args:
        text: as it was written.
    """

    text: str

    def __new__(cls, text: str) -> WrittenFloat:
        """Return the number that the text says."""
        made = super().__new__(cls, text)
        made.text = text
        return made

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        """Return what a copy is made of."""
        return (self.text,)


class WrittenInt(int):
    """A whole number that was written otherwise than Python writes it: `0x10`, `+5`. It is an integer in all else, in JSON too.

    Args:
        text: as it was written.
    """

    text: str

    def __new__(cls, text: str) -> WrittenInt:
        """Return the number that the text says."""
        made = super().__new__(cls, text, 0)
        made.text = text
        return made

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]
        """Return what a copy is made of."""
        return (self.text,)


def written_int(text: str) -> int:
    """Return the whole number that a text says, which remembers the text where Python would write the number otherwise."""
    value = int(text, 0)
    return value if repr(value) == text else WrittenInt(text)


def written_float(text: str) -> float:
    """Return the number that a text says, which remembers the text where Python would write the number otherwise."""
    value = float(text)
    return value if repr(value) == text else WrittenFloat(text)


def text_of(value: Any) -> str:
    """Return the text in which a script gets a value: numbers as they were written, true and false, JSON for what has parts."""
    if isinstance(value, str):
        return value
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (WrittenFloat, WrittenInt)):
        return value.text
    if isinstance(value, (list, tuple, dict)) or value is None:
        return strict_json.dumps(value)
    return str(value)


def in_own_form(value: Any, listed: Iterable[Any], *, whole: bool) -> Any:
    """Return a value in the form that the definition gives it: `2` for `2.0` among whole numbers, a listed number as it was written.

    Args:
        value: of a configuration, which may have come through a journal or a method of others.
        listed: the values that the definition lists.
        whole: whether the key has whole numbers only.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    for known in listed:
        if not isinstance(known, (bool, str)) and known == value:
            return known
    return int(value) if whole and math.isfinite(value) and value == int(value) else value
