"""Reads argparse parsers (and those that are used alike, as jsonargparse's) in a script's source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from backends.scripts.interface import Interface, Kind, ListForm, ScriptArgument
from backends.scripts.literals import UNKNOWN, ScriptSource, dotted_name, in_order, keywords, kind_of_value

MAIN = ""
"""Where arguments that belong to no sub-command are kept."""

_PARSERS = ("ArgumentParser", "ArgParser", "LightningArgumentParser", "FlexibleArgumentParser", "Tap")
_GROUPS = ("add_argument_group", "add_mutually_exclusive_group")
_TYPES: Mapping[str, Kind] = {"float": "number", "int": "whole", "str": "text", "Path": "path", "FileType": "path", "open": "path"}
_SKIPPED = ("help", "version")


@dataclass
class _Found:
    """What was found so far: arguments by the parser that they were added to."""

    owners: dict[str, str] = field(default_factory=dict)
    added: dict[str, list[ScriptArgument]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    complete: bool = True


def read_argparse(source: ScriptSource, form: str = "argparse") -> Interface | None:
    """Return the arguments that a script adds to a parser; None where it adds none.

    Args:
        source: of the script.
        form: what to call the parser's library.
    """
    calls = [node for tree in source.trees for node in in_order(tree) if isinstance(node, ast.Call)]
    if not any(isinstance(call.func, ast.Attribute) and call.func.attr in ("add_argument", "parse_args") for call in calls):
        return None
    if not any(dotted_name(call.func).split(".")[-1] in _PARSERS for call in calls):
        return None
    found = _Found()
    for _ in range(2):
        # A function that adds arguments to what it is given may stand above the calls that say what that is.
        found = _Found(owners=found.owners)
        for tree in source.trees:
            _read_scope(tree, found, source)
    arguments = tuple(replace(one, default=found.defaults.get(one.name, one.default)) for one in _of(MAIN, found))
    commands = {name: _of(name, found) for name in found.commands}
    lenient = any(isinstance(call.func, ast.Attribute) and call.func.attr == "parse_known_args" for call in calls)
    return Interface(form, arguments, commands, is_complete=found.complete, takes_anything=lenient)


def _of(owner: str, found: _Found) -> tuple[ScriptArgument, ...]:
    listed = [argument for parent in found.parents.get(owner, ()) for argument in found.added.get(parent, ())]
    listed += found.added.get(owner, ())
    return tuple({argument.name: argument for argument in listed}.values())


def _read_scope(scope: ast.AST, found: _Found, source: ScriptSource) -> None:
    """Read the statements of a module or a function, and of what is defined in it, in their order."""
    for node in _within(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for bound in _bound_parameters(node, found, source) or [{}]:
                found.owners.update(bound)
                _read_scope(node, found, source)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            owner = _made(node.value, found, source)
            if owner is not None:
                for target in node.targets:
                    found.owners[dotted_name(target)] = owner
                    _note_parents(node.value, owner, dotted_name(target), found)
        elif isinstance(node, ast.With):
            for item in node.items:
                if item.optional_vars is not None and (owner := _owner(item.context_expr, found, source)) is not None:
                    found.owners[dotted_name(item.optional_vars)] = owner
        if isinstance(node, ast.Call):
            _read_call(node, found, source)


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope in their order, functions but not what is in them."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _within(child)


def _bound_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, found: _Found, source: ScriptSource) -> list[dict[str, str]]:
    """Return which parsers a function is given, `def add_data(parser)`, for each place where it is called with one."""
    names = [one.arg for one in function.args.args]
    calls: list[dict[str, str]] = []
    for tree in source.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and dotted_name(node.func).split(".")[-1] == function.name:
                pairs = zip(names, node.args, strict=False)
                bound = {name: owner for name, given in pairs if (owner := found.owners.get(dotted_name(given))) is not None}
                if bound and bound not in calls:
                    calls.append(bound)
    return calls


def _made(call: ast.Call, found: _Found, source: ScriptSource) -> str | None:
    """Return which parser's arguments an object takes that a call makes; None where it is no parser."""
    name = dotted_name(call.func).split(".")[-1]
    if name in _PARSERS:
        return MAIN
    return _owner(call, found, source)


def _owner(node: ast.expr, found: _Found, source: ScriptSource) -> str | None:
    if isinstance(node, (ast.Name, ast.Attribute)) and dotted_name(node) in found.owners:
        return found.owners[dotted_name(node)]
    if not isinstance(node, ast.Call):
        return None
    if dotted_name(node.func).split(".")[-1] in _PARSERS:
        return MAIN
    if not isinstance(node.func, ast.Attribute):
        return None
    if node.func.attr in (*_GROUPS, "add_subparsers"):
        return _owner(node.func.value, found, source)
    if node.func.attr == "add_parser" and node.args:
        command = source.value(node.args[0])
        if not isinstance(command, str):
            found.complete = False
            return None
        if command not in found.commands:
            found.commands.append(command)
        _note_parents(node, command, "", found)
        return command
    return None


