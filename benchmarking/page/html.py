"""HTML from values: whatever is not marked as HTML already is escaped, so nothing that was measured can become markup."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

from definitions import strict_json

_VOID = frozenset({"br", "col", "hr", "link", "meta"})
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONGEST = 160


class Html(str):
    """Text that is HTML."""

    __slots__ = ()


def escaped(value: Any) -> Html:
    """Return a value as HTML; characters that no document may hold become the replacement character."""
    return value if isinstance(value, Html) else Html(html.escape(printable(str(value))))


def printable(text: str) -> str:
    """Return a text without control characters and halves of surrogate pairs, which no HTML file may hold."""
    return _UNPRINTABLE.sub("\ufffd", text)


def shortened(text: str, most: int = _LONGEST) -> str:
    """Return a text of at most so many characters, with a mark where something is missing."""
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"


def element(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element.

    Args:
        name: of the element.
        children: text, which is escaped, or HTML.
        attributes: by name; a trailing underscore is dropped and others become hyphens (`class_`, `aria_label`); None and False are left
            out, True is the name alone.
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        words.append(key if value is True else f'{key}="{escaped(value)}"')
    start = f"<{' '.join(words)}>"
    return Html(start) if name in _VOID else Html(f"{start}{joined(children)}</{name}>")


def joined(parts: Iterable[Any], between: str = "") -> Html:
    """Return parts one after another."""
    return Html(between.join(escaped(part) for part in parts))


def data_block(identity: str, value: Any) -> Html:
    """Return a value as a block of JSON that a script finds by its id, and that no browser runs."""
    # A `</script>` or `<!--` inside a string would end or change the block: JSON may write `<` by its number.
    text = printable(strict_json.dumps(value)).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Html(f'<script type="application/json" id="{escaped(identity)}">{text}</script>')
