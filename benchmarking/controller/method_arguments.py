"""The arguments of methods: what each takes, with type, default and range; wrong ones are refused before anything starts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from definitions.errors import UserError, did_you_mean


@dataclass(frozen=True)
class Argument:
    """One argument of a method.

    Args:
        default: its value where the user gives none; None where that means "derived".
        help: what it does, in a few words.
        read: turns a given value into the argument's type; raises ValueError saying what is wanted.
        wanted: which values it takes, in a few words.
    """

    default: Any
    help: str
    read: Callable[[Any], Any]
    wanted: str = ""


Arguments: TypeAlias = Mapping[str, Argument]
"""Arguments of a method by name."""


def whole(default: int | None, lower: int, help_text: str) -> Argument:
    """Return an argument that is a whole number, `lower` or more; any other value is refused (ValueError) when it is read."""
    wanted = f"a whole number from {lower} up"

    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not lower <= value < math.inf or value != int(value):
            raise ValueError(wanted)
        return int(value)

    return Argument(default, help_text, read, wanted)


def number(
    default: float | None, help_text: str, *, above: float | None = None, lower: float | None = None, upper: float | None = None
) -> Argument:
    """Return an argument that is a finite number, above one bound or between two."""
    wanted = "a number" + (f" above {above:g}" if above is not None else _range(lower, upper))

    def read(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ValueError(wanted)
        if (above is not None and value <= above) or (lower is not None and value < lower) or (upper is not None and value > upper):
            raise ValueError(wanted)
        return float(value)

    return Argument(default, help_text, read, wanted)


def flag(default: bool, help_text: str) -> Argument:
    """Return an argument that is true or false."""

    def read(value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValueError("true or false")
        return value

    return Argument(default, help_text, read, "true or false")


def one_of(default: str, choices: Sequence[str], help_text: str) -> Argument:
    """Return an argument that is one of a few words."""
    wanted = "one of " + ", ".join(choices)

    def read(value: Any) -> str:
        if value not in choices:
            raise ValueError(wanted)
        return str(value)

    return Argument(default, help_text, read, wanted)


def levels(help_text: str) -> Argument:
    """Return an argument that is a list of ascending positive numbers; a single number is a list of one."""
    wanted = "ascending numbers above 0"

    def read(value: Any) -> tuple[float, ...]:
        given = tuple(value) if isinstance(value, (list, tuple)) else (value,)
        if any(isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < math.inf for level in given):
            raise ValueError(wanted)
        if not given or list(given) != sorted(set(given)):
            raise ValueError(wanted)
        return given

    return Argument(None, help_text, read, wanted)


_POINTS_WANTED = "a list of configurations, e.g. [{lr: 0.1}]"


def _points(value: Any) -> tuple[Mapping[str, Any], ...]:
    given = value if isinstance(value, (list, tuple)) else (value,)
    if not all(isinstance(point, Mapping) for point in given):
        raise ValueError(_POINTS_WANTED)
    return tuple(given)


POINTS = Argument((), "configurations to evaluate first; keys that one lacks get the middle of their domain", _points, _POINTS_WANTED)
SHARED_START = whole(0, 0, "then so many random configurations, the same for all methods of a seed")
STARTING_POINTS: Arguments = {"points_to_evaluate": POINTS, "shared_start": SHARED_START}
"""Taken by every method that draws from a space."""


def read_arguments(method: str, declared: Mapping[str, Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a method, those not given with their defaults.

    Args:
        method: its name, for messages.
        declared: what it takes.
        given: what the user gives.

    Raises:
        UserError: an unknown argument, or a value of the wrong type or out of range.
    """
    found = {name: argument.default for name, argument in declared.items()}
    for name, value in given.items():
        if name not in declared:
            raise UserError(f"method {method}: there is no argument {name!r}", did_you_mean(name, list(declared)))
        try:
            found[name] = declared[name].read(value)
        except ValueError as error:
            raise UserError(f"method {method}: {name} = {value!r}", f"it must be {error}", declared[name].help) from None
    return found


def _range(lower: float | None, upper: float | None) -> str:
    if lower is None:
        return "" if upper is None else f" up to {upper:g}"
    return f" from {lower:g} up" if upper is None else f" from {lower:g} to {upper:g}"