def _note_parents(call: ast.Call, owner: str, target: str, found: _Found) -> None:
    given = keywords(call).get("parents")
    if isinstance(given, (ast.List, ast.Tuple)):
        found.parents.setdefault(owner, []).extend(f"parent:{dotted_name(one)}" for one in given.elts)
    helpless = keywords(call).get("add_help")
    if isinstance(helpless, ast.Constant) and helpless.value is False and target:
        # A parser without help is one that others are made of.
        found.owners[target] = f"parent:{target}"


def _read_call(call: ast.Call, found: _Found, source: ScriptSource) -> None:
    if not isinstance(call.func, ast.Attribute):
        return
    if call.func.attr == "set_defaults":
        values = {name: source.value(node) for name, node in keywords(call).items()}
        found.defaults |= {name: value for name, value in values.items() if value is not UNKNOWN}
    if call.func.attr == "add_parser":
        _owner(call, found, source)
    if call.func.attr != "add_argument":
        return
    owner = _owner(call.func.value, found, source)
    argument = argument_of(call, source)
    if argument is None:
        found.complete = False
    elif argument.name:
        found.added.setdefault(MAIN if owner is None else owner, []).append(argument)


def argument_of(call: ast.Call, source: ScriptSource) -> ScriptArgument | None:
    """Return the argument that `add_argument(...)` adds, without a name where it is nobody's to give; None where it cannot be read."""
    names = [source.value(one) for one in call.args]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    given = keywords(call)
    action = dotted_name(given.get("action")).split(".")[-1]
    flags = tuple(sorted((name for name in names if name.startswith("-")), key=lambda name: not name.startswith("--")))
    if action in _SKIPPED or dotted_name(given.get("nargs")) == "argparse.REMAINDER" or "ActionConfigFile" in action:
        return ScriptArgument("")
    default = None if (value := source.value(given.get("default"))) is UNKNOWN else value
    name = source.value(given.get("dest")) if "dest" in given else (flags[0].lstrip("-") if flags else names[0])
    choices = source.value(given.get("choices"))
    if isinstance(choices, dict):
        choices = list(choices)
    kind = _kind(given, default, choices if isinstance(choices, list) else [])
    is_required = source.value(given.get("required")) is True if flags else not (default is not None or _may_lack(given, source))
    found = ScriptArgument(
        str(name).replace("-", "_"),
        flags,
        kind,
        default,
        tuple(choices) if isinstance(choices, list) else (),
        is_required,
        _lists(given, action, source),
        help=str(text) if isinstance(text := source.value(given.get("help")), str) else "",
    )
    return _as_switch(found, action, default)


def _may_lack(given: Mapping[str, ast.expr], source: ScriptSource) -> bool:
    return source.value(given.get("nargs")) in ("?", "*")


def _as_switch(found: ScriptArgument, action: str, default: Any) -> ScriptArgument:
    if action == "BooleanOptionalAction":
        return replace(found, kind="switch", negative="--no-" + found.flag.lstrip("-"), default=default)
    if action in ("store_true", "store_const", "count"):
        return replace(found, kind="switch", default=bool(default))
    if action == "store_false":
        # The flag says no: what it is called after, and what the script has where it is not given, are two things.
        return replace(found, name=found.flag.lstrip("-").replace("-", "_"), kind="switch", default=False)
    return found


def _kind(given: Mapping[str, ast.expr], default: Any, choices: list[Any]) -> Kind:
    name = dotted_name(given.get("type")).split(".")[-1]
    if name in _TYPES:
        return _TYPES[name]
    if name == "bool":
        # bool("false") is true: there is no text that says no.
        return "text"
    if "bool" in name.lower():
        return "boolean"
    if "float" in name.lower() or "int" in name.lower():
        return "number" if "float" in name.lower() else "whole"
    if "path" in name.lower() or "dir" in name.lower() or "file" in name.lower():
        return "path"
    if name:
        return kind_of_value(default) if isinstance(default, (int, float)) else "text"
    # Without a type argparse takes text; a number as default says that the script takes it for one.
    return kind_of_value(default if default is not None else choices)


def _lists(given: Mapping[str, ast.expr], action: str, source: ScriptSource) -> ListForm:
    if action in ("append", "extend") and "nargs" not in given:
        return "repeated"
    count = source.value(given.get("nargs"))
    return "words" if count in ("+", "*") or isinstance(count, int) else ""
