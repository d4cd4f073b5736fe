"""Values as Hydra's grammar of overrides reads them: what it would take apart, or for something else than text, is in quotes. Pure."""

from __future__ import annotations

import re
from typing import Any

from definitions.written import text_of

_BARE = re.compile(r"[A-Za-z0-9_/\-+.$%*@?|:]+")
"""Text of characters that mean nothing to the grammar; letters beyond ASCII are none that it knows."""

_DIGITS = r"(?:0|[1-9](?:_?[0-9])*)"
_NO_TEXT = re.compile(
    rf"""[+-]?(?:{_DIGITS} | {_DIGITS}\. | {_DIGITS}?\.[0-9](?:_?[0-9])* | inf | nan
    | (?:{_DIGITS}\.?|{_DIGITS}?\.[0-9](?:_?[0-9])*)e[+-]?[0-9](?:_?[0-9])*) | true | false | null""",
    re.VERBOSE | re.IGNORECASE,
)
"""Text that the grammar reads as a number, a truth value or nothing. Source: Hydra 1.3, OverrideLexer.g4."""


def hydra_value(value: Any) -> str:
    """Return a value as it is written behind `key=`, so that Hydra reads this value: text, number, list or mapping.

    Args:
        value: of a configuration.
    """
    if isinstance(value, str):
        return value if _BARE.fullmatch(value) and not _NO_TEXT.fullmatch(value) else _quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(hydra_value, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{hydra_value(inner)}" for key, inner in value.items()) + "}"
    return text_of(value)


def _quoted(text: str) -> str:
    """Return text in single quotes; backslashes mean something before a quote alone, the closing one included."""
    inner = re.sub(r"(\\*)'", lambda found: found[1] * 2 + r"\'", text)
    inner = re.sub(r"(\\+)$", lambda found: found[1] * 2, inner)
    return f"'{inner}'"
