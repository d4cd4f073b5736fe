"""What a script can be told, in one form whichever library its parser is of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from definitions.errors import nearest

Kind = Literal["number", "whole", "text", "path", "boolean", "switch"]
"""Of an argument's values; a `boolean` is told as a value (`--amp true`), a `switch` is there or not."""

ListForm = Literal["", "words", "repeated", "comma"]
"""How several values are told; empty for an argument that takes one."""


@dataclass(frozen=True)
class ScriptArgument:
    """One thing that a script can be told.

    Args:
        name: as the script's own variable is called, e.g. `learning_rate`, or `optim.lr`.
        flags: how it is spelt, e.g. `--learning-rate`, the one to use first; empty for a word that has its place (positional).
        kind: of its values.
        default: what it is where nobody says; None where there is none, or none that could be read.
        choices: all that it may be; empty where there is no such list.
        is_required: whether the script does not start without it.
        lists: how several values are told.
        negative: flag that says no, e.g. `--no-amp`; empty where there is none.
        help: what the script says of it.
        when: another argument and its values with which this one exists; None where it always does.
    """

    name: str
    flags: tuple[str, ...] = ()
    kind: Kind = "text"
    default: Any = None
    choices: tuple[Any, ...] = ()
    is_required: bool = False
    lists: ListForm = ""
    negative: str = ""
    help: str = ""
    when: tuple[str, tuple[Any, ...]] | None = None

    @property
    def flag(self) -> str:
        """The flag to use; empty for a positional."""
        return self.flags[0] if self.flags else ""

    @property
    def is_positional(self) -> bool:
        """Whether it is a word that has its place."""
        return not self.flags


@dataclass(frozen=True)
class Interface:
    """All that a script can be told.

    Args:
        form: the library of its parser, e.g. `argparse`.
        arguments: of the script itself.
        commands: arguments of each sub-command.
        style: `flags`; `two_words` where `--key=value` is not understood; or `key=value`.
        is_complete: whether all of it could be read.
        takes_anything: whether what the parser does not know is passed over.
    """

    form: str
    arguments: tuple[ScriptArgument, ...] = ()
    commands: Mapping[str, tuple[ScriptArgument, ...]] = field(default_factory=dict)
    style: Literal["flags", "two_words", "key=value"] = "flags"
    is_complete: bool = True
    takes_anything: bool = False

    def spellings(self) -> tuple[str, ...]:
        """Return every flag that the script knows, those of all sub-commands included; of `key=value` every key."""
        return tuple(dict.fromkeys(text for one in self.everything() for text in (*one.flags, one.negative) if text))

    def everything(self) -> Iterator[ScriptArgument]:
        """Yield the arguments of the script and of all sub-commands."""
        yield from self.arguments
        for arguments in self.commands.values():
            yield from arguments


def merged(first: Interface, second: Interface) -> Interface:
    """Return an interface with what only a second reading of the same script found added."""
    commands = {name: _joined(first.commands.get(name, ()), found) for name, found in {**first.commands, **second.commands}.items()}
    return replace(first, arguments=_joined(first.arguments, second.arguments), commands=commands, is_complete=True)


def _joined(first: Iterable[ScriptArgument], second: Iterable[ScriptArgument]) -> tuple[ScriptArgument, ...]:
    known = list(first)
    spelt = {text for one in known for text in (*one.flags, one.negative, one.name)}
    return (*known, *(one for one in second if not spelt & {*one.flags, one.name}))


def nearest_spelling(word: str, known: Iterable[str]) -> str:
    """Return the known flag or key that a word was probably meant to be, hyphens and underscores alike; empty where none is near.

    A name within a group (`--lr` and `--optim.lr`) and one of the same meaning (`--learning_rate` and `--lr`) count as near.
    """
    options = list(dict.fromkeys(known))
    plain = {_plain(option): option for option in options}
    asked = _plain(word)
    if asked in plain:
        return plain[asked]
    head, _, last = asked.rpartition(".")
    alike = (last, *_SYNONYMS.get(last, ()))
    same = [text for text in plain if text.rpartition(".")[2] in alike]
    found = next((text for text in same if text.rpartition(".")[0] == head), "") or (same[0] if same else nearest(asked, list(plain)))
    return plain.get(found, "")


_ALIKE = (
    ("lr", "learning-rate", "eta", "step-size", "base-lr"),
    ("bs", "batch-size", "per-device-train-batch-size", "train-batch-size", "batch"),
    ("wd", "weight-decay", "l2"),
    ("epochs", "num-train-epochs", "max-epochs", "num-epochs", "n-epochs"),
    ("steps", "max-steps", "num-steps", "train-steps"),
    ("seed", "random-seed", "random-state"),
)
_SYNONYMS: Mapping[str, tuple[str, ...]] = {word: tuple(other for other in group if other != word) for group in _ALIKE for word in group}


def _plain(word: str) -> str:
    return word.lstrip("-$").replace("_", "-").lower()
