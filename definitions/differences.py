"""In what two definitions of one benchmark differ, value by value. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from definitions import strict_json
from definitions.definition_hash import determining
from definitions.schema import BenchmarkDefinition

_MOST = 8
_LONGEST = 100
"""Characters of a value that are shown whole."""


def differences(earlier: BenchmarkDefinition, now: BenchmarkDefinition) -> list[str]:
    """Return which values that determine results are others now, e.g. `arguments.epochs: 4, now 1`; empty where none is.

    Args:
        earlier: as it was, resolved for a back-end.
        now: as it is, resolved for the same one.
    """
    before, after = (dict(_flat(determining(one), "")) for one in (earlier, now))
    names = [name for name in dict.fromkeys([*before, *after]) if before.get(name) != after.get(name)]
    lines = [f"{name}: {_shown(before.get(name))}, now {_shown(after.get(name))}" for name in names[:_MOST]]
    return [*lines, *([f"and {len(names) - _MOST} more"] if len(names) > _MOST else [])]


def _shown(text: str | None) -> str:
    if text is None:
        return "not given"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 30]} ... {text[-25:]}"


def _flat(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield each single value of nested mappings with its path; a list is one value."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else str(key))
    elif value is not None and value not in ({}, []):
        yield path, value if isinstance(value, str) else strict_json.dumps(value)
