"""Reads parsers of optparse in a script's source."""

from __future__ import annotations

import ast
from typing import Any

from backends.scripts.interface import Interface, Kind, ScriptArgument
from backends.scripts.literals import UNKNOWN, ScriptSource, dotted_name, in_order, keywords, kind_of_value

_KINDS: dict[str, Kind] = {"float": "number", "int": "whole", "long": "whole", "string": "text", "choice": "text"}
_SWITCHES = ("store_true", "store_false", "store_const", "count")
_SKIPPED = ("help", "version", "callback")


def read_optparse(source: ScriptSource) -> Interface | None:
    """Return the options that a script adds to a parser of optparse; None where it adds none."""
    if not source.imports("optparse"):
        return None
    found: list[ScriptArgument] = []
    complete = True
    for tree in source.trees:
        for node in in_order(tree):
            name = dotted_name(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in ("add_option", "make_option"):
                option = _option(node, source)
                complete = complete and option is not None
                found += [option] if option is not None and option.name else []
    return Interface("optparse", tuple({one.name: one for one in found}.values()), is_complete=complete) if found else None


def _option(call: ast.Call, source: ScriptSource) -> ScriptArgument | None:
    names = [source.value(one) for one in call.args]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    given = keywords(call)
    said: dict[str, Any] = {key: value for key, node in given.items() if (value := source.value(node)) is not UNKNOWN}
    flags = tuple(sorted(names, key=lambda name: not name.startswith("--")))
    action, default = said.get("action", "store"), said.get("default")
    if action in _SKIPPED:
        return ScriptArgument("")
    help_text = str(said.get("help", ""))
    own = flags[0].lstrip("-").replace("-", "_")
    if action in _SWITCHES:
        return ScriptArgument(own, flags, "switch", False if action == "store_false" else bool(default), help=help_text)
    type_name = said.get("type") or dotted_name(given.get("type"))
    kind = _KINDS.get(str(type_name), kind_of_value(default))
    choices = said.get("choices")
    lists = said.get("nargs", 1) != 1
    return ScriptArgument(
        str(said.get("dest", own)),
        flags,
        kind,
        default,
        tuple(choices) if isinstance(choices, list) else (),
        lists="repeated" if action == "append" else "words" if lists else "",
        help=help_text,
    )
