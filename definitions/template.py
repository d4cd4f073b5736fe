"""Texts with placeholders: `--out=${output}`, `${lr:-0.1}` for 0.1 where `lr` has no value; `$${` stands for `${` itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from definitions.errors import UserError, did_you_mean

_OPENING = re.compile(r"\$?\$\{")
_OTHERWISE = ":-"


@dataclass(frozen=True)
class Placeholder:
    """A place in a text that something is put into.

    Args:
        name: of what is put in.
        otherwise: text in its place where it has no value; None where nothing is said for that.
    """

    name: str
    otherwise: str | None = None


Template = tuple[str | Placeholder, ...]


def parse_template(text: str) -> Template:
    """Return a text's parts in their order, those that are no placeholders as they are meant.

    Raises:
        UserError: a placeholder without an end or a name, or one within another.
    """
    parts: list[str | Placeholder] = []
    literal, at = "", 0
    while (match := _OPENING.search(text, at)) is not None:
        literal += text[at : match.start()]
        at = match.end()
        if match[0] == "$${":
            literal += "${"
            continue
        end = text.find("}", at)
        if end < 0:
            raise UserError(f"{text!r}: a placeholder has no end", "it begins with ${ and ends with }", "write $${ for ${ itself")
        name = text[at:end]
        if "${" in name:
            raise UserError(f"{text!r}: a placeholder within another", "one is put in for each ${...}", "write them one after the other")
        name, separator, otherwise = name.partition(_OTHERWISE)
        if not name.strip():
            raise UserError(f"{text!r}: a placeholder has no name", "it is written ${name}", "write $${ for ${ itself")
        found = Placeholder(name, otherwise if separator else None)
        parts += [literal, found] if literal else [found]
        literal, at = "", end + 1
    literal += text[at:]
    return (*parts, literal) if literal or not parts else tuple(parts)


def names_in(template: Iterable[str | Placeholder]) -> tuple[str, ...]:
    """Return the names of a template's placeholders, in their order."""
    return tuple(part.name for part in template if isinstance(part, Placeholder))


def escaped(text: str) -> str:
    """Return what a template must say for this very text."""
    return text.replace("${", "$${")


def check_names(text: str, known: Iterable[str], always: Iterable[str] = ()) -> None:
    """Raise `UserError` where a text cannot be parsed, or has a placeholder of no known name.

    Args:
        text: with placeholders.
        known: names.
        always: names of what always has a value, so that nothing can stand in its place.
    """
    options, lasting = list(known), frozenset(always)
    for part in parse_template(text):
        if not isinstance(part, Placeholder):
            continue
        if part.name not in options:
            raise UserError(f"{text!r}: there is no ${{{part.name}}}", did_you_mean(part.name, options))
        if part.otherwise is not None and part.name in lasting:
            raise UserError(f"{text!r}: ${{{part.name}}} always has a value", "what stands in its place is said of keys alone")
