"""How a script is called: the keys of a definition that say so, and what is wrong with them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from definitions.errors import UserError, nearest
from definitions.forms import Boolean, ListForm, form_of, unknown_keys
from definitions.template import check_names, names_in, parse_template
from definitions.written import text_of

ArgumentsStyle = Literal["flags", "two_words", "hyphens", "key=value", "json", "yaml", "toml", "none"]
WorkingDir = Literal["job", "source"]

ARGUMENTS = "arguments"
FILE_STYLES = ("json", "yaml", "toml")
PLACES = ("data", "output", "model", "checkpoint", "arguments_file", "python", "source", "script")
"""Placeholders that a back-end fills in, as it alone knows where things are."""

NUMBERS = ("level", "seed", "repeat", "trial")
"""Placeholders that say which trial this is."""

OWN_PREFIX = "outrider."
"""Before a placeholder's name it means ours, where a key of the configurations has the same name."""

_SHELL_WORDS = ("|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1", "2>", "&>")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KeyPath: TypeAlias = tuple[str | int, ...]


def split_command(value: Any) -> Any:
    """Return the words of a command, given as a list, or as text that is split as a shell would.

    Raises:
        ValueError: quotes that do not match, something that only a shell understands, or no word.
    """
    if isinstance(value, str):
        try:
            words = shlex.split(value)
        except ValueError as error:
            raise ValueError(
                f"{value!r} cannot be split into words: {str(error).lower()}; write a list of words, or close the quote"
            ) from None
        found = shell_word(value, words)
        if found:
            raise ValueError(f"{found!r} means something to a shell only, and none is started; write [sh, -c, {value!r}]")
        value = words
    if isinstance(value, (list, tuple)) and value and str(value[0]) in ("python", "python3", "${python}"):
        check_notebook(str(next((word for word in value[1:] if not str(word).startswith("-")), "")))
    if not isinstance(value, (list, tuple)):
        raise ValueError("needs a list of words, or text")
    if not value:
        raise ValueError("needs at least one word, the program")
    for word in value:
        if isinstance(word, (list, tuple, dict)) or word is None:
            raise ValueError(f"{word!r} is no word; a command is one list of words")
    return tuple(text_of(word) for word in value)


def check_notebook(script: str) -> str:
    """Return the name of a script.

    Raises:
        ValueError: it is a notebook, which Python does not run.
    """
    if script.endswith(".ipynb"):
        raise ValueError(
            f"{script} is a notebook, which Python does not run; `jupyter nbconvert --to script {script}` writes a script of it, "
            f'`command: [papermill, {script}, "${{output}}/out.ipynb", --log-output, -p, lr, "${{lr}}"]` runs it as it is, '
            "and outrider.run tunes a function in it (docs/python.md)"
        )
    return script


def shell_word(text: str, words: Sequence[str]) -> str:
    """Return the first word of a command that means something to a shell only; empty where there is none.

    Args:
        text: as written.
        words: that it was split into.
    """
    return next((word for word in words if word in _SHELL_WORDS or (word.endswith(";") and word not in text.split("'"))), "")


def _check_environment(value: dict[str, Any]) -> dict[str, str]:
    for name, one in value.items():
        if not _VARIABLE.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a variable: letters, digits and _, the first no digit")
        if isinstance(one, (list, tuple, dict)) or one is None:
            raise ValueError(f"{name} needs a single value; {one!r} was given")
    return {name: text_of(one) for name, one in value.items()}


_WORDS_SCHEMA = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": ["string", "number", "boolean"]}, "minItems": 1}],
    "description": "a list of words, or text that is split as a shell would",
}
Script = Annotated[str, Field(strict=True), AfterValidator(check_notebook)]
Command = Annotated[tuple[str, ...], BeforeValidator(split_command), WithJsonSchema(_WORDS_SCHEMA)]
Environment = Annotated[
    dict[str, Any],
    AfterValidator(_check_environment),
    WithJsonSchema(
        {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}, "description": "variables of the job"}
    ),
]


