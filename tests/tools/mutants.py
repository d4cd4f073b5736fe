"""Small changes of a module: a comparison, a number, a condition, a statement left out. Pure."""

from __future__ import annotations

import ast
import copy
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Args:
        path: relative to the root; `line`: where the change is; `first`, `last`: lines of the statement that it is part of.
        what: kind of change.
        source: the whole file after it.
        inside: whether it is in a function, so that importing the file does not execute it.
    """

    path: str
    line: int
    first: int
    last: int
    what: str
    source: str
    inside: bool


def mutants_of(path: str, text: str) -> Iterator[Mutant]:
    """Yield each mutant of a file, in order of its lines."""
    for node, (first, last), inside in _sites(ast.parse(text), (1, 1), False):
        for what, new in _changes(node):
            yield Mutant(path, node.lineno, first, last, what, _replaced(text, node, new), inside)


def _sites(node: ast.AST, lines: tuple[int, int], inside: bool) -> Iterator[tuple[Any, tuple[int, int], bool]]:
    """Yield (node that may be changed, lines of its statement, whether in a function): nothing that only speaks, and no assertions."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        # Defaults are evaluated where a function is defined, its body where it is called.
        within = inside or (isinstance(node, (ast.FunctionDef, ast.Lambda)) and name == "body")
        for child in value if isinstance(value, list) else [value]:
            if (
                not isinstance(child, ast.AST)
                or isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert))
                or _is_check(child)
            ):
                continue
            span = _span(child) if isinstance(child, ast.stmt) else lines
            if isinstance(child, (ast.expr, ast.stmt)):
                yield child, span, within
            if not isinstance(child, ast.Raise) and not _is_log(child):
                yield from _sites(child, span, within)


def _span(node: Any) -> tuple[int, int]:
    """Return the first and last line of a statement, without the statements in it."""
    body = getattr(node, "body", None)
    return node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno


def _is_log(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node.value).startswith(("logger.", "logging.", "print("))


def _is_check(node: ast.AST) -> bool:
    """Return whether it is the `strict=` of a call of zip: an assertion, which can fail by a fault of ours alone."""
    return isinstance(node, ast.keyword) and node.arg == "strict"


def _changes(node: Any) -> Iterator[tuple[str, ast.AST]]:
    """Yield (kind of change, node in its place)."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            new = copy.deepcopy(node)
            new.ops[place] = COMPARISONS[type(operator)]()
            yield "comparison", new
    elif isinstance(node, ast.BoolOp):
        yield "and/or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "not", node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not _is_type(node):
        yield "arithmetic", ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield "arithmetic", ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value)
        yield "statement dropped", ast.Pass()
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield "constant", ast.Constant(node.value + 1)
    elif (
        isinstance(node, ast.Return) and node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None)
    ):
        yield "return None", ast.Return(ast.Constant(None))
    elif (
        isinstance(node, (ast.Raise, ast.Delete, ast.Continue))
        or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _is_log(node))
        or (isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)))
    ):
        yield "statement dropped", ast.Pass()
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)) and isinstance(node.test, (ast.Name, ast.Attribute, ast.Call, ast.NamedExpr)):
        yield "condition", ast.UnaryOp(ast.Not(), node.test)


def _is_type(node: ast.BinOp) -> bool:
    """Return whether it is a union of types, as in `int | None`."""
    return isinstance(node.op, ast.BitOr) and isinstance(node.right, ast.Constant) and node.right.value is None


def _replaced(text: str, node: Any, new: ast.AST) -> str:
    # A condition is changed in its place, not the whole statement.
    old = node.test if isinstance(node, (ast.If, ast.While, ast.IfExp)) else node
    lines = text.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: old.lineno - 1])) + old.col_offset
    end = sum(map(len, lines[: old.end_lineno - 1])) + old.end_col_offset
    code = ast.unparse(ast.fix_missing_locations(new))
    if isinstance(new, ast.expr):
        code = f"({code})"
    return (text.encode()[:start] + code.encode() + text.encode()[end:]).decode()


def diff_of(mutant: Mutant, text: str) -> str:
    """Return the change as an indented diff with a line of context."""
    lines = difflib.unified_diff(text.splitlines(), mutant.source.splitlines(), mutant.path, mutant.path, lineterm="", n=1)
    return "\n".join(f"     {line}" for line in list(lines)[2:])
