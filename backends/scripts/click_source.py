"""Reads commands of click in a script's source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from backends.scripts.interface import Interface, Kind, ScriptArgument
from backends.scripts.literals import UNKNOWN, ScriptSource, dotted_name, keywords, kind_of_value

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_TYPES: dict[str, Kind] = {
    "float": "number", "FloatRange": "number", "FLOAT": "number", "int": "whole", "IntRange": "whole", "INT": "whole", "bool": "boolean",
    "BOOL": "boolean", "str": "text", "STRING": "text", "Path": "path", "File": "path",
}  # fmt: skip


def read_click(source: ScriptSource) -> Interface | None:
    """Return the options and arguments of a script's click commands; None where it has none."""
    if not source.imports("click", "rich_click"):
        return None
    alone: list[tuple[ScriptArgument, ...]] = []
    groups: list[tuple[ScriptArgument, ...]] = []
    commands: dict[str, tuple[ScriptArgument, ...]] = {}
    complete = True
    for tree in source.trees:
        for function in ast.walk(tree):
            if not isinstance(function, _Function):
                continue
            role, name = _role(function, source)
            if not role:
                continue
            read = [*_arguments(function, source)]
            complete = complete and None not in read
            arguments = tuple(one for one in read if one is not None)
            if role == "group":
                groups.append(arguments)
            elif role == "command":
                alone.append(arguments)
            else:
                commands[name] = arguments
    if not (alone or commands):
        return None
    main = groups[0] if groups and commands else () if commands else alone[0]
    return Interface("click", main, commands, is_complete=complete)


def _role(function: _Function, source: ScriptSource) -> tuple[str, str]:
    """Return what a function is: `command` of its own, `group`, `sub` of a group; empty for none; and the sub-command's name."""
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        owner, _, what = dotted_name(decorator).rpartition(".")
        named = source.value(call.args[0]) if call is not None and call.args else source.value(keywords(call).get("name")) if call else None
        name = named if isinstance(named, str) else function.name.replace("_", "-")
        is_click = owner in ("click", "rich_click", "")
        if what == "group":
            return "group", name
        if what == "command":
            return ("command" if is_click else "sub"), name
    return "", ""


def _arguments(function: _Function, source: ScriptSource) -> Iterator[ScriptArgument | None]:
    """Yield what the decorators of a command declare, in their order; None for what cannot be read."""
    for decorator in function.decorator_list:
        what = dotted_name(decorator).split(".")[-1]
        if isinstance(decorator, ast.Call) and what in ("option", "argument"):
            yield _declared(decorator, source, is_option=what == "option")


def _declared(call: ast.Call, source: ScriptSource, *, is_option: bool) -> ScriptArgument | None:
    texts = [source.value(one) for one in call.args]
    if not texts or not all(isinstance(text, str) for text in texts):
        return None
    given = keywords(call)
    value = source.value(given.get("default"))
    default = None if value is UNKNOWN else value
    help_text = source.value(given.get("help"))
    required = source.value(given.get("required")) is True
    names = [text for text in texts if not text.startswith("-")]
    if not is_option:
        required = default is None and source.value(given.get("required")) is not False and source.value(given.get("nargs")) != -1
        kind, choices = _type(given.get("type"), default, source)
        return ScriptArgument(texts[0].lower().replace("-", "_"), (), kind, default, choices, required)
    yes = [text.split("/")[0].strip() for text in texts if text.startswith("-")]
    no = [text.split("/")[1].strip() for text in texts if text.startswith("-") and "/" in text]
    flags = tuple(sorted(yes, key=lambda flag: not flag.startswith("--")))
    name = names[0] if names else flags[0].lstrip("-").replace("-", "_")
    kind, choices = _type(given.get("type"), default, source)
    is_flag = source.value(given.get("is_flag")) is True or bool(no) or source.value(given.get("count")) is True
    several = source.value(given.get("multiple")) is True
    count = source.value(given.get("nargs"))
    return ScriptArgument(
        name.lower(),
        flags,
        "switch" if is_flag else kind,
        bool(default) if is_flag else default,
        () if is_flag else choices,
        required and not is_flag,
        "repeated" if several else "words" if isinstance(count, int) and count > 1 else "",
        no[0] if no else "",
        help_text if isinstance(help_text, str) else "",
    )


def _type(node: ast.expr | None, default: Any, source: ScriptSource) -> tuple[Kind, tuple[Any, ...]]:
    name = dotted_name(node).split(".")[-1]
    if name == "Choice" and isinstance(node, ast.Call) and node.args:
        values = source.value(node.args[0])
        if isinstance(values, (list, dict)):
            return "text", tuple(values)
    if name in _TYPES:
        return _TYPES[name], ()
    return kind_of_value(default), ()
