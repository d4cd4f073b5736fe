"""Reads Python scripts that take their values from variables: `os.environ["LR"]`, `os.getenv("LR", "0.1")`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from backends.scripts.interface import Interface, Kind, ScriptArgument
from backends.scripts.literals import UNKNOWN, ScriptSource, dotted_name, kind_of_value
from backends.scripts.shell_source import is_usual_variable
from definitions.yaml_source import parse_scalar

_KINDS: dict[str, Kind] = {"float": "number", "int": "whole"}
_GETTERS = ("os.environ.get", "environ.get", "os.getenv", "getenv", "os.environ.setdefault")


def read_environ(source: ScriptSource, *, is_complete: bool) -> Interface | None:
    """Return the variables that a script reads, but for those that a system sets; None where it reads none.

    Args:
        source: of the script.
        is_complete: whether it takes no words, too, that could not be read.
    """
    found: dict[str, ScriptArgument] = {}
    for tree in source.trees:
        for node in ast.walk(tree):
            kind: Kind | None = None
            if isinstance(node, ast.Call) and len(node.args) == 1 and dotted_name(node.func) in _KINDS:
                # What a variable is made of tells what it is; walked before what is in it.
                kind, node = _KINDS[dotted_name(node.func)], node.args[0]
            for argument in _variable(node, kind, source):
                found.setdefault(argument.name, argument)
    return Interface("os.environ", tuple(found.values()), style="two_words", is_complete=is_complete) if found else None


def _variable(node: ast.AST, kind: Kind | None, source: ScriptSource) -> Iterator[ScriptArgument]:
    """Yield the variable that an expression reads; none where it reads none, or one of the system's."""
    default = None
    if isinstance(node, ast.Subscript) and dotted_name(node.value) in ("os.environ", "environ") and isinstance(node.ctx, ast.Load):
        name, is_required = source.value(node.slice), True
    elif isinstance(node, ast.Call) and dotted_name(node.func) in _GETTERS and node.args:
        name, is_required = source.value(node.args[0]), False
        given = source.value(node.args[1]) if len(node.args) > 1 else None
        default = None if given is UNKNOWN or given in (None, "") else parse_scalar(given) if isinstance(given, str) else given
    else:
        return
    if isinstance(name, str) and name.isidentifier() and not is_usual_variable(name):
        yield ScriptArgument(name.lower(), (f"${name}",), kind or kind_of_value(default), default, is_required=is_required)
