"""Values and types in the source of a script, as far as they can be known without running it."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from backends.scripts.interface import Kind


class Unknown:
    """What a value is that only running the script could tell."""


UNKNOWN: Final = Unknown()

_OPERATORS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_MOST_SHIFT = 64


@dataclass(frozen=True)
class ScriptSource:
    """The parsed files of a script: itself first, then the modules beside it that it imports.

    Args:
        trees: of the files.
        constants: names with values that are known.
        classes, functions: by name.
    """

    trees: tuple[ast.Module, ...]
    constants: Mapping[str, Any] = field(default_factory=dict)
    classes: Mapping[str, ast.ClassDef] = field(default_factory=dict)
    functions: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef] = field(default_factory=dict)

    def imports(self, *modules: str) -> bool:
        """Return whether the script, or what it imports beside it, imports one of these modules or a part of it."""
        found = {name for tree in self.trees for name in _imported(tree)}
        return any(name == module or name.startswith(f"{module}.") for name in found for module in modules)

    def value(self, node: ast.AST | None) -> Any:
        """Return what an expression is worth; `UNKNOWN` where that cannot be read."""
        try:
            return self._value(node)
        except (ArithmeticError, TypeError, ValueError, RecursionError):
            return UNKNOWN

    def _value(self, node: ast.AST | None) -> Any:
        match node:
            case ast.Constant():
                return node.value if isinstance(node.value, (str, int, float, bool, type(None))) else UNKNOWN
            case ast.Name():
                return self.constants.get(node.id, UNKNOWN)
            case ast.UnaryOp(op=ast.USub()):
                return -self._value(node.operand)
            case ast.BinOp(op=ast.Pow() | ast.LShift()):
                left, right = self._value(node.left), self._value(node.right)
                if isinstance(right, (int, float)) and abs(right) <= _MOST_SHIFT:
                    return left**right if isinstance(node.op, ast.Pow) else left << right
                return UNKNOWN
            case ast.BinOp() if type(node.op) in _OPERATORS:
                return _OPERATORS[type(node.op)](self._value(node.left), self._value(node.right))
            case ast.List() | ast.Tuple() | ast.Set():
                values = [self._value(item) for item in node.elts]
                return UNKNOWN if any(value is UNKNOWN for value in values) else values
            case ast.Dict():
                keys, values = [self._value(key) for key in node.keys], [self._value(item) for item in node.values]
                return UNKNOWN if any(one is UNKNOWN for one in (*keys, *values)) else dict(zip(keys, values, strict=True))
            case ast.Call(func=ast.Name(id="list" | "tuple" | "sorted" | "Path" | "float" | "int" | "str"), args=[inner]):
                return self._called(node.func, self._value(inner))
            case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[]):
                return self._value(inner)
            case ast.Call(func=ast.Name(id="range")):
                return list(range(*(self._value(item) for item in node.args)))[:100]
            case ast.Attribute(value=ast.Attribute(value=ast.Name(id=name)), attr="value") | ast.Attribute(value=ast.Name(id=name)):
                member = node.value if isinstance(node.value, ast.Attribute) else node
                return self.members(name).get(member.attr, UNKNOWN) if isinstance(member, ast.Attribute) else UNKNOWN
        return UNKNOWN

    @staticmethod
    def _called(function: ast.expr, value: Any) -> Any:
        name = function.id if isinstance(function, ast.Name) else ""
        if value is UNKNOWN:
            return UNKNOWN
        called: Mapping[str, Callable[[Any], Any]] = {"list": list, "tuple": list, "sorted": sorted, "float": float, "int": int}
        return called[name](value) if name in called else value

    def members(self, name: str) -> dict[str, Any]:
        """Return the members of an Enum class of the script by name; empty where it is none."""
        found = self.classes.get(name)
        if found is None or not any(dotted_name(base).split(".")[-1].endswith("Enum") for base in found.bases):
            return {}
        made: dict[str, Any] = {}
        for line in found.body:
            if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
                value = self.value(line.value)
                made[line.targets[0].id] = line.targets[0].id if value is UNKNOWN else value
        return made


def make_source(trees: Sequence[ast.Module]) -> ScriptSource:
    """Return the source of a script with its constants, classes and functions, those of earlier files first."""
    classes: dict[str, ast.ClassDef] = {}
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    constants: dict[str, Any] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.setdefault(node.name, node)
    for tree in trees:
        for line in tree.body:
            target, value = _assigned(line)
            if target and target not in constants:
                found = ScriptSource((), constants, classes, functions).value(value)
                if found is not UNKNOWN:
                    constants[target] = found
    return ScriptSource(tuple(trees), constants, classes, functions)


def _assigned(line: ast.stmt) -> tuple[str, ast.expr | None]:
    if isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name):
        return line.targets[0].id, line.value
    if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value is not None:
        return line.target.id, line.value
    return "", None


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def names_in(tree: ast.Module) -> Iterator[str]:
    """Yield what a file imports, and the attributes that it reads."""
    yield from _imported(tree)
    yield from (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))


def dotted_name(node: ast.AST | None) -> str:
    """Return `a.b.c` of a name or an attribute, without what is called or subscribed on the way; empty for other expressions."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            head = dotted_name(node.value)
            return f"{head}.{node.attr}" if head else node.attr
        case ast.Call():
            return dotted_name(node.func)
        case ast.Subscript():
            return dotted_name(node.value)
        case ast.Constant(value=str()):
            return str(node.value)
    return ""


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    """Return the keyword arguments of a call."""
    return {one.arg: one.value for one in call.keywords if one.arg is not None}


