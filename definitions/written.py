"""Numbers as they were written, and the text in which a script gets a value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from definitions import strict_json

_JSON_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


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
    """Return the number that a text says, which remembers the text where Python would write the number otherwise.

    A negative one with an exponent is remembered in any case, as one that was drawn is written without (`-0.00001`).
    """
    value = float(text)
    return value if repr(value) == text and not (value < 0 and "e" in text) else WrittenFloat(text)


def text_of(value: Any) -> str:
    """Return the text in which a script gets a value: numbers as they were written, true and false, JSON for what has parts."""
    if isinstance(value, str):
        return value
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (WrittenFloat, WrittenInt)):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(f"{strict_json.dumps(text_of(key))}:{_json_of(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_json_of, value)) + "]"
    return strict_json.dumps(value) if value is None else str(value)


def _json_of(value: Any) -> str:
    """Return a value as JSON, a number as it was written where JSON has that form."""
    if isinstance(value, (list, tuple, dict)):
        return text_of(value)
    if isinstance(value, (WrittenFloat, WrittenInt)) and _JSON_NUMBER.fullmatch(value.text) is not None:
        return value.text
    # Not finite, it is as Python's and JavaScript's readers know it.
    return strict_json.dumps(value) if not isinstance(value, float) or math.isfinite(value) else json.dumps(value)


def in_own_form(value: Any, listed: Iterable[Any], *, whole: bool) -> Any:
    """Return a value in the form that the definition gives it: `2` for `2.0` among whole numbers, a listed number as it was written.

    Args:
        value: of a configuration, which may have come through a journal or a method of others.
        listed: the values that the definition lists.
        whole: whether the key has whole numbers only.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, list, tuple, dict)):
        return value
    for known in listed:
        if _is_same(known, value):
            return known
    if not whole or not isinstance(value, (int, float)) or not math.isfinite(value):
        return value
    return int(value) if value == int(value) else value


def _is_same(known: Any, value: Any) -> bool:
    """Return whether two values are the same but for how they were written: `1e3` is 1000.0, in lists and mappings too; true is not 1."""
    if isinstance(known, (list, tuple)) or isinstance(value, (list, tuple)):
        both = isinstance(known, (list, tuple)) and isinstance(value, (list, tuple))
        return both and len(known) == len(value) and all(map(_is_same, known, value))
    if isinstance(known, dict) or isinstance(value, dict):
        both = isinstance(known, dict) and isinstance(value, dict)
        return both and known.keys() == value.keys() and all(_is_same(known[key], value[key]) for key in known)
    return isinstance(known, bool) == isinstance(value, bool) and bool(known == value)