@dataclass(frozen=True)
class Calling:
    """How a definition's script is called.

    Args:
        command: with placeholders; None where the script is run by its interpreter.
        style: how arguments are written; `booleans`, `lists`: in which form, for all keys or by key.
        rename: what the script calls a key.
        environment: variables, with placeholders.
        keys: of the script: fixed arguments, configuration, the fidelity's and the seed's.
        own_keys: of the configuration that are ours, e.g. `instance_type`.
        channels: names of the input channels.
        others: further commands, `prepare` and `cleanup`, by their names.
        paths: of files that metrics are read from.
        plain_numbers: whether a negative number in a word of its own is written without an exponent, also where somebody wrote one.
    """

    command: tuple[str, ...] | None = None
    style: ArgumentsStyle = "flags"
    booleans: Boolean | Mapping[str, Boolean] = "value"
    lists: ListForm | Mapping[str, ListForm] = "words"
    rename: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    own_keys: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    plain_numbers: bool = False

    @property
    def named(self) -> frozenset[str]:
        """The keys that the command or the environment names, so that `${arguments}` leaves them out."""
        texts = [*(self.command or ()), *self.environment.values()]
        return frozenset(name for text in texts for name in names_in(parse_template(text))) & frozenset(self.keys)

    def boolean(self, key: str) -> Boolean:
        """Return how a key's truth is told."""
        return form_of(self.booleans, key, "value")

    def list_form(self, key: str) -> ListForm:
        """Return how a key's several values are told."""
        return form_of(self.lists, key, "words")

    def flag(self, key: str) -> str:
        """Return what a key is called on the command line, e.g. `--batch-size`; in `key=value` and files its name."""
        name = self.rename.get(key, key)
        if self.style not in ("flags", "two_words", "hyphens") or name.startswith("-"):
            return name
        return "--" + (name.replace("_", "-") if self.style == "hyphens" and key not in self.rename else name)

    def problems(self) -> Iterator[tuple[_KeyPath, str]]:
        """Yield what does not fit together: the path of a key, and what is wrong there."""
        wrong = [*self._template_problems()]
        yield from wrong
        for key in self.rename:
            if key not in self.keys:
                near = nearest(key, self.keys)
                yield (
                    ("rename", key),
                    f"the script is told no {key!r}; " + (f"did you mean {near!r}?" if near else f"its keys: {', '.join(self.keys)}"),
                )
            elif not self.rename[key] or (self.style not in FILE_STYLES and re.search(r"[\s=]", self.rename[key])):
                yield (
                    ("rename", key),
                    f"{self.rename[key]!r} is no name that a script could be told: it needs a letter, and neither blanks nor =",
                )
        for place, forms in (("booleans", self.booleans), ("lists", self.lists)):
            yield from (((place, key), text) for key, text in unknown_keys(forms, self.keys))
        if wrong:
            return
        left = [key for key in self.keys if key not in self.named]
        flags: dict[str, str] = {}
        for key in left:
            flag = self.flag(key)
            if flag in flags:
                path: _KeyPath = ("rename", key) if key in self.rename else ("rename", flags[flag]) if flags[flag] in self.rename else ()
                yield path, f"{flags[flag]!r} and {key!r} would both reach the script as {flag}"
            flags[flag] = key
        if self.command is not None and left and self.style != "none" and not self._passes_arguments():
            names = ", ".join(map(repr, left))
            words = ", ".join(["${arguments}", *(f"${{{key}}}" for key in left[:3])])
            yield ("command",), f"{names} would not reach the script; it names none of {words} (or say arguments_style: none)"

    def _passes_arguments(self) -> bool:
        names = {name for text in self.command or () for name in names_in(parse_template(text))}
        return bool(names & {ARGUMENTS, "arguments_file", OWN_PREFIX + ARGUMENTS, OWN_PREFIX + "arguments_file"})

    def _template_problems(self) -> Iterator[tuple[_KeyPath, str]]:
        values = [*self.keys, *self.own_keys, *NUMBERS]
        places = [*PLACES, *(f"data.{name}" for name in self.channels)]
        if self.style not in FILE_STYLES:
            places.remove("arguments_file")
        if not self.channels:
            places.remove("data")
        everywhere = [*values, *places]
        texts: list[tuple[_KeyPath, str, list[str]]] = []
        texts += [(("command",), text, [*everywhere, ARGUMENTS]) for text in self.command or ()]
        texts += [((name,), text, everywhere) for name, words in self.others.items() for text in words]
        texts += [(("read", place, "path"), text, everywhere) for place, text in enumerate(self.paths)]
        texts += [(("environment", name), text, values) for name, text in self.environment.items()]
        for path, text, known in texts:
            ours = [OWN_PREFIX + name for name in (*NUMBERS, *places, ARGUMENTS) if name in known]
            try:
                check_names(text, [*dict.fromkeys(known), *ours], always=[name for name in (*places, ARGUMENTS) if name not in values])
            except UserError as error:
                yield path, "; ".join(str(error).split("\n  "))
