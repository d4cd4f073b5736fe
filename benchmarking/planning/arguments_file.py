"""The file of a script's arguments: JSON, YAML or TOML. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from definitions.written import WrittenInt

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def document(values: Mapping[str, Any], style: str) -> str:
    """Return the text of a file of arguments.

    Args:
        values: by name; dots in names make mappings within mappings.
        style: `json`, `yaml` or `toml`, which has no null: what is null is left out there.
    """
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *above, last = name.split(".")
        node = nested
        for step in above:
            inner = node.setdefault(step, {})
            node = inner if isinstance(inner, dict) else node
        node[last] = _unwritten(value)
    if style == "json":
        return json.dumps(nested, indent=1, ensure_ascii=False) + "\n"
    if style == "toml":
        return "".join(f"{line}\n" for line in _table(nested, ()))
    import yaml

    text: str = yaml.safe_dump(nested, sort_keys=False, allow_unicode=True)
    return text


def _unwritten(value: Any) -> Any:
    """Return a value without how it was written: Python's YAML reads 1e3 as text."""
    if isinstance(value, dict):
        return {key: _unwritten(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unwritten(inner) for inner in value]
    return float(value) if isinstance(value, float) else int(value) if isinstance(value, WrittenInt) else value


def _table(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a table: first what is its own, as everything behind a heading belongs to that."""
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    if path:
        yield f"[{'.'.join(map(_key, path))}]"
    yield from (f"{_key(key)} = {_value(value)}" for key, value in table.items() if key not in inner and value is not None)
    for key, value in inner.items():
        yield from _table(value, (*path, key))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for the one letter that only TOML does not take as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_key(str(key))} = {_value(inner)}' for key, inner in value.items() if inner is not None)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_value(inner) for inner in value if inner is not None)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return json.dumps(value)
