"""What a command line asks for: which trainable, with which `config`. Pure but for the file of arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class TrialCall:
    """What is asked for: a file or module, what of it (None: the script as it is), its `config`, and how often a class is checkpointed."""

    source: str
    name: str | None
    config: dict[str, Any]
    checkpoint_frequency: int = 1


def parse_call(words: Sequence[str]) -> TrialCall:
    """Return what a command line asks for.

    Raises:
        ValueError: it cannot be understood; the text says why.
    """
    left, frequency = [*words], 1
    if left and left[0].startswith("--checkpoint_frequency="):
        frequency = int(left.pop(0).partition("=")[2])
    if not left or left[0].startswith("-"):
        raise ValueError("first comes the file or the module of the trainable")
    source = left.pop(0)
    name = left.pop(0) if left and not left[0].startswith("-") and not left[0].endswith(".json") else None
    return TrialCall(source, name, _config(left), frequency)


def _config(words: Sequence[str]) -> dict[str, Any]:
    if len(words) == 1 and words[0].endswith(".json"):
        found = json.loads(Path(words[0]).read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError(f"{words[0]} holds no mapping")
        return found
    found = {}
    for word in words:
        key, equals, text = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not equals:
            raise ValueError(f"{word!r}: arguments are --key=value, or one file that ends in .json")
        *outer, last = key.split(".")
        place = found
        for part in outer:
            place = place.setdefault(part, {})
        place[last] = _value(text)
    return found


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def flattened(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield metrics with those of mappings within mappings, whose names are joined by a slash as Ray joins them."""
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def merged(space: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a `param_space` with the values of this trial, which are laid over it."""
    found = dict(space)
    for key, value in config.items():
        below = found.get(key)
        found[key] = merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return found


def undecided(space: Mapping[str, Any], is_domain: Callable[[Any], bool], prefix: str = "") -> list[str]:
    """Return the names of what a `param_space` still leaves to a search."""
    found: list[str] = []
    for key, value in space.items():
        if is_domain(value) or (isinstance(value, Mapping) and [*value] == ["grid_search"]):
            found.append(f"{prefix}{key}")
        elif isinstance(value, Mapping):
            found += undecided(value, is_domain, f"{prefix}{key}.")
    return found
