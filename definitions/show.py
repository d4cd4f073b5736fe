"""Renders a resolved definition as YAML with the origin of each value beside it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import yaml

from definitions.draft import SPACES
from definitions.problems import dotted
from definitions.resolve import Resolved, shown_data
from definitions.written import WrittenFloat, WrittenInt
from definitions.yaml_source import KeyPath, parse_scalar

_FLOAT = "tag:yaml.org,2002:float"
_INT = "tag:yaml.org,2002:int"

_WIDEST = 60
"""Comments are aligned at most this far to the right; longer lines have theirs right behind them."""


def render(resolved: Resolved) -> str:
    """Return valid YAML that loads to the same definition, each line ending in a comment that says where its value came from."""
    data = shown_data(resolved.definition, resolved.backend)
    lines = list(_lines(data, (), resolved.origins))
    width = max((len(text) for text, _ in lines if len(text) <= _WIDEST), default=0)
    return "".join(f"{text:<{width}}  # {origin}\n" if origin else f"{text}\n" for text, origin in lines)


def _lines(data: Mapping[str, Any], path: KeyPath, origins: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    indent = "  " * len(path)
    for key, value in data.items():
        inner = (*path, key)
        head = f"{indent}{inline(key)}:"
        if inner == ("trials",) and value:
            yield head, ""
            yield from ((f"  - {inline(trial)}", origins.get(f"trials.{number}", "")) for number, trial in enumerate(value))
        elif isinstance(value, Mapping) and value and path != SPACES:
            yield head, ""
            yield from _lines(value, inner, origins)
        else:
            yield f"{head} {inline(value)}", origins.get(dotted(inner), "")


class _Dumper(yaml.SafeDumper):
    """Quotes all text that YAML 1.1 or 1.2 would read as something else, so that other tools read the file alike."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # A double-quoted text has no line breaks of its own and so stays on one line.
    unsafe = not value.isprintable() or not isinstance(parse_scalar(value), str)
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style='"' if unsafe else None)


def _number(dumper: yaml.SafeDumper, value: WrittenFloat) -> yaml.ScalarNode:
    return dumper.represent_scalar(_FLOAT, value.text)


def _whole_number(dumper: yaml.SafeDumper, value: WrittenInt) -> yaml.ScalarNode:
    return dumper.represent_scalar(_INT, value.text)


def _plain_number(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    # As Python writes it, which is what a script gets: read back from 1.0e-05, it would be remembered as written so. A negative
    # exponent is written out, as for a script (-0.00001): read back as it is, it would be one that somebody wrote.
    text = format(Decimal(repr(value)), "f") if value < 0 and "e" in repr(value) else repr(value)
    return dumper.represent_scalar(_FLOAT, text) if math.isfinite(value) else dumper.represent_float(value)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _plain_number)
_Dumper.add_representer(WrittenFloat, _number)
_Dumper.add_representer(WrittenInt, _whole_number)
# Python's YAML takes 1e3 for text, and would write a tag before it.
_Dumper.add_implicit_resolver(_FLOAT, re.compile(r"[-+]?[0-9.]+[eE][-+]?[0-9]+$"), list("-+.0123456789"))
_Dumper.add_implicit_resolver(_INT, re.compile(r"0o[0-7]+$"), ["0"])
_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)


def inline(value: Any) -> str:
    """Return a value as YAML on one line, which reads back as the same value by YAML 1.1 and 1.2."""
    text: str = yaml.dump(value, Dumper=_Dumper, default_flow_style=True, width=float("inf"), allow_unicode=True, sort_keys=False)
    return text.removesuffix("...\n").strip()
