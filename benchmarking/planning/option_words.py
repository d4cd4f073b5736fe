"""Values that a parser of the kind of argparse would take for options, as they begin with `-` and stand in a word of their own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from backends.common.hints import interface_at, script_at
from benchmarking.planning.command_line import stands_alone, word_of
from definitions.command import ARGUMENTS, OWN_PREFIX
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from definitions.template import Placeholder, parse_template

_ARGPARSE = ("argparse", "HfArgumentParser", "jsonargparse", "LightningCLI", "tyro")
"""Forms of scripts whose words argparse takes apart."""

_NUMBER = re.compile(r"-\d+|-\d*\.\d+")
_NUMBER_SINCE_3_14 = re.compile(r"-\.?\d.*", re.DOTALL)
_MOST_NAMED = 3


def taken_for_option(word: str, version: tuple[int, ...] = (3, 11)) -> bool:
    """Return whether argparse takes a word for an option that is none of its parser's: `-x`, and before Python 3.14 `-1e-5` too.

    A word with a space, `-` alone, and a negative number are values to it.

    Args:
        word: as a script is told it.
        version: of Python.
    """
    number = _NUMBER if version < (3, 14) else _NUMBER_SINCE_3_14
    return len(word) > 1 and word.startswith("-") and number.fullmatch(word) is None and " " not in word


def check_option_words(definition: BenchmarkDefinition) -> None:
    """Raise `UserError` where a listed value cannot reach a script, as its parser is known to take it for an option.

    Args:
        definition: resolved, its source there.
    """
    found = [*dict.fromkeys(_words(definition, plain=True))]
    if not found:
        return
    interface = interface_at(Path(definition.source_dir), definition.script or "", definition.command or ())
    if interface is None or interface.form not in _ARGPARSE:
        return
    # A place of its own in the command may be meant for an option: `[python, train.py, "${speed}"]` with --fast and --slow.
    known, places = {*interface.spellings()}, _named_alone(definition.command or ())
    found = [one for one in found if one[0] not in places or not known & {one[1].partition("=")[0], one[1][:2]}]
    if not found:
        return
    texts = [f"{word!r} of {key}" for key, word, _ in found[:_MOST_NAMED]]
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    ways = dict.fromkeys(way for _, _, way in found)
    raise UserError(
        f"{definition.name}: {', '.join(texts)}{more} would be taken for an option",
        f"the script's parser ({interface.form}) takes a word that begins with - for an option, unless it is a plain number as -0.5",
        " or ".join(ways),
    )


def writes_plain_numbers(definition: BenchmarkDefinition) -> bool:
    """Return whether negative numbers that stand alone are to be written without an exponent, as argparse would take them for options.

    Only what the definition writes itself comes into question, and only that makes the script be read.
    """
    if not any(True for _ in _words(definition, plain=False)):
        return False
    from backends.scripts.read_source import uses_argparse

    root = Path(definition.source_dir)
    file = script_at(root, definition.script or "", definition.command or ())
    return file is not None and uses_argparse(file, root)


def _words(definition: BenchmarkDefinition, *, plain: bool) -> Iterator[tuple[str, str, str]]:
    """Yield each key and listed word of it that stands alone and looks like an option, and how else it could be told.

    Args:
        definition: that lists them.
        plain: whether numbers are written without an exponent.
    """
    calling = replace(definition.calling, plain_numbers=plain)
    # Which Python another interpreter is nobody has asked.
    version = sys.version_info[:2] if definition.python is None else (3, 11)
    passes = definition.command is None or any(
        f"${{{name}{ARGUMENTS}}}" in word for name in ("", OWN_PREFIX) for word in calling.command or ()
    )
    alone = _named_alone(calling.command or ())
    for key, values in _listed(definition).items():
        for value in values:
            if key in alone:
                words: tuple[str, ...] = (word_of(value, calling),)
                way = f'put "--" before it in `command` where it has its place, or say "--flag=${{{key}}}"'
            elif passes and key not in calling.named:
                words = stands_alone(key, value, calling)
                way = _way(calling.flag(key), value, calling.style)
            else:
                continue
            yield from ((key, word, way) for word in words if taken_for_option(word, version))


def _way(flag: str, value: Any, style: str) -> str:
    if not flag.startswith("--"):
        return f"`rename` {flag} to the long flag that the script has, which is told as --flag=value"
    if isinstance(value, (list, tuple)) and len(value) > 1:
        return "`lists: repeated` or `lists: comma` where the script takes it so (they are told as --flag=value)"
    return "`arguments_style: flags` or `hyphens` (told as --flag=value)" if style == "two_words" else "a plain number (-0.00001)"


def _named_alone(command: tuple[str, ...]) -> frozenset[str]:
    """Return the keys whose placeholder is a word of its own, before any `--`."""
    found = set[str]()
    for word in command:
        if word == "--":
            break
        template = parse_template(word)
        if len(template) == 1 and isinstance(template[0], Placeholder):
            found.add(template[0].name)
    return frozenset(found)


def _listed(definition: BenchmarkDefinition) -> dict[str, tuple[Any, ...]]:
    """Return the values that the definition itself lists, by key; those that are drawn from a range are written as plain numbers."""
    found: dict[str, tuple[Any, ...]] = {key: (value,) for key, value in definition.arguments.items()}
    if definition.trials:
        for trial in definition.explicit_configurations:
            for key, value in trial.items():
                found[key] = (*found.get(key, ()), value)
    else:
        found |= {key: tuple(getattr(domain, "values", ())) for key, domain in definition.search_space.domains.items()}
        for point in definition.points_to_evaluate:
            for key, value in point.items():
                found[key] = (*found.get(key, ()), value)
    return {key: values for key, values in found.items() if key not in definition.own_keys}
