"""Which benchmarks there are: built-in ones, those of plugins (entry points `outrider.benchmarks`), and files by path."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from definitions.errors import UserError, nearest
from definitions.plugins import installed
from definitions.schema import BenchmarkDefinition
from definitions.yaml_source import Source, read_yaml

GROUP = "outrider.benchmarks"
BUILT_IN = "built-in"
_SUFFIXES = (".yaml", ".yml")
_log = logging.getLogger(__name__)


class ListedBenchmark(NamedTuple):
    """One line of the list of benchmarks: name, one-line summary, and `built-in` or the distribution it comes from."""

    name: str
    summary: str
    origin: str


@dataclass(frozen=True)
class _Entry:
    name: str
    found: Source | BenchmarkDefinition
    origin: str

    @property
    def summary(self) -> str:
        text = self.found.description if isinstance(self.found, BenchmarkDefinition) else self.found.data.get("description")
        return str(text or "").strip().partition("\n")[0].rstrip()

    @property
    def where(self) -> str:
        return self.origin if isinstance(self.found, BenchmarkDefinition) else f"{self.origin}: {self.found.path}"


def built_in(name: str) -> Source | None:
    """Return what the file of a benchmark says that comes with Outrider; None where none of them has this name."""
    path = Path(__file__).with_name("builtin") / f"{name}.yaml"
    return read_yaml(path) if path.is_file() else None


class Registry:
    """All benchmarks by name; reads them when first asked.

    Args:
        folder: of the built-in YAML files; the package's own where None.
        entry_points: of the plugins; those installed where None. Each loads to the path of a YAML file, a `BenchmarkDefinition`,
            or a callable without arguments that returns one of these.
    """

    def __init__(self, folder: Path | None = None, entry_points: Iterable[metadata.EntryPoint] | None = None) -> None:
        self._folder = folder if folder is not None else Path(__file__).with_name("builtin")
        self._entry_points = entry_points
        self._loaded: dict[str, _Entry] | None = None

    def find(self, name_or_path: str, folder: Path = Path()) -> Source | BenchmarkDefinition:
        """Return the benchmark of this name, or what the file says where a path (`*.yaml`, `*.yml`, or with a separator) is given.

        Args:
            name_or_path: which one.
            folder: that paths are relative to.

        Raises:
            UserError: there is no such benchmark, the file cannot be read, or two benchmarks share a name.
        """
        if _is_path(name_or_path):
            return _read(folder / Path(name_or_path).expanduser())
        entries = self._entries()
        if name_or_path in entries:
            return entries[name_or_path].found
        raise _unknown(name_or_path, self.names())

    def names(self) -> list[ListedBenchmark]:
        """Return all named benchmarks, built-in ones first, each group by name."""
        entries = sorted(self._entries().values(), key=lambda entry: (entry.origin != BUILT_IN, entry.origin, entry.name))
        return [ListedBenchmark(entry.name, entry.summary, entry.origin) for entry in entries]

    def _entries(self) -> dict[str, _Entry]:
        if self._loaded is None:
            loaded: dict[str, _Entry] = {}
            for entry in [*self._built_in(), *self._plugins()]:
                if entry.name in loaded:
                    raise UserError(
                        f"there are two benchmarks named {entry.name!r}",
                        f"{loaded[entry.name].where}; and {entry.where}",
                        "rename one, or uninstall the plugin",
                    )
                loaded[entry.name] = entry
            self._loaded = loaded
        return self._loaded

    def _built_in(self) -> list[_Entry]:
        files = sorted(path for path in self._folder.iterdir() if path.suffix in _SUFFIXES) if self._folder.is_dir() else []
        return [_entry(read_yaml(path), BUILT_IN) for path in files]

    def _plugins(self) -> list[_Entry]:
        found = self._entry_points if self._entry_points is not None else installed(GROUP)
        entries = []
        for entry_point in found:
            distribution = entry_point.dist.name if entry_point.dist is not None else entry_point.value
            try:
                entries.append(_entry(_loaded(entry_point.load()), distribution))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever is wrong with a plugin, the others must go on
                _log.warning("benchmark %r of %s is left out: %s: %s", entry_point.name, distribution, type(error).__name__, error)
        return entries


def listing(listed: Sequence[ListedBenchmark]) -> str:
    """Return the benchmarks as lines of a message, each with its summary."""
    width = max((len(one.name) for one in listed), default=0)
    lines = [f"{one.name:<{width}}  {one.summary}".rstrip() for one in listed]
    return "\n  ".join(["there are:", *(f"  {line}" for line in lines)]) if lines else "there are none"


def _is_path(text: str) -> bool:
    return text.endswith(_SUFFIXES) or "/" in text or os.sep in text


def _loaded(thing: Any) -> Source | BenchmarkDefinition:
    if callable(thing):
        thing = thing()
    if isinstance(thing, (str, Path)):
        return read_yaml(thing)
    if isinstance(thing, BenchmarkDefinition):
        return thing
    raise TypeError(f"expected the path of a YAML file or a BenchmarkDefinition, got {type(thing).__name__}")


def _entry(found: Source | BenchmarkDefinition, origin: str) -> _Entry:
    name = found.name if isinstance(found, BenchmarkDefinition) else found.data.get("name")
    if not isinstance(name, str) or not name:
        place = found.place(("name",)).text if isinstance(found, Source) else origin
        raise UserError(f"{place}: name: is missing" if name is None else f"{place}: name: needs text; {name!r} was given")
    return _Entry(name, found, origin)


def _unknown(name: str, listed: Sequence[ListedBenchmark]) -> UserError:
    near = nearest(name, [one.name for one in listed])
    beside = next((str(path) for path in map(Path, (name + suffix for suffix in _SUFFIXES)) if path.is_file()), "")
    if beside:
        advice = f"did you mean the file {beside}?"
    else:
        advice = f"did you mean {near!r}?" if near else "give one of these, or the path of a YAML file (FILE.yaml)"
    return UserError(f"there is no benchmark {name!r}", listing(listed), advice)


def _read(path: Path) -> Source:
    """Return what a file says; where there is none, the error names the file of a like name that is there."""
    if not path.exists() and path.parent.is_dir():
        near = nearest(path.name, sorted(one.name for one in path.parent.iterdir() if one.suffix in _SUFFIXES))
        if near:
            raise UserError(f"{path}: there is no such file", f"looked for {path.absolute()}", f"did you mean {path.with_name(near)}?")
    return read_yaml(path)
