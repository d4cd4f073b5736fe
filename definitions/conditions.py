"""When a dimension of a search space exists: `when`, an expression over other dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

from definitions.errors import UserError
from definitions.valid import Rule, parse_rule


@dataclass(frozen=True)
class Conditions:
    """Conditions of the dimensions that do not always exist.

    Args:
        rules: by dimension.
        order: all dimensions of the space, each after those that its condition reads; empty where there are no conditions.
    """

    rules: Mapping[str, Rule] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self.rules)

    @property
    def deciders(self) -> tuple[str, ...]:
        """The dimensions that conditions read, and those that decide about these, each after what decides about it."""
        read = {name for rule in self.rules.values() for name in rule.names}
        return tuple(key for key in self.order if key in read)

    def text(self, key: str) -> str | None:
        """Return the condition of a dimension as it is written; None where it always exists."""
        rule = self.rules.get(key)
        return None if rule is None else rule.text

    def holds(self, key: str, values: Mapping[str, Any]) -> bool:
        """Return whether a dimension exists beside the values of others; not where one that its condition reads does not exist itself."""
        rule = self.rules.get(key)
        return rule is None or (all(name in values for name in rule.names) and rule.holds(values))


def parse_conditions(texts: Mapping[str, Any], keys: tuple[str, ...]) -> Conditions:
    """Return the conditions of a space.

    Args:
        texts: `when` by dimension.
        keys: all dimensions.

    Raises:
        UserError: a condition is no expression, reads what is no dimension, itself, or, over others, itself.
    """
    if not texts:
        return Conditions()
    rules: dict[str, Rule] = {}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise UserError(f"space.{key}: when = {text!r} is no expression", "it is text, e.g. when: \"optimizer == 'sgd'\"")
        try:
            rules[key] = parse_rule(text, keys)
        except UserError as error:
            raise UserError(f"space.{key}: {error.asked.replace('valid:', 'when:', 1)}", error.fact, error.advice) from None
        if not rules[key].names:
            raise UserError(f"space.{key}: when: {text!r} reads no other dimension", f"there are {', '.join(keys)}", "leave `when` out")
    try:
        sorted_keys = TopologicalSorter({key: rules[key].names if key in rules else () for key in keys}).static_order()
        order = tuple(sorted_keys)
    except CycleError as error:
        raise UserError(
            f"space: the conditions of {', '.join(dict.fromkeys(error.args[1]))} depend on one another in a circle",
            "none of them could be decided first",
            "let one of them exist always",
        ) from None
    # Of the orders that are possible the one nearest to the definition's, so that the last key still varies fastest in a grid.
    return Conditions(rules, _stable(order, keys, rules))


def _stable(order: tuple[str, ...], keys: tuple[str, ...], rules: Mapping[str, Rule]) -> tuple[str, ...]:
    placed: list[str] = []
    left = [key for key in keys if key in order]
    while left:
        key = next(one for one in left if all(name in placed for name in (rules[one].names if one in rules else ())))
        placed.append(key)
        left.remove(key)
    return tuple(placed)
