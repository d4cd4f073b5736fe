"""How a person calls a script: what starts it, itself, and the words that it is given. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import Literal

from backends.common.hints import INTERPRETERS
from backends.scripts.interface import Interface, ScriptArgument
from definitions.command import shell_word
from definitions.errors import UserError

_PYTHON = re.compile(r"python(\d(\.\d+)?)?")
_FLAG, _NAME = re.compile(r"--[A-Za-z][\w.-]*"), re.compile(r"[A-Za-z_][\w.]*")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class ScriptCall:
    """How a script is called.

    Args:
        words: what starts it, up to and with the script or module itself; `python` for an interpreter.
        script: its path as written; empty for a module or an installed program.
        module: in place of a script.
        given: the words that it is given.
        python: path of the interpreter, where one was named.
        environment: variables before the command.
    """

    words: tuple[str, ...]
    script: str = ""
    module: str = ""
    given: tuple[str, ...] = ()
    python: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Whether it is a script that its interpreter alone is called with."""
        return bool(self.script) and (
            self.words == (self.script,) or (self.words == ("python", self.script) and self.script.endswith(".py"))
        )


def parse_call(text: str, is_file: Callable[[str], bool], is_module: Callable[[str], bool]) -> ScriptCall:
    """Return what a command line calls.

    Args:
        text: as typed.
        is_file: whether a word is the path of a file.
        is_module: whether a name is that of a module or package of the user's.

    Raises:
        UserError: no words, quotes that do not match, or what only a shell understands.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UserError(f"--run {text!r} cannot be split into words", str(error).lower(), "close the quote") from None
    if found := shell_word(text, words):
        by_shell = shlex.quote(shlex.join(["sh", "-c", text]))
        raise UserError(f"--run {text!r}", f"{found!r} means something to a shell only, and none is started", f"say so: --run {by_shell}")
    environment: dict[str, str] = {}
    while words and (match := _VARIABLE.fullmatch(words[0])) is not None:
        environment[match[1]] = match[2]
        words.pop(0)
    if not words:
        raise UserError(f"--run {text!r} starts nothing", "it is the command as you would type it", "e.g. --run 'python train.py data/'")
    python = ""
    if _PYTHON.fullmatch(PurePath(words[0]).name):
        python = words[0] if "/" in words[0] else ""
        words[0] = "python"
    at, script, module = _target(words, is_file, is_module)
    return ScriptCall(tuple(words[: at + 1]), script, module, tuple(words[at + 1 :]), python, environment)


def call_of(script: str) -> ScriptCall:
    """Return how a script is called of which nothing but its path is known."""
    interpreter = INTERPRETERS.get(PurePath(script).suffix)
    return ScriptCall((script,) if interpreter is None else (interpreter, script), script)


def _target(words: Sequence[str], is_file: Callable[[str], bool], is_module: Callable[[str], bool]) -> tuple[int, str, str]:
    """Return the place of the script or module among the words, and which of the two it is."""
    for at, word in enumerate(words):
        if word == "-m" and at + 1 < len(words) and is_module(words[at + 1]):
            return at + 1, "", words[at + 1]
        if is_file(word) and (at == 0 or word.endswith(tuple(INTERPRETERS)) or words[at - 1] in ("sh", *INTERPRETERS.values())):
            return at, word, ""
    return 0, "", ""


def typed_interface(words: Sequence[str]) -> Interface:
    """Return what a script can be told as far as the words tell that a person gave it: numbers by name, in the one form that they have.

    Args:
        words: after the script, as `--lr=0.1`, `--lr 0.1` or `LR=0.1`.
    """
    with_equals = [word.partition("=")[::2] for word in words if "=" in word]
    forms: tuple[tuple[Literal["flags", "two_words", "key=value"], re.Pattern[str], Iterable[tuple[str, str]]], ...] = (
        ("flags", _FLAG, with_equals),
        ("two_words", _FLAG, pairwise(words)),
        ("key=value", _NAME, with_equals),
    )
    for style, form, pairs in forms:
        names = dict.fromkeys(name for name, value in pairs if form.fullmatch(name) and _is_number(value))
        if names:
            return Interface("--run", tuple(ScriptArgument(name.lstrip("-").replace("-", "_"), (name,)) for name in names), style=style)
    return Interface("")


@dataclass(frozen=True)
class Given:
    """What the words of a call say.

    Args:
        values: text by argument; `true` for a switch.
        kept: the words of each argument, as given.
        positionals: words that have their places.
        unknown: flags that no argument is known for.
    """

    values: Mapping[str, str]
    kept: Mapping[str, tuple[str, ...]]
    positionals: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def read_given(words: Sequence[str], arguments: Iterable[ScriptArgument], *, stops_at: Iterable[str] = ()) -> tuple[Given, tuple[str, ...]]:
    """Return what words say to a script, and those that are left from the first positional on that names a sub-command.

    Args:
        words: after the script.
        arguments: that it takes.
        stops_at: names of sub-commands.
    """
    by_flag = {text: argument for argument in arguments for text in (*argument.flags, argument.negative) if text}
    commands = frozenset(stops_at)
    values: dict[str, str] = {}
    kept: dict[str, tuple[str, ...]] = {}
    positionals: list[str] = []
    unknown: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word in commands:
            return Given(values, kept, tuple(positionals), tuple(unknown)), (word, *left)
        name, equals, value = word.partition("=")
        argument = by_flag.get(name)
        if argument is None:
            if not name.startswith("-") or _is_number(word):
                positionals.append(word)
            else:
                unknown.append(word)
                if not equals and left and not left[0].startswith("-") and left[0] not in commands:
                    unknown.append(left.pop(0))
            continue
        taken = [word]
        if argument.kind == "switch":
            value = "false" if name == argument.negative else "true"
        elif not equals:
            count = 0
            while left and (count == 0 or argument.lists == "words") and (not left[0].startswith("-") or _is_number(left[0])):
                value = left.pop(0)
                taken.append(value)
                count += 1
        values[argument.name] = value
        kept[argument.name] = (*kept.get(argument.name, ()), *taken)
    return Given(values, kept, tuple(positionals), tuple(unknown)), ()


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
