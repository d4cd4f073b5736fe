"""Turns what the schema refuses into lines that a person can act on: file, line, key, what is wrong, what is allowed."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from definitions.backend_registry import backend_description, backend_names
from definitions.draft import child
from definitions.errors import UserError, nearest
from definitions.model import Model
from definitions.schema import BenchmarkDefinition, ContradictionError
from definitions.yaml_source import KeyPath, SourceLocation

HOMES = ("budget", "study")
"""Parts whose keys may be named without saying where they belong."""

_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "dict_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "model_attributes_type": "a mapping (key: value)",
}
_SCALAR = "a single value: text, a number, true/false or null"
_FORMS = {
    "name": "needs letters, digits, `_`, `.` and `-` (63 at most, the first a letter or digit)",
    "uri": "needs the form s3://bucket/prefix",
    "id": "needs the form fs-0123456789abcdef0",
    "directory": "needs an absolute path",
}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with the part of a definition at `path`."""

    path: KeyPath
    text: str


def problems_of(error: ValidationError, data: Mapping[str, Any], root: type[BaseModel] = BenchmarkDefinition) -> list[Problem]:
    """Return what a validation of `data` by the model `root` found, one problem per key path and text."""
    found = (problem for detail in error.errors(include_url=False) for problem in _translate(dict(detail), data, root))
    return list(dict.fromkeys(found))


def complaint(found: Iterable[Problem], place: Callable[[KeyPath], SourceLocation], about: str) -> UserError:
    """Return one error that lists all problems, in the order of the file.

    Args:
        found: at least one problem.
        place: says where a key was written.
        about: what has the problems, e.g. the file's name.
    """
    lines = sorted(
        ((place(p.path).line, f"{place(p.path).text}: {dotted(p.path)}{': ' if p.path else ''}{p.text}") for p in found), key=lambda x: x[0]
    )
    if len(lines) == 1:
        return UserError(lines[0][1])
    return UserError(f"{about} has {len(lines)} problems:", "\n  ".join(text for _, text in lines))


def dotted(path: KeyPath) -> str:
    """Return a key path as people write it: `budget.max_cost`, `trials.0.batch_size`."""
    return ".".join(str(step) for step in path)


def unknown_key(path: KeyPath, known: Iterable[str], homes: Sequence[str] = HOMES) -> str:
    """Return what is wrong with a key that is none of `known`, and in which of the parts `homes` it would belong."""
    name = str(path[-1])
    options = sorted(known)
    if len(path) == 1:
        for home in homes:
            if name in fields_at((home,), {}):
                return f"unknown key; it belongs to {home!r}: {home}.{name}"
    near = nearest(name, options)
    return "unknown key; " + (f"did you mean {near!r}?" if near else "known: " + (", ".join(options) or "none"))


def _unknown_backend(name: str) -> str:
    installed = backend_names()
    near = nearest(name, installed)
    hint = f"did you mean {near!r}? " if near else ""
    return f"there is no such key, and no back-end of this name is installed; {hint}installed: {', '.join(installed)}"


def fields_at(path: KeyPath, data: Mapping[str, Any], root: type[BaseModel] = BenchmarkDefinition) -> tuple[str, ...]:
    """Return the keys that the model `root` knows at a path; empty where any or none are allowed."""
    fields = tuple(name for kind in _kinds_at(path, data, root) if _is_model(kind) for name in kind.model_fields)
    return fields if path or root is not BenchmarkDefinition else (*fields, *backend_names())


def takes_text(path: KeyPath, data: Mapping[str, Any]) -> bool:
    """Return whether the value at a path is text and nothing else, so that `2.10` is meant as it is written."""
    return set(_kinds_at(path, data)) - {type(None)} == {str}


def takes_list(path: KeyPath, data: Mapping[str, Any]) -> bool:
    """Return whether the value at a path is a list of single values."""
    kinds = _kinds_at(path, data)
    items = [part for kind in kinds if typing.get_origin(kind) is tuple for part in _parts(typing.get_args(kind)[0])]
    return bool(items) and not any(_is_model(item) or typing.get_origin(item) is dict for item in items)


def _kinds_at(path: KeyPath, data: Mapping[str, Any], root: type[BaseModel] = BenchmarkDefinition) -> list[Any]:
    kinds: list[Any] = [root]
    node: Any = data
    for step in path:
        kinds = [inner for kind in kinds for inner in _inside(kind, step)]
        node = child(node, step)
        kinds = _narrowed(kinds, node)
    return kinds


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _inside(kind: Any, step: str | int) -> list[Any]:
    if _is_model(kind):
        field = kind.model_fields.get(str(step))
        if field is None and kind is BenchmarkDefinition:
            return _block_models(str(step))
        return [] if field is None else _parts(field.annotation)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    return _parts(arguments[-1 if origin is dict else 0]) if origin in (dict, tuple) else []


