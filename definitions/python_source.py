"""Definitions written in Python: mappings, and keys laid over a file, checked and told of as files are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from definitions.draft import PYTHON
from definitions.errors import UserError
from definitions.yaml_source import KeyPath, Source, SourceLocation


@dataclass(frozen=True)
class PythonSource(Source):
    """What a mapping says, or a file with keys from Python over its own.

    Args:
        said: the top-level keys that Python gave.
        folder: what relative paths in them are relative to.
        from_file: whether the others are of a file.
    """

    said: frozenset[str] = frozenset()
    folder: Path = Path()
    from_file: bool = False

    @property
    def about(self) -> str:
        """What it is called in messages."""
        return super().about if self.from_file else "the mapping"

    def file_of(self, path: KeyPath) -> Path:
        """Return the file that a part comes from; for what Python gave, one that would stand in the folder."""
        inner = super().file_of(path)
        return inner if inner != self.path or self._is_of_file(path) else self.folder / "definition.yaml"

    def place(self, path: KeyPath) -> SourceLocation:
        """Return where a key is written; what Python gave has no lines."""
        return super().place(path) if self._is_of_file(path) or self.file_of(path) in self.included.values() else PYTHON

    def _is_of_file(self, path: KeyPath) -> bool:
        return self.from_file and not (path and path[0] in self.said)


def python_source(data: Mapping[str, Any], folder: Path) -> Source:
    """Return a mapping as a source.

    Args:
        data: keys of a definition; values as Python has them, numpy's and Syne Tune's domains included.
        folder: what relative paths in it are relative to.

    Raises:
        UserError: a key that is no text, or a value that has no form in a definition.
    """
    return PythonSource(_plain_definition(data), {}, folder / "definition.yaml", said=frozenset(data), folder=folder)


def laid_over(source: Source, data: Mapping[str, Any], folder: Path) -> Source:
    """Return a source with keys from Python in place of its own; raises `UserError` as `python_source` does."""
    merged = {**source.data, **_plain_definition(data)}
    return PythonSource(merged, source.positions, source.path, source.included, said=frozenset(data), folder=folder, from_file=True)


def _plain_definition(data: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _plain(data, ())
    return found


def _plain(value: Any, path: KeyPath) -> Any:
    """Return a value as YAML would give it."""
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise UserError(f"{PYTHON.text}: {'.'.join(map(str, path))}: the key {key!r} is not text", "keys are text")
        return {str(key): _plain(one, (*path, key)) for key, one in value.items()}
    if isinstance(value, PurePath):
        return str(value)
    if len(path) == 2 and path[0] == "space" and type(value).__module__.startswith("syne_tune."):
        from definitions.syne_tune_space import from_syne_tune

        return from_syne_tune({str(path[1]): value}).spec()[str(path[1])]
    if hasattr(value, "tolist"):  # numpy's scalars and arrays
        return _plain(value.tolist(), path)
    if isinstance(value, (list, tuple, range)):
        return [_plain(one, (*path, number)) for number, one in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        raise UserError(f"{PYTHON.text}: {'.'.join(map(str, path))}: {value!r} has no order", "", "give a list")
    return value
