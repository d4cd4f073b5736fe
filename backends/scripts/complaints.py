"""Finds in what a program printed that it was told something it does not know, in the words of the parsers that people use. Pure."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from backends.scripts.help_text import spelt_in
from backends.scripts.interface import nearest_spelling

_FLAG = r"(?P<flag>--?[A-Za-z][\w.-]*)"
_ONE = tuple(
    re.compile(text)
    for text in (
        rf"[Nn]o such option:? '?{_FLAG}",  # click, typer, optparse
        r"Unknown command line flag '(?P<name>[\w.-]+)'",  # absl
        r"Could not override '(?P<key>[\w./@-]+)'",  # hydra
        r"Key '(?P<key>[\w.]+)' is not expected",  # jsonargparse
        rf"Could not consume arg: {_FLAG}",  # fire
        rf"[Uu]nrecognized options?:? [\"'`]?{_FLAG}",  # tyro, getopt
        rf"GetoptError: option {_FLAG} not recognized",  # getopt
        rf"unexpected argument '{_FLAG}",  # clap
        r"flag provided but not defined: (?P<flag>-{1,2}[\w.-]+)",  # Go
        rf"(?:[Uu]nknown|[Ii]nvalid|[Ii]llegal) (?:option|flag|argument):?\s+(?:-- ?)?[\"'`]?{_FLAG}",
        r"got an unexpected keyword argument '(?P<name>\w+)'",  # words that a script hands to a function
    )
)
_SEVERAL = re.compile(r"(?:error: |^)[Uu]nrecognized arguments: (?P<words>.+)")
_LISTED = re.compile(r"not used by the HfArgumentParser: (?P<list>\[.*\])")
_SHORT = re.compile(r"(?:[Ii]llegal|invalid|unknown|unrecognized) option (?:-- '?|-)(?P<letter>[\w-])")
_NO_VALUE = tuple(
    re.compile(text)
    for text in (
        rf"argument (?:-\w[,/] ?)?{_FLAG}(?:[,/] ?--?[\w-]+)*: ignored explicit argument",  # argparse
        rf"[Oo]ption '?{_FLAG}'? does(?: not|n't) (?:take a value|allow an argument)",  # click, typer, getopt_long
        rf"{_FLAG} option does not take a value",  # optparse
        rf"option {_FLAG} must not have an argument",  # getopt
        rf"unexpected value '[^']*' for '{_FLAG}",  # clap
    )
)
_NEAR = re.compile(r"(?:Did you mean:?|Possible options:|similar argument exists:|did you mean:?)(?: one of:?)? (?P<words>.*)")
_FRAME = re.compile(r"^\s*[│┃|]|[│┃|]\s*$")


@dataclass(frozen=True)
class Complaint:
    """What a program said that it does not know.

    Args:
        unknown: flags or keys, without their values, as they were told.
        suggested: that the program itself offers in their place.
        known: all that its usage names.
    """

    unknown: tuple[str, ...]
    suggested: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    def nearest(self, word: str, further: Iterable[str] = ()) -> str:
        """Return what was probably meant by one of the unknown; empty where nothing is near.

        Args:
            word: one of `unknown`.
            further: flags that the program is known to take, beside those that it named.
        """
        if self.suggested and (word == self.unknown[0] or len(self.unknown) == 1):
            # What a library offers for a key is without the hyphens of a flag.
            first = self.suggested[0]
            return first if first.startswith("-") or not word.startswith("-") else f"--{first}"
        return nearest_spelling(word, [*self.known, *further])


def find_complaint(lines: Sequence[str], arguments: Iterable[str] | None = None) -> Complaint | None:
    """Return what a program's output says that it does not know; None where it says nothing of the kind.

    Args:
        lines: of the output, the last ones at least.
        arguments: flags and keys that it was given, which alone count; None for all.
    """
    plain = [_FRAME.sub(" ", line) for line in lines]
    unknown = [word for line in plain for word in _unknown_in(line)]
    if arguments is not None:
        listed = [one.partition("=")[0] for one in arguments]
        words = {_bare(one) for one in listed}
        longs = [one for one in listed if one.startswith("--")] if "--" in unknown else []
        unknown = [*(word for word in unknown if _bare(word) in words), *longs]
    if not unknown:
        return None
    suggested = [
        word for line in plain if (match := _NEAR.search(line)) is not None for word in re.findall(r"-{0,2}[A-Za-z][\w.-]*", match[1])
    ]
    return Complaint(tuple(dict.fromkeys(unknown)), tuple(suggested), _usage(plain))


def find_switches(lines: Sequence[str], arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the flags that were told true or false, of which a program says that they take no value.

    Args:
        lines: of the output, the last ones at least.
        arguments: words that it was given.
    """
    said = {match["flag"] for line in lines for pattern in _NO_VALUE if (match := pattern.search(_FRAME.sub(" ", line))) is not None}
    joined = [word.partition("=")[0] for word in arguments if word.lower().endswith(("=true", "=false"))]
    found = [flag for flag in joined if flag in said]
    # Told as two words, the second is what a parser does not know, and it does not say behind which flag.
    unknown = {word for line in lines if (several := _SEVERAL.search(line)) is not None for word in several["words"].split()}
    if unknown and {word.lower() for word in unknown} <= {"true", "false"}:
        found += [flag for flag, value in pairwise(arguments) if flag.startswith("-") and value in unknown]
    return tuple(dict.fromkeys(found))


def _unknown_in(line: str) -> list[str]:
    if (several := _SEVERAL.search(line)) is not None:
        return _named_words(several["words"])
    if (listed := _LISTED.search(line)) is not None:
        return [word.partition("=")[0] for word in _literal(listed["list"]) if word.startswith("-")]
    for pattern in _ONE:
        if (match := pattern.search(line)) is not None:
            found = match.groupdict()
            return [found.get("flag") or (f"--{found['name']}" if found.get("name") else str(found.get("key")))]
    if (short := _SHORT.search(line)) is not None:
        # The getopts of shells knows letters only, and calls `--lr` the letter `-`.
        return [f"-{short['letter']}"]
    return []


def _named_words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split()
    flags = [word.partition("=")[0] for word in words if re.match(r"--?[A-Za-z]", word)]
    return flags or [word.partition("=")[0] for word in words]


def _literal(text: str) -> list[str]:
    try:
        found = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return []
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def _usage(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the flags in the usage that a parser prints before its complaint; lines of it are indented."""
    found: list[str] = []
    inside = False
    for line in lines:
        if _unknown_in(line):
            inside = False
            continue
        inside = line.lower().lstrip().startswith("usage:") or (inside and line[:1] in (" ", "\t"))
        # Of a long usage only the end may be left.
        if inside or (line.startswith("  ") and line.lstrip().startswith("[-")):
            found += spelt_in(line)
    return tuple(dict.fromkeys(found))


def _bare(word: str) -> str:
    return word.partition("=")[0].lstrip("-")
