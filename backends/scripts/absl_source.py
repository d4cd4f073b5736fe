"""Reads flags of absl in a script's source."""

from __future__ import annotations

import ast
from dataclasses import replace

from backends.scripts.interface import Interface, Kind, ScriptArgument
from backends.scripts.literals import UNKNOWN, ScriptSource, dotted_name, keywords

_KINDS: dict[str, Kind] = {
    "DEFINE_float": "number", "DEFINE_integer": "whole", "DEFINE_string": "text", "DEFINE_bool": "boolean",
    "DEFINE_boolean": "boolean",
    "DEFINE_enum": "text",
    "DEFINE_enum_class": "text", "DEFINE_list": "text", "DEFINE_spaceseplist": "text", "DEFINE_multi_float": "number",
    "DEFINE_multi_integer": "whole", "DEFINE_multi_string": "text", "DEFINE_multi_enum": "text",
}  # fmt: skip


def read_absl(source: ScriptSource) -> Interface | None:
    """Return the flags that a script defines by absl; None where it defines none."""
    if not source.imports("absl", "ml_collections"):
        return None
    required = _required(source)
    found: list[ScriptArgument] = []
    complete = True
    for tree in source.trees:
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            what = dotted_name(node.func).split(".")[-1]
            if what.startswith("DEFINE_"):
                flag = _flag(what, node, source)
                complete = complete and flag is not None
                found += [] if flag is None else [flag]
    if not found:
        return None
    flags = tuple(replace(one, is_required=one.is_required or one.name in required) for one in found)
    return Interface("absl", flags, is_complete=complete)


def _required(source: ScriptSource) -> frozenset[str]:
    names: set[str] = set()
    for tree in source.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and dotted_name(node.func).split(".")[-1].startswith("mark_flag"):
                value = source.value(node.args[0]) if node.args else UNKNOWN
                names |= {value} if isinstance(value, str) else set(value) if isinstance(value, list) else set()
    return frozenset(names)


def _flag(what: str, call: ast.Call, source: ScriptSource) -> ScriptArgument | None:
    given = keywords(call)
    words = [source.value(one) for one in call.args]
    name = words[0] if words else source.value(given.get("name"))
    if not isinstance(name, str) or what not in _KINDS:
        return None
    default = words[1] if len(words) > 1 else source.value(given.get("default"))
    choices = () if "enum" not in what else words[2] if len(words) > 2 else source.value(given.get("enum_values"))
    if what == "DEFINE_enum_class" and len(call.args) > 2:
        choices = [*source.members(dotted_name(call.args[2]))]
    help_text = next((word for word in words[2:] if isinstance(word, str)), "")
    return ScriptArgument(
        name,
        (f"--{name}",),
        _KINDS[what],
        None if default is UNKNOWN else default,
        tuple(choices) if isinstance(choices, (list, tuple)) else (),
        source.value(given.get("required")) is True,
        "repeated" if "multi" in what else "comma" if what.endswith("list") else "",
        help=help_text,
    )
