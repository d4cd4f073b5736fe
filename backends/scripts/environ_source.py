"""Reads Python scripts that take their values from variables: `os.environ["LR"]`, `os.getenv("LR", "0.1")`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from backends.scripts.interface import Interface, Kind, ScriptArgument
from backends.scripts.literals import UNKNOWN, ScriptSource, dotted_name, kind_of_value
from backends.scripts.shell_source import is_usual_variable
from definitions.yaml_source import parse_scalar

_KINDS: dict[str, Kind] = {"float": "number", "int": "whole"}
_ENVIRONS = ("os.environ", "environ")
_GETTERS = ("os.environ.get", "environ.get", "os.getenv", "getenv", "os.environ.setdefault")


def read_environ(source: ScriptSource, *, is_complete: bool) -> Interface | None:
    """Return the variables that a script reads, but for those that a system sets; None where it reads none.

    Args:
        source: of the script.
        is_complete: whether it takes no words, too, that could not be read.
    """
    found: dict[str, ScriptArgument] = {}
    optional: dict[str, Any] = {}
    for tree in source.trees:
        for node in ast.walk(tree):
            # The whole expression, which may tell the other value, is walked before the question in it.
            optional = {**_guarded(node, source), **optional}
            kind: Kind | None = None
            if isinstance(node, ast.Call) and len(node.args) == 1 and dotted_name(node.func) in _KINDS:
                # What a variable is made of tells what it is; walked before what is in it.
                kind, node = _KINDS[dotted_name(node.func)], node.args[0]
            for argument in _variable(node, kind, source):
                found.setdefault(argument.name, argument)
    arguments = tuple(_as_guarded(one, optional) for one in found.values())
    return Interface("os.environ", arguments, style="two_words", is_complete=is_complete) if found else None


def _as_guarded(argument: ScriptArgument, optional: Mapping[str, Any]) -> ScriptArgument:
    name = argument.flag[1:]
    if name not in optional or argument.default is not None:
        return argument
    default = None if optional[name] is UNKNOWN else optional[name]
    kind = kind_of_value(default) if argument.kind == "text" else argument.kind
    return replace(argument, is_required=False, default=default, kind=kind)


def _guarded(node: ast.AST, source: ScriptSource) -> Mapping[str, Any]:
    """Return the variables that need not be there by what an expression or statement asks or catches, each with the value without it."""
    match node:
        case ast.IfExp(test=test, body=body, orelse=orelse):
            names = _asked(test, source)
            is_absent = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn)
            return dict.fromkeys(names, source.value(body if is_absent else orelse))
        case ast.Compare():
            return dict.fromkeys(_asked(node, source), UNKNOWN)
        case ast.Try(handlers=[ast.ExceptHandler(body=caught), *_]):
            names = [name for line in node.body for name in _subscripts(line, source)]
            values = [line.value for line in caught if isinstance(line, ast.Assign)]
            return dict.fromkeys(names, source.value(values[0]) if len(values) == 1 and len(names) == 1 else UNKNOWN)
    return {}


def _asked(test: ast.AST, source: ScriptSource) -> list[str]:
    """Return the variables whose presence a condition asks for: `"LR" in os.environ`, `not in` too."""
    asked = (node for node in ast.walk(test) if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)))
    names = (source.value(node.left) for node in asked if dotted_name(node.comparators[0]) in _ENVIRONS)
    return [name for name in names if isinstance(name, str)]


def _subscripts(line: ast.AST, source: ScriptSource) -> list[str]:
    nodes = [node for node in ast.walk(line) if isinstance(node, ast.Subscript) and dotted_name(node.value) in _ENVIRONS]
    return [name for node in nodes if isinstance(name := source.value(node.slice), str)]


def _variable(node: ast.AST, kind: Kind | None, source: ScriptSource) -> Iterator[ScriptArgument]:
    """Yield the variable that an expression reads; none where it reads none, or one of the system's."""
    default, otherwise = None, None
    match node:
        case ast.BoolOp(op=ast.Or(), values=[first, second]):  # `os.environ.get("LR") or 0.1`
            node, otherwise = first, source.value(second)
    if isinstance(node, ast.Subscript) and dotted_name(node.value) in _ENVIRONS and isinstance(node.ctx, ast.Load):
        name, is_required = source.value(node.slice), True
    elif isinstance(node, ast.Call) and dotted_name(node.func) in _GETTERS and node.args:
        name, is_required = source.value(node.args[0]), False
        given = source.value(node.args[1]) if len(node.args) > 1 else None
        given = otherwise if given in (None, "", UNKNOWN) else given
        default = None if given is UNKNOWN or given in (None, "") else parse_scalar(given) if isinstance(given, str) else given
    else:
        return
    if isinstance(name, str) and name.isidentifier() and not is_usual_variable(name):
        yield ScriptArgument(name.lower(), (f"${name}",), kind or kind_of_value(default), default, is_required=is_required)
