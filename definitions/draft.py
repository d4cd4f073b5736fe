"""A definition under construction: nested data and, for each part, where it came from."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from definitions.yaml_source import KeyPath, SourceLocation

DEFAULT = SourceLocation("the default", "default")
PYTHON = SourceLocation("python", "python")
SPACES = ("space",)
"""Mappings whose values are each one unit, a domain, however they are written."""


class Draft:
    """Nested dictionaries that know the origin of every part.

    Args:
        data: the lowest layer; copied.
        place: says where each of its keys was written.
    """

    def __init__(self, data: Mapping[str, Any], place: Callable[[KeyPath], SourceLocation]) -> None:
        self.data: dict[str, Any] = {}
        self._root = place(())
        self._places: dict[KeyPath, SourceLocation] = {}
        self.merge((), data, place)

    def get(self, path: KeyPath) -> Any:
        """Return the part at a path, None where there is none."""
        node: Any = self.data
        for step in path:
            node = child(node, step)
        return node

    def put(self, path: KeyPath, value: Any, place: Callable[[KeyPath], SourceLocation]) -> None:
        """Replace the part at a path (of mapping keys), whatever it was, and make the mappings that lead to it."""
        self._places = {known: where for known, where in self._places.items() if known[: len(path)] != path}
        node: Any = self.data
        for length, step in enumerate(path[:-1], 1):
            if not isinstance(node.get(step), dict):
                node[step] = {}
                self._places[path[:length]] = place(path[:length])
            node = node[step]
        node[path[-1]] = copy.deepcopy(value)
        for inner in _nodes(value, path):
            self._places[inner] = place(inner)

    def merge(self, path: KeyPath, layer: Mapping[str, Any], place: Callable[[KeyPath], SourceLocation]) -> None:
        """Lay a mapping over the one at a path: mappings merge key by key, all else, and each domain of a space, is replaced."""
        for key, value in layer.items():
            inner = (*path, key)
            if isinstance(value, Mapping) and isinstance(self.get(inner), dict) and path != SPACES:
                self.merge(inner, value, place)
            else:
                self.put(inner, dict(value) if isinstance(value, Mapping) else value, place)

    def remove(self, path: KeyPath) -> None:
        """Remove a key; one that is not there is ignored."""
        parent = self.get(path[:-1])
        if isinstance(parent, dict):
            parent.pop(path[-1], None)
        self._places = {known: where for known, where in self._places.items() if known[: len(path)] != path}

    def place(self, path: KeyPath) -> SourceLocation:
        """Return where a part was written; for one that was not, the place of the nearest part around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._places:
                return self._places[path[:length]]
        return self._root

    def origin(self, path: KeyPath) -> str:
        """Return the origin of a value of the finished definition; `default` where no layer gave it."""
        if path[:1] == ("methods",) and path[2:3] == ("arguments",) and path not in self._places:
            # A variant's arguments may stand beside its base: {base: ASHA, brackets: 3}.
            path = (*path[:2], *path[3:])
        for length in range(len(path), 0, -1):
            head = path[:length]
            if head in self._places:
                whole = length == len(path) or not isinstance(self.get(head), dict)
                return self._places[head].origin if whole else DEFAULT.origin
        return DEFAULT.origin


def units(data: Mapping[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the parts of a definition that have an origin each: scalars, lists, domains, single trials, empty mappings."""
    for key, value in data.items():
        inner = (*path, key)
        if inner == ("trials",) and value:
            yield from (((*inner, number), trial) for number, trial in enumerate(value))
        elif isinstance(value, Mapping) and value and path != SPACES:
            yield from units(value, inner)
        else:
            yield inner, value


def child(node: Any, step: str | int) -> Any:
    """Return one part of a mapping or list, None where there is none."""
    if isinstance(node, Mapping):
        return node.get(step)
    return node[step] if isinstance(node, (list, tuple)) and isinstance(step, int) and step < len(node) else None


def _nodes(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    yield path
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _nodes(item, (*path, key))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from _nodes(item, (*path, number))
