"""Reads the configuration tree of a script that hydra starts: groups are choices, leaves are arguments, told as `key=value`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from backends.scripts.interface import Interface, ScriptArgument
from backends.scripts.literals import ScriptSource, annotation, dotted_name, keywords, kind_of_value
from backends.scripts.signature_source import class_fields
from definitions.errors import UserError
from definitions.yaml_source import read_yaml

_MISSING = "???"
_PACKAGE = "@package"


def read_hydra(source: ScriptSource, script: Path) -> Interface | None:
    """Return what a script with `@hydra.main` can be told; None where it has none.

    Args:
        source: of the script.
        script: its path, beside which the tree lies.
    """
    call = _main_call(source)
    if call is None:
        return None
    given = {**dict(zip(("config_path", "config_name"), call.args, strict=False)), **keywords(call)}
    folder, name = source.value(given.get("config_path")), source.value(given.get("config_name"))
    structured = _structured(source, name)
    if structured is not None:
        return Interface("hydra", structured, style="key=value")
    if not isinstance(name, str):
        return Interface("hydra", style="key=value", is_complete=False)
    home = script.parent / (folder if isinstance(folder, str) else ".")
    arguments = tuple(_of_file(home, name))
    # A leaf that the primary configuration lays over a group's is said once, with the value that counts.
    return Interface("hydra", tuple({one.name: one for one in arguments}.values()), style="key=value", is_complete=bool(arguments))


def _main_call(source: ScriptSource) -> ast.Call | None:
    for function in source.functions.values():
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call) and dotted_name(decorator) in ("hydra.main", "main") and source.imports("hydra"):
                return decorator
    return None


def _structured(source: ScriptSource, name: Any) -> tuple[ScriptArgument, ...] | None:
    """Return the leaves of a dataclass that is stored as the primary configuration, `cs.store(name="config", node=Config)`."""
    for tree in source.trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and dotted_name(node.func).split(".")[-1] == "store":
                given = keywords(node)
                found = source.classes.get(dotted_name(given.get("node")))
                if found is not None and source.value(given.get("name")) == name and "group" not in given:
                    return tuple(_class_leaves(found, source, ""))
    return None


def _class_leaves(found: ast.ClassDef, source: ScriptSource, prefix: str) -> Iterator[ScriptArgument]:
    for name, node, default in class_fields(found):
        inner = source.classes.get(dotted_name(node))
        if inner is not None and not source.members(inner.name):
            yield from _class_leaves(inner, source, f"{prefix}{name}.")
            continue
        said = annotation(node, source)
        value = None if default is None else source.value(default)
        plain = value if isinstance(value, (str, int, float, bool, list)) else None
        missing = default is None or plain == _MISSING or dotted_name(default) in ("MISSING", "omegaconf.MISSING")
        kind = said.kind or kind_of_value(plain)
        whole = f"{prefix}{name}"
        yield ScriptArgument(whole, (whole,), kind, None if missing else plain, said.choices, missing, "words" if said.is_list else "")


def _of_file(home: Path, name: str, prefix: str = "") -> Iterator[ScriptArgument]:
    """Yield what a configuration file says, that of its groups before its own, as later values win."""
    data = _read(home / f"{name.removesuffix('.yaml')}.yaml")
    for item in data.get("defaults") or []:
        if isinstance(item, str) and item != "_self_":
            yield from _of_file(home, item.lstrip("/"), prefix)
        elif isinstance(item, Mapping):
            for group, option in item.items():
                if not group.startswith("override ") and "@" not in group:
                    yield from _of_group(home, group.removeprefix("optional ").strip("/"), option)
    yield from leaves({key: value for key, value in data.items() if key not in ("defaults", "hydra")}, prefix)


def _of_group(home: Path, group: str, option: Any) -> Iterator[ScriptArgument]:
    """Yield a group as a choice of its options, and the leaves of each with the condition that it is chosen."""
    files = sorted((home / group).glob("*.yaml"))
    options = [file.stem for file in files]
    chosen = option if isinstance(option, str) and option in options else None
    found_in: dict[str, dict[str, ScriptArgument]] = {}
    for file in files:
        is_global = _PACKAGE in _head(file) and "_global_" in _head(file)
        prefix = "" if is_global else group.replace("/", ".") + "."
        for leaf in leaves({key: value for key, value in _read(file).items() if key != "defaults"}, prefix):
            found_in.setdefault(leaf.name, {})[file.stem] = leaf
    if "/" not in group:
        yield ScriptArgument(group, (group,), "text", chosen, tuple(options), option == _MISSING)
    for found in found_in.values():
        own = found.get(chosen or "")
        if len(found) == len(options):
            yield own or next(iter(found.values()))
        elif "/" not in group:
            leaf = own or next(iter(found.values()))
            yield ScriptArgument(leaf.name, leaf.flags, leaf.kind, leaf.default, lists=leaf.lists, when=(group, tuple(found)))
        elif own is not None:
            yield own


def leaves(data: Mapping[str, Any], prefix: str = "") -> Iterator[ScriptArgument]:
    """Yield the leaves of a configuration as arguments, by their dotted names; what is made of others by interpolation is left out."""
    for key, value in data.items():
        whole = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from leaves(value, f"{whole}.")
        elif not (isinstance(value, str) and "${" in value) and not key.startswith("_"):
            missing = value == _MISSING
            kind = kind_of_value(None if missing else value)
            default = None if missing else value
            yield ScriptArgument(whole, (whole,), kind, default, (), missing, "words" if isinstance(value, list) else "")


def _read(path: Path) -> Mapping[str, Any]:
    try:
        return read_yaml(path).data
    except UserError:
        return {}


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.readline()
    except OSError:
        return ""
