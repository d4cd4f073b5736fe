"""Keys that a trial may be without (null, not active, of other trials): what goes with them in a text is clear, or refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from definitions.command import OWN_PREFIX, Calling
from definitions.errors import UserError
from definitions.schema import BenchmarkDefinition
from definitions.template import Placeholder, Template, parse_template

_GOES_WITH = re.compile(r"\S*=|-\w")
"""Text before a placeholder at the end of a word, which says what its value is: `--lr=`, `optim.lr=`, `-l`."""


def is_left_out(template: Template) -> bool:
    """Return whether a word goes as a whole where the key that it names has no value: `${lr}`, `--lr=${lr}`, `-l${lr}`.

    A longer text, as `sh -c` has it, says more than the key, which must not be lost with it.
    """
    *before, last = template
    if not isinstance(last, Placeholder):
        return False
    return not before or (len(before) == 1 and isinstance(before[0], str) and _GOES_WITH.fullmatch(before[0]) is not None)


def has_own_flag(before: str, key: str, rename: Mapping[str, str]) -> bool:
    """Return whether the word before a key's own is its flag, and goes with it: `--batch-size` before `${batch_size}`.

    Args:
        before: the word, without placeholders.
        key: whose placeholder is the whole of the next word.
        rename: what the script calls keys.
    """
    names = {key, rename.get(key, key), key.split(".")[-1]}
    return before.startswith("-") and _bare(before) in {_bare(name) for name in names}


def _bare(name: str) -> str:
    return name.lstrip("-").replace("-", "_").lower()


def check_absent_keys(definition: BenchmarkDefinition) -> None:
    """Raise `UserError` where a text names a key that a trial may be without, and would say something else or nothing then.

    Args:
        definition: resolved.
    """
    lacking = lacking_keys(definition)
    found = [*dict.fromkeys(_problems(definition.calling, lacking))] if lacking else []
    if found:
        raise UserError(
            f"{definition.name}: {'; '.join(found)}",
            "a word goes with a key only where it is the key's alone: ${key}, --flag=${key}, -f${key}, or --key before ${key}",
            "say what stands in its place, ${key:-TEXT} (${key:-} for nothing), or leave the key to ${arguments}",
        )


def lacking_keys(definition: BenchmarkDefinition) -> Mapping[str, str]:
    """Return the keys that a trial may be without, ours with their prefix, each with the reason."""
    found = {key: "is null" for key, value in definition.arguments.items() if value is None}
    trials = definition.explicit_configurations
    for key in definition.configuration_keys if trials else ():
        if any(key not in trial for trial in trials):
            found[key] = "is not in every trial"
        elif any(trial[key] is None for trial in trials):
            found[key] = "may be null"
    for key, domain in definition.search_space.domains.items() if definition.space else ():
        text = definition.search_space.conditions.text(key)
        if text is not None:
            found[key] = f"is there only when {text}"
        elif None in getattr(domain, "values", ()) or getattr(domain, "value", "") is None:
            found[key] = "may be null"
    given = {*definition.arguments, *definition.configuration_keys}
    found = {key if key not in definition.own_keys else OWN_PREFIX + key: why for key, why in found.items()}
    found |= {OWN_PREFIX + key: "is given nowhere" for key in definition.own_keys if key not in given}
    return found if definition.fidelity is not None else {**found, f"{OWN_PREFIX}level": "has no value without `fidelity`"}


def _problems(calling: Calling, lacking: Mapping[str, str]) -> Iterator[str]:
    commands: Mapping[str, Sequence[str]] = {"command": calling.command or (), **calling.others}
    for name, words in commands.items():
        templates = [parse_template(word) for word in words]
        for place, (word, template) in enumerate(zip(words, templates, strict=True)):
            for key in _open(template, calling, lacking):
                before = words[place - 1] if place else ""
                if not is_left_out(template):
                    yield f"{name}: {_shown(word)} names {key}, which {lacking[key]}"
                elif len(template) == 1 and _is_told_before(before, key) and not has_own_flag(before, key, calling.rename):
                    yield f"{name}: {before} would stay alone before {word}, which {lacking[key]}"
    for text in calling.paths:
        yield from (f"read: {text} names {key}, which {lacking[key]}" for key in _open(parse_template(text), calling, lacking))
    for name, text in calling.environment.items():
        template = parse_template(text)
        if len(template) > 1:
            yield from (f"environment.{name}: {text} names {key}, which {lacking[key]}" for key in _open(template, calling, lacking))


def _open(template: Template, calling: Calling, lacking: Mapping[str, str]) -> list[str]:
    """Return the keys of a text that may have no value, and of which it does not say what stands in their place."""
    parts = [part for part in template if isinstance(part, Placeholder) and part.otherwise is None]
    # Of two that are called alike the script's own is meant.
    ours = {part.name: OWN_PREFIX + part.name.removeprefix(OWN_PREFIX) for part in parts if part.name not in calling.keys}
    return [name for part in parts if (name := ours.get(part.name, part.name)) in lacking]


def _is_told_before(before: str, key: str) -> bool:
    """Return whether a word seems to announce the next one: an option, or the very name of the key."""
    is_option = before.startswith("-") and len(before.lstrip("-")) > 0 and "=" not in before and "${" not in before
    return is_option or _bare(before) == _bare(key)


def _shown(word: str, most: int = 60) -> str:
    return repr(word if len(word) <= most else word[: most - 3] + "...")
