"""Reads scripts that take their words from `sys.argv` themselves: by their places, or as `key=value`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from backends.scripts.interface import Interface, Kind, ScriptArgument
from backends.scripts.literals import UNKNOWN, ScriptSource, dotted_name, kind_of_value

_KINDS: dict[str, Kind] = {"float": "number", "int": "whole", "str": "text", "Path": "path", "bool": "text", "open": "path"}


def read_argv(source: ScriptSource) -> Interface | None:
    """Return the places of `sys.argv` that a script reads, named by the variables that they go into; None where it reads none."""
    found: dict[int, ScriptArgument] = {}
    for tree in source.trees:
        for node in ast.walk(tree):
            for name, value in _assignments(node):
                for place, argument in _places(name, value, source):
                    found.setdefault(place, argument)
    for tree in source.trees:
        for node in ast.walk(tree):
            number = _place(node)
            if number is not None:
                found.setdefault(number, ScriptArgument(f"argument_{number}", is_required=True))
    if found:
        return Interface("sys.argv", tuple(argument for _, argument in sorted(found.items())))
    flags = tuple(_flags(source))
    if flags:
        return Interface("sys.argv", flags, style="two_words")
    splits = {name: value for tree in source.trees for node in ast.walk(tree) for name, value in _assignments(node) if _is_split(value)}
    pairs = tuple(_pairs(source, set(splits)))
    if pairs and any(_takes_hyphens_off(value) for value in splits.values()):
        return Interface("sys.argv", tuple(replace(one, flags=(f"--{one.name}",)) for one in pairs))
    return Interface("sys.argv", pairs, style="key=value") if pairs else None


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        yield node.targets[0].id, node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        yield node.target.id, node.value
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
        names = [one.id if isinstance(one, ast.Name) else "" for one in node.targets[0].elts]
        if isinstance(node.value, ast.Tuple):
            yield from zip(names, node.value.elts, strict=False)
        elif _is_argv_slice(node.value):
            for place, name in enumerate(names, 1):
                index = ast.Subscript(ast.Attribute(ast.Name("sys"), "argv"), ast.Constant(place))
                yield name, index


def _is_argv_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and dotted_name(node) in ("sys.argv", "argv") and isinstance(node.slice, ast.Slice)


def _places(name: str, value: ast.expr, source: ScriptSource) -> Iterator[tuple[int, ScriptArgument]]:
    """Yield the one place that an expression is about: `float(sys.argv[1])`, `int(sys.argv[2]) if len(sys.argv) > 2 else 32`."""
    default: Any = UNKNOWN
    inner = value
    if isinstance(value, ast.IfExp):
        inner, default = value.body, source.value(value.orelse)
    places = [place for node in ast.walk(inner) if (place := _place(node)) is not None]
    if len(places) != 1 or not name:
        return
    kind = _KINDS.get(dotted_name(inner.func).split(".")[-1]) if isinstance(inner, ast.Call) else None
    plain = None if default is UNKNOWN else default
    yield places[0], ScriptArgument(name, (), kind or kind_of_value(plain), plain, is_required=default is UNKNOWN)


def _place(node: ast.AST) -> int | None:
    if not (isinstance(node, ast.Subscript) and dotted_name(node) in ("sys.argv", "argv")):
        return None
    index = node.slice.value if isinstance(node.slice, ast.Constant) else None
    return index if isinstance(index, int) and index > 0 else None


def _flags(source: ScriptSource) -> Iterator[ScriptArgument]:
    """Yield flags that a script looks for among its words itself: `sys.argv[sys.argv.index("--config") + 1]`, `"--fast" in sys.argv`."""
    seen: dict[str, ScriptArgument] = {}
    for tree in source.trees:
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=inner, attr="index"), args=[word]) if dotted_name(inner) in ("sys.argv", "argv"):
                    flag, kind = source.value(word), "text"
                case ast.Compare(left=word, ops=[ast.In()], comparators=[inner]) if dotted_name(inner) in ("sys.argv", "argv"):
                    flag, kind = source.value(word), "switch"
                case _:
                    continue
            if isinstance(flag, str) and flag.startswith("-") and not (flag in seen and kind == "switch"):
                name = flag.lstrip("-").replace("-", "_")
                # Where it is first asked whether the flag is there, it may be left out.
                is_required = kind == "text" and flag not in seen
                seen[flag] = ScriptArgument(
                    name, (flag,), "switch" if kind == "switch" else "text", False if kind == "switch" else None, is_required=is_required
                )
    yield from seen.values()


def _pairs(source: ScriptSource, names: set[str]) -> Iterator[ScriptArgument]:
    """Yield the keys of mappings that are made of words split at `=`, by their names: `given["lr"]`, `given.get("lr", 0.1)`."""
    seen: set[str] = set()
    for tree in source.trees:
        for node in ast.walk(tree):
            found = _key(node, names, source)
            if found is not None and found.name not in seen:
                seen.add(found.name)
                yield found


def _is_split(value: ast.expr) -> bool:
    text = ast.dump(value)
    return "'argv'" in text and "'split'" in text and "'='" in text


def _takes_hyphens_off(value: ast.expr) -> bool:
    """Return whether words lose their hyphens before they are split: `word.lstrip("-")`, `word.removeprefix("--")`, `word[2:]`."""
    for node in ast.walk(value):
        match node:
            case ast.Call(func=ast.Attribute(attr="removeprefix" | "lstrip" | "strip"), args=[ast.Constant(value="-" | "--")]):
                return True
            case ast.Subscript(slice=ast.Slice(lower=ast.Constant(value=2), upper=None)) if not _is_argv_slice(node):
                return True
    return False


def _key(node: ast.AST, names: set[str], source: ScriptSource) -> ScriptArgument | None:
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in names:
        key, default = source.value(node.slice), None
        required = True
    elif isinstance(node, ast.Call) and dotted_name(node.func) in {f"{name}.get" for name in names} and node.args:
        key = source.value(node.args[0])
        default = source.value(node.args[1]) if len(node.args) > 1 else None
        required = False
    else:
        return None
    if not isinstance(key, str):
        return None
    plain = None if default is UNKNOWN else default
    return ScriptArgument(key, (key,), kind_of_value(plain), plain, is_required=required)