def _takes_mapping(field: str) -> bool:
    return field in BenchmarkDefinition.model_fields and any(
        _is_model(kind) or typing.get_origin(kind) is dict for kind in _kinds_at((field,), {})
    )


def _block_models(backend: str) -> list[Any]:
    """Return the model of a back-end's block, as a list of one; empty where there is none, or it cannot be loaded."""
    try:
        return [backend_description(backend).block]
    except UserError:
        return []


def _parts(annotation: Any) -> list[Any]:
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _parts(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return [part for argument in typing.get_args(annotation) for part in _parts(argument)]
    return [annotation]


def _narrowed(kinds: list[Any], node: Any) -> list[Any]:
    """Of several models, keep the one that the data's `type` or `kind` names."""
    if len(kinds) < 2 or not isinstance(node, Mapping):
        return kinds
    tags = {node.get("type"), node.get("kind")} - {None}
    chosen = [
        kind
        for kind in kinds
        if _is_model(kind)
        and any(tags & set(typing.get_args(kind.model_fields[name].annotation)) for name in ("type", "kind") if name in kind.model_fields)
    ]
    return chosen or kinds


def _path(location: tuple[str | int, ...], data: Mapping[str, Any], missing: bool) -> tuple[KeyPath, bool]:
    """Return the location without names of union members, and whether it had one at its end."""
    path: list[str | int] = []
    node: Any = data
    for number, step in enumerate(location):
        last = number == len(location) - 1
        # The member of a union that `type` names; a key of it may be called alike.
        is_member = isinstance(node, Mapping) and step == node.get("type") and 0 < number == len(path)
        there = not is_member and (
            (isinstance(node, Mapping) and step in node) or (isinstance(node, (list, tuple)) and isinstance(step, int))
        )
        if there or (missing and last and not is_member):
            path.append(step)
            node = child(node, step)
        elif last:
            return tuple(path), True
    return tuple(path), False


def _translate(detail: dict[str, Any], data: Mapping[str, Any], root: type[BaseModel]) -> Iterator[Problem]:
    kind, context = str(detail["type"]), detail.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, ContradictionError):
        yield from (Problem(path, text) for path, text in cause.problems)
        return
    path, in_union = _path(detail["loc"], data, kind == "missing")
    given = detail.get("input")
    if kind.startswith("union_tag") and isinstance(given, Mapping):
        path = (*path, str(context["discriminator"]).strip("'"))
    if in_union and kind.endswith(("_type", "_parsing", "_from_float")) and not isinstance(given, Model):
        yield Problem(path, f"needs {_SCALAR}; {_shown(given)} was given")
    elif kind == "extra_forbidden":
        known, is_definition = fields_at(path[:-1], data, root), root is BenchmarkDefinition
        is_block = is_definition and len(path) == 1 and isinstance(given, Mapping) and not _takes_mapping(nearest(str(path[0]), known))
        text = _unknown_backend(str(path[0])) if is_block else unknown_key(path, known, HOMES if is_definition else ())
        yield Problem(path, text)
    else:
        yield Problem(path, _text(kind, path, context, given, str(detail["msg"])))


def _text(kind: str, path: KeyPath, context: Mapping[str, Any], given: Any, message: str) -> str:
    shown = _shown(given)
    if kind == "missing":
        return "is missing"
    if kind == "string_type" and isinstance(given, (int, float)):
        return f"needs text; {shown} was given; put it in quotes, as you mean it"
    if kind in _WANTED:
        return f"needs {_WANTED[kind]}; {shown} was given"
    limits = {"greater_than": ("above", "gt"), "greater_than_equal": ("at least", "ge"), "less_than_equal": ("at most", "le")}
    if kind in limits:
        words, bound = limits[kind]
        return f"must be {words} {context[bound]:g}; {shown} was given"
    if kind == "literal_error":
        return _one_of(str(context["expected"]), given)
    if kind == "union_tag_invalid":
        return _one_of(str(context["expected_tags"]), context["tag"])
    if kind == "union_tag_not_found":
        return "is missing" if isinstance(given, Mapping) else f"needs {_WANTED['dict_type']}; {shown} was given"
    if kind == "too_short":
        return "needs at least one entry"
    if kind == "string_pattern_mismatch":
        return f"{_FORMS.get(str(path[-1]), 'does not have the form ' + str(context['pattern']))}; {shown} was given"
    if kind == "value_error":
        return str(context["error"])
    return f"{message[:1].lower()}{message[1:]}; {shown} was given"


def _one_of(expected: str, given: Any) -> str:
    options = [option.strip().strip("'") for option in expected.replace(" or ", ", ").split(",")]
    near = nearest(str(given), options)
    return f"must be one of {', '.join(options)}; {_shown(given)} was given" + (f"; did you mean {near!r}?" if near else "")


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
