"""From a trial's values to what is started: words, variables, a file of arguments. Places that a back-end knows stay placeholders. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from benchmarking.planning.absent_keys import has_own_flag, is_left_out
from benchmarking.planning.arguments_file import document
from benchmarking.planning.hydra_values import hydra_value
from definitions.command import ARGUMENTS, FILE_STYLES, OWN_PREFIX, Calling
from definitions.template import Placeholder, Template, escaped, parse_template
from definitions.written import WrittenFloat, text_of

INTERPRETERS = ("python", "python3")
"""First words of a command that mean the definition's interpreter."""

_FILE = "${arguments_file}"


@dataclass(frozen=True)
class TrialCommand:
    """What one trial starts.

    Args:
        command: with places as placeholders; empty where the script is run by its interpreter, with `arguments`.
        environment: variables that the definition asks for.
        files: text by name, to be written before the start.
        others: `prepare` and `cleanup`, by name.
        paths: of files that metrics are read from.
    """

    command: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()


class CommandLine:
    """Writes the command lines of a definition's trials.

    Args:
        calling: how its script is called.
        script: the definition's, empty where it has none.
        is_source: whether a word of the command names a file of the source folder, whose place differs between back-ends.
    """

    def __init__(self, calling: Calling, script: str = "", is_source: Callable[[str], bool] = lambda word: False) -> None:
        self._calling = calling
        self._named = calling.named
        self._file = f"arguments.{calling.style}" if calling.style in FILE_STYLES else ""
        words = calling.command
        if words is None and self._file:
            words = _words_of(script, self._file)
        self._command = None if words is None else tuple(_template(word, first=k == 0, is_source=is_source) for k, word in enumerate(words))
        self._others = {
            name: tuple(_template(word, first=k == 0, is_source=is_source) for k, word in enumerate(one))
            for name, one in calling.others.items()
        }
        self._paths = [parse_template(text) for text in calling.paths]
        self._environment = {name: parse_template(text) for name, text in calling.environment.items()}
        self._flags = {key: calling.flag(key) for key in calling.keys}

    def start(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> TrialCommand:
        """Return what a trial starts.

        Args:
            values: of the script's keys, in their order; null and absent ones are left out.
            facts: of our keys, and what `NUMBERS` name.
        """
        left = {key: value for key, value in values.items() if key not in self._named}
        files = {self._file: document({self._flags[key]: value for key, value in left.items()}, self._calling.style)} if self._file else {}
        words = self._all_expanded(self._command or (), values, facts, left)
        arguments = self._words(left) if self._command is None else ()
        others = self._other_commands(values, facts)
        paths = tuple("".join(self._expanded(template, values, facts, {}) or ()) for template in self._paths)
        return TrialCommand(tuple(words), arguments, self._variables(values, facts), files, others, paths)

    def _other_commands(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
        return {name: tuple(self._all_expanded(templates, values, facts, {})) for name, templates in self._others.items()}

    def _variables(self, values: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, str]:
        """Return the variables; one that is a key's alone is as absent as the key is."""
        found: dict[str, str] = {}
        for name, template in self._environment.items():
            texts = [part if isinstance(part, str) else self._text(part, values, facts, text_of) for part in template]
            if texts != [None]:
                found[name] = "".join(text or "" for text in texts)
        return found

    def _all_expanded(
        self, templates: Sequence[Template], values: Mapping[str, Any], facts: Mapping[str, Any], left: Mapping[str, Any]
    ) -> list[str]:
        """Return the words of a command; with a key that has no value goes its own flag before it."""
        words: list[str] = []
        before: Template = ()
        for template in templates:
            made = self._expanded(template, values, facts, left)
            words += made or ()
            if made is None and isinstance(alone := template[0], Placeholder):
                flag = before[0] if len(before) == 1 else None
                if isinstance(flag, str) and has_own_flag(flag, alone.name, self._calling.rename):
                    words.pop()
            before = template
        return words

    def _expanded(
        self, template: Template, values: Mapping[str, Any], facts: Mapping[str, Any], left: Mapping[str, Any]
    ) -> list[str] | None:
        """Return the words that one word of a command becomes; None where it goes, as the key that it is made for has no value."""
        listed = self._listed(template, values)
        if listed is not None:
            return [escaped(text) for text in listed]
        found = ""
        for part in template:
            if not isinstance(part, Placeholder):
                found += escaped(part)
            elif _is_ours(part.name, ARGUMENTS, values):
                words = self._words(left)
                if len(template) == 1:
                    return list(words)
                # Within a word it is for a shell, so that each word has to stay one.
                found += " ".join(word if word == _FILE else shlex.quote(word) for word in words)
            elif (text := self._text(part, values, facts, text_of if len(template) > 1 else self._word_of)) is not None:
                found += escaped(text)
            elif not _is_key(part.name, self._calling, facts):
                found += "${" + part.name.removeprefix(OWN_PREFIX) + "}"
            elif is_left_out(template):
                return None
        return [found]

    def _text(self, part: Placeholder, values: Mapping[str, Any], facts: Mapping[str, Any], text: Callable[[Any], str]) -> str | None:
        """Return the text of a placeholder's value, or what is said for a key without one; None for that, and for what is no key."""
        # A key of the configurations wins over a word of ours, also where it has no value.
        name = part.name
        value = values.get(name) if name in self._calling.keys else facts.get(name.removeprefix(OWN_PREFIX))
        return part.otherwise if value is None else text(value)

    def _listed(self, template: Template, values: Mapping[str, Any]) -> list[str] | None:
        """Return the words of a listed value that is a word of its own, as `lists` has them; None for anything else."""
        if len(template) != 1 or not isinstance(template[0], Placeholder):
            return None
        value = values.get(template[0].name)
        if not isinstance(value, (list, tuple)):
            return None
        texts = [self._word_of(item) for item in value]
        return [",".join(texts)] if self._calling.list_form(template[0].name) == "comma" else texts

    def _word_of(self, value: Any) -> str:
        return word_of(value, self._calling)

    def _words(self, left: Mapping[str, Any]) -> tuple[str, ...]:
        """Return what `${arguments}` stands for."""
        calling, style = self._calling, self._calling.style
        if style == "none":
            return ()
        if self._file:
            return (_FILE,)
        template = calling.command is not None
        words: list[str] = []
        for key, value in left.items():
            name = self._flags[key]
            made = _pairs(name, value, calling.list_form(key)) if style == "key=value" else _flagged(name, key, value, calling)
            words += map(escaped, made) if template else made
        return tuple(words)


def _words_of(script: str, file: str) -> tuple[str, ...]:
    head = ("${python}",) if script.endswith(".py") else ("/bin/sh",) if script.endswith(".sh") else ()
    return (*head, "${script}", _FILE)


def _template(word: str, *, first: bool, is_source: Callable[[str], bool]) -> Template:
    if first and word in INTERPRETERS:
        return (Placeholder("python"),)
    if not word.startswith(("-", "/")) and "${" not in word and is_source(word):
        return (Placeholder("source"), "/" + word.removeprefix("./"))
    return parse_template(word)


def _is_ours(name: str, ours: str, values: Mapping[str, Any]) -> bool:
    return name == OWN_PREFIX + ours or (name == ours and ours not in values)


def _is_key(name: str, calling: Calling, facts: Mapping[str, Any]) -> bool:
    return name in calling.keys or name in calling.own_keys or name.removeprefix(OWN_PREFIX) in facts


def word_of(value: Any, calling: Calling) -> str:
    """Return the text of a value that is a word of its own.

    A negative number has no exponent where nobody wrote it, as it was drawn, or the parser is argparse, which takes `-1e-05` for an option.
    """
    text = text_of(value)
    if isinstance(value, float) and text.startswith("-") and "e" in text.lower():
        is_kept = isinstance(value, WrittenFloat) and not calling.plain_numbers
        return text if is_kept else format(Decimal(text), "f")
    return text


def stands_alone(key: str, value: Any, calling: Calling) -> tuple[str, ...]:
    """Return the words of a value, among `${arguments}`, that are neither a flag nor joined to one by `=`.

    Args:
        key: whose value it is.
        value: of a configuration.
        calling: how the script is called.
    """
    if calling.style in ("key=value", "none", *FILE_STYLES):
        return ()
    flag = calling.flag(key)
    return tuple(word for word in _flagged(flag, key, value, calling) if word != flag and not word.startswith((f"{flag}=", "--no-")))


def _flagged(flag: str, key: str, value: Any, calling: Calling) -> list[str]:
    if value is None:
        return []
    if isinstance(value, bool) and (boolean := calling.boolean(key)) != "value":
        if value:
            return [flag]
        return ["--no-" + flag.lstrip("-")] if boolean == "no_switch" else []
    if isinstance(value, (list, tuple)):
        lists = calling.list_form(key)
        if lists == "words":
            # A parser that takes several takes a single one behind `=` too, whatever it begins with.
            is_joined = len(value) == 1 and text_of(value[0]).startswith("-")
            return _one(flag, value[0], calling) if is_joined else [flag, *(word_of(item, calling) for item in value)]
        if lists == "comma":
            return _one(flag, ",".join(map(text_of, value)), calling)
        return [word for item in value for word in _one(flag, item, calling)]
    return _one(flag, value, calling)


def _one(flag: str, value: Any, calling: Calling) -> list[str]:
    # What follows `=` is a value, whatever it begins with; a short option has no such form.
    return [flag, word_of(value, calling)] if calling.style == "two_words" or not flag.startswith("--") else [f"{flag}={text_of(value)}"]


def _pairs(name: str, value: Any, lists: str) -> list[str]:
    if isinstance(value, dict):
        return [word for key, inner in value.items() for word in _pairs(f"{name}.{key}", inner, lists)]
    if isinstance(value, (list, tuple)):
        texts = [hydra_value(item) for item in value]
        if lists == "repeated":
            return [f"{name}={text}" for text in texts]
        return [f"{name}=[{','.join(texts)}]" if lists == "words" else f"{name}={','.join(texts)}"]
    return [f"{name}={hydra_value(value)}"]
