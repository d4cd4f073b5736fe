"""Texts with placeholders: `--out=${output}`; `$${` stands for `${` itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from definitions.errors import UserError, did_you_mean

_OPENING = re.compile(r"\$?\$\{")


@dataclass(frozen=True)
class Placeholder:
    """A place in a text that something is put into."""

    name: str


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
        if not name.strip():
            raise UserError(f"{text!r}: a placeholder has no name", "it is written ${name}", "write $${ for ${ itself")
        parts += [literal, Placeholder(name)] if literal else [Placeholder(name)]
        literal, at = "", end + 1
    literal += text[at:]
    return (*parts, literal) if literal or not parts else tuple(parts)


def names_in(template: Iterable[str | Placeholder]) -> tuple[str, ...]:
    """Return the names of a template's placeholders, in their order."""
    return tuple(part.name for part in template if isinstance(part, Placeholder))


def fill(template: Template, value: Callable[[str], str]) -> str:
    """Return the text with each placeholder replaced by what `value` returns for its name."""
    return "".join(part if isinstance(part, str) else value(part.name) for part in template)


def escaped(text: str) -> str:
    """Return what a template must say for this very text."""
    return text.replace("${", "$${")


def check_names(text: str, known: Iterable[str]) -> None:
    """Raise `UserError` where a text cannot be parsed, or has a placeholder of no known name."""
    options = list(known)
    for name in names_in(parse_template(text)):
        if name not in options:
            raise UserError(f"{text!r}: there is no ${{{name}}}", did_you_mean(name, options))