def in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes below one, in the order of the source."""
    for child in ast.iter_child_nodes(tree):
        yield child
        yield from in_order(child)


def kind_of_value(value: Any) -> Kind:
    """Return the kind that a default tells of."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "whole"
    if isinstance(value, float):
        return "number"
    if isinstance(value, (list, tuple)) and value:
        return kind_of_value(value[0])
    return "text"


@dataclass(frozen=True)
class Annotated:
    """What an annotation says: `kind` (None where it says nothing), `choices`, and whether it is a list or may be None."""

    kind: Kind | None = None
    choices: tuple[Any, ...] = ()
    is_list: bool = False
    is_optional: bool = False


_KINDS: Mapping[str, Kind] = {
    "float": "number", "int": "whole", "str": "text", "bool": "boolean", "Path": "path", "PathLike": "path", "FilePath": "path",
    "PositiveInt": "whole", "NonNegativeInt": "whole", "PositiveFloat": "number", "NonNegativeFloat": "number",
    "ClosedUnitInterval": "number", "OpenUnitInterval": "number", "FileText": "path",
}  # fmt: skip


def annotation(node: ast.expr | None, source: ScriptSource) -> Annotated:
    """Return what a type annotation says of an argument."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except SyntaxError:
            return Annotated()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _union([node.left, node.right], source)
    name = dotted_name(node).split(".")[-1]
    if isinstance(node, ast.Subscript):
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        match name:
            case "Optional" | "Union":
                found = _union(inner, source)
                return Annotated(found.kind, found.choices, found.is_list, found.is_optional or name == "Optional")
            case "Annotated" | "Final":
                return annotation(inner[0], source)
            case "Literal":
                values = tuple(source.value(one) for one in inner)
                return Annotated(kind_of_value(values[0]), values)
            case "list" | "List" | "tuple" | "Tuple" | "Sequence" | "Iterable" | "set" | "Set":
                return Annotated(annotation(inner[0], source).kind, is_list=True)
    if name in ("list", "List", "tuple"):
        return Annotated("text", is_list=True)
    members = source.members(name)
    if members:
        return Annotated("text", tuple(members.values()))
    return Annotated(_KINDS.get(name))


def _union(parts: Sequence[ast.expr], source: ScriptSource) -> Annotated:
    plain = [part for part in parts if not (isinstance(part, ast.Constant) and part.value is None)]
    found = [annotation(part, source) for part in plain]
    known = [one for one in found if one.kind is not None] or [Annotated()]
    best = next((one for one in known if one.kind in ("number", "whole")), known[0])
    return Annotated(best.kind, best.choices, best.is_list, len(plain) < len(parts) or any(one.is_optional for one in found))
