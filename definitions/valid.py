"""The `valid` expressions of a definition: a small, safe subset of Python over a configuration's keys."""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from definitions.errors import UserError, did_you_mean

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_TEXT_OR_KEY = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?P<key>[^`]*)`""")
_NAMES = {"true": True, "false": False, "null": None}


@dataclass(frozen=True)
class Rule:
    """One compiled expression; true for the configurations that may run."""

    text: str
    _tree: ast.expr = field(compare=False, repr=False)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The configuration keys that the expression reads."""
        found = (node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name))
        return tuple(dict.fromkeys(name for name in found if name not in _NAMES))

    def holds(self, configuration: Mapping[str, Any]) -> bool:
        """Return the expression's truth; a key that the configuration lacks reads as None, and says nothing where None cannot be compared.

        Raises:
            UserError: the values cannot be compared or computed with.
        """
        try:
            return bool(_evaluate(self._tree, configuration))
        except (TypeError, ZeroDivisionError) as error:
            if any(name not in configuration for name in self.names):
                return True
            raise UserError(f"valid: {self.text!r} cannot be evaluated", f"{error} (configuration: {dict(configuration)!r})") from error


def parse_rule(text: str, keys: tuple[str, ...] | None = None) -> Rule:
    """Return the rule; names in it must be among `keys` where given. A key with hyphens or dots is written in backticks.

    Raises:
        UserError: not an expression, or one that uses more than comparison, arithmetic, `in`, `and`, `or`, `not`.
    """
    plain, quoted = _without_backticks(text)
    try:
        with warnings.catch_warnings():
            # `3and x` is an expression to Python, with a warning; here it is none.
            warnings.simplefilter("error", SyntaxWarning)
            tree = ast.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UserError(f"valid: {text!r} is not an expression", error.msg if isinstance(error, SyntaxError) else str(error)) from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = quoted.get(node.id, node.id)
    rule = Rule(text, tree)
    in_backticks = _unquoted(tree, keys or ())
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED):
            if in_backticks:
                raise UserError(f"valid: {text!r} reads {in_backticks} as several names", "", f"write it in backticks: `{in_backticks}`")
            raise UserError(
                f"valid: {text!r} uses {type(node).__name__}",
                "only keys, constants, comparison, arithmetic, in, and, or, not are understood",
            )
    for name in rule.names if keys is not None else ():
        if name not in (keys or ()):
            asked = f"valid: {text!r} names {name!r}, which is no key of the configurations"
            in_text = in_backticks if name in in_backticks else ""
            advice = f"write it in backticks: `{in_text}`" if in_text else did_you_mean(name, list(keys or ()))
            raise UserError(asked, advice)
    return rule


def _without_backticks(text: str) -> tuple[str, dict[str, str]]:
    """Return an expression with a name in place of each key in backticks, and the keys by these names."""
    quoted: dict[str, str] = {}

    def replace(found: re.Match[str]) -> str:
        if found["key"] is None:
            return found[0]
        name = f"key_{len(quoted)}_in_backticks"
        quoted[name] = found["key"]
        return f" {name} "

    return _TEXT_OR_KEY.sub(replace, text), quoted


def _unquoted(tree: ast.expr, keys: tuple[str, ...]) -> str:
    """Return a key with hyphens or dots that an expression takes apart; empty where there is none."""
    parts = {ast.unparse(node).replace(" ", "") for node in ast.walk(tree) if isinstance(node, (ast.Attribute, ast.BinOp))}
    return next((key for key in sorted(keys, key=len, reverse=True) if key in parts), "")


_ALLOWED = (
    ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd,
    ast.BinOp, *_BINARY, ast.Compare, *_COMPARE,
)  # fmt: skip


def _evaluate(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return _NAMES[node.id] if node.id in _NAMES else names.get(node.id)
        case ast.List() | ast.Tuple() | ast.Set():
            return [_evaluate(item, names) for item in node.elts]
        case ast.BoolOp():
            stop = isinstance(node.op, ast.Or)
            value: Any = not stop
            for item in node.values:
                value = _evaluate(item, names)
                if bool(value) == stop:
                    return value
            return value
        case ast.UnaryOp():
            operand = _evaluate(node.operand, names)
            return not operand if isinstance(node.op, ast.Not) else (-operand if isinstance(node.op, ast.USub) else +operand)
        case ast.BinOp():
            return _BINARY[type(node.op)](_evaluate(node.left, names), _evaluate(node.right, names))
        case ast.Compare():
            left = _evaluate(node.left, names)
            for op, item in zip(node.ops, node.comparators, strict=True):
                right = _evaluate(item, names)
                if not _COMPARE[type(op)](left, right):
                    return False
                left = right
            return True
    raise TypeError(f"{type(node).__name__} is not supported")
