"""The dimensions of a search space. Each is a quantile function, so that any generator of uniform numbers can sample it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Protocol

from definitions.finite_values import index_of, middle_quantile, stepped


class Domain(Protocol):
    """One dimension of a search space."""

    @property
    def size(self) -> int | None:
        """Number of values, or None where they are uncountable."""
        ...

    def at(self, u: float) -> Any:
        """Return the value at quantile `u` in [0, 1)."""
        ...

    def grid(self, points: int) -> tuple[Any, ...]:
        """Return all values of a finite domain, else `points` values from the lower to the upper bound."""
        ...

    def contains(self, value: Any) -> bool:
        """Return whether the value belongs to the domain."""
        ...

    def quantile(self, value: Any) -> float:
        """Return a `u` in [0, 1] such that `at(u)` is the value, in the middle of those for which it is; the domain has an order."""
        ...

    @property
    def is_listed(self) -> bool:
        """Whether the user named each value, so that they may be words."""
        ...

    @property
    def is_even(self) -> bool:
        """Whether there are finitely many values, each as likely as any other."""
        ...

    @property
    def is_ordered(self) -> bool:
        """Whether a step from one value to the next means something."""
        ...

    def scaled(self, value: Any, factor: float) -> Any:
        """Return the value of an ordered domain that is nearest to `factor` times this one, another one where there is another."""
        ...

    def spec(self) -> Any:
        """Return the form that `parse_domain` reads."""
        ...


@dataclass(frozen=True)
class Constant:
    """A fixed value."""

    is_listed: ClassVar[bool] = True
    is_even: ClassVar[bool] = True
    is_ordered: ClassVar[bool] = True

    value: Any

    @property
    def size(self) -> int | None:
        """Number of values: 1."""
        return 1

    def at(self, u: float) -> Any:
        """Return the value, at any quantile."""
        return self.value

    def grid(self, points: int) -> tuple[Any, ...]:
        """Return the one value."""
        return (self.value,)

    def contains(self, value: Any) -> bool:
        """Return whether this is the value."""
        return same(value, self.value)

    def quantile(self, value: Any) -> float:
        """Return 0.5, the middle of all quantiles."""
        return 0.5

    def scaled(self, value: Any, factor: float) -> Any:
        """Return the value itself, as there is no other."""
        return value

    def spec(self) -> Any:
        """Return the value, which is its own written form."""
        return self.value


@dataclass(frozen=True)
class Choice:
    """One of a list of values; `ordered` where their order means something (kind `ordinal`)."""

    is_listed: ClassVar[bool] = True
    is_even: ClassVar[bool] = True

    values: tuple[Any, ...]
    ordered: bool = False

    @property
    def size(self) -> int | None:
        """Number of values."""
        return len(self.values)

    def at(self, u: float) -> Any:
        """Return the value at quantile `u`; all are equally likely."""
        return self.values[min(int(u * len(self.values)), len(self.values) - 1)]

    def grid(self, points: int) -> tuple[Any, ...]:
        """Return all values in the order given."""
        return self.values

    def contains(self, value: Any) -> bool:
        """Return whether the value is one of those listed."""
        return any(same(value, known) for known in self.values)

    def quantile(self, value: Any) -> float:
        """Return the middle of the quantiles at which the value lies."""
        return middle_quantile(self.grid(0), self.at, value)

    @property
    def is_ordered(self) -> bool:
        """Whether the list is an `ordinal`."""
        return self.ordered

    def scaled(self, value: Any, factor: float) -> Any:
        """Return the listed value nearest to `factor` times this one, another one where there is another."""
        return stepped(self.grid(0), value, factor)

    def spec(self) -> Any:
        """Return `{choice: [...]}` or `{ordinal: [...]}`."""
        return {"ordinal" if self.ordered else "choice": list(self.values)}


@dataclass(frozen=True)
class NearestOrdinal:
    """Ascending numbers, each as likely as the part of the number line that is nearest to it (Syne Tune's ordinal `nn`, `nn-log`).

    Args:
        values: strictly ascending numbers.
        scale: `linear`, or `log` for distances between logarithms (numbers above 0).
    """

    is_listed: ClassVar[bool] = False
    is_even: ClassVar[bool] = False
    is_ordered: ClassVar[bool] = True

    values: tuple[float, ...]
    scale: str = "linear"

    @property
    def size(self) -> int | None:
        """Number of values."""
        return len(self.values)

    def at(self, u: float) -> Any:
        """Return the value nearest to quantile `u` of the number line, which reaches half a mean distance beyond both ends."""
        if len(self.values) == 1:
            return self.values[0]
        marks = [math.log(value) for value in self.values] if self.scale == "log" else list(self.values)
        margin = (marks[-1] - marks[0]) / (len(marks) - 1) / 2
        position = marks[0] - margin + u * (marks[-1] - marks[0] + 2 * margin)
        return self.values[min(range(len(marks)), key=lambda k: abs(marks[k] - position))]

    def grid(self, points: int) -> tuple[Any, ...]:
        """Return all values, ascending."""
        return self.values

    def contains(self, value: Any) -> bool:
        """Return whether the value is one of those listed."""
        return any(same(value, known) for known in self.values)

    def quantile(self, value: Any) -> float:
        """Return the middle of the quantiles at which the value lies."""
        return middle_quantile(self.grid(0), self.at, value)

    def scaled(self, value: Any, factor: float) -> Any:
        """Return the listed value nearest to `factor` times this one, another one where there is another."""
        return stepped(self.grid(0), value, factor)

    def spec(self) -> Any:
        """Return `{nnordinal: [...]}` or `{logordinal: [...]}`."""
        return {"logordinal" if self.scale == "log" else "nnordinal": list(self.values)}


@dataclass(frozen=True)
class Interval:
    """Numbers between two bounds, on a linear, log or reverse-log scale; optionally integers or steps of `quantum`.

    Args:
        lower: smallest value.
        upper: largest value (included).
        scale: `linear`, `log`, or `reverselog` (log of 1 - x, for bounds in [0, 1)).
        integer: whether values are whole numbers.
        quantum: values are multiples of it within the bounds; None for none. Whole where `integer`.
    """

    is_listed: ClassVar[bool] = False
    is_even: ClassVar[bool] = False
    is_ordered: ClassVar[bool] = True

    lower: float
    upper: float
    scale: str = "linear"
    integer: bool = False
    quantum: float | None = None

    @property
    def size(self) -> int | None:
        """Number of whole numbers or multiples; None for a continuous interval, 1 where its bounds are equal."""
        if self.integer or self.quantum is not None:
            first, last = self._steps
            return last - first + 1
        return 1 if self.lower == self.upper else None

    @property
    def _step(self) -> float:
        return 1 if self.quantum is None else self.quantum

    @property
    def _steps(self) -> tuple[int, int]:
        # A bound that is a multiple of the quantum up to rounding (0.7 / 0.1 = 6.999...) counts as one.
        slack = 1e-9
        return math.ceil(self.lower / self._step - slack), math.floor(self.upper / self._step + slack)

    def at(self, u: float) -> Any:
        """Return the value at quantile `u` on the interval's scale, rounded to whole numbers or multiples where there are such."""
        if self.integer or self.quantum is not None:
            first, last = self._steps
            # Whole numbers are equally likely on their scale, bounds included; quantised ones are rounded draws, as in Syne Tune.
            margin = self._step / 2 if self.integer else 0.0
            lower, upper = (first * self._step - margin, last * self._step + margin) if self.integer else (self.lower, self.upper)
            return self._multiple(min(max(math.floor(self._unscaled(u, lower, upper) / self._step + 0.5), first), last))
        return min(max(self._unscaled(u, self.lower, self.upper), self.lower), self.upper)

    def _multiple(self, count: int) -> float:
        if self.integer:
            return count * int(self._step)
        return float(Decimal(repr(self._step)) * count)

    def _unscaled(self, u: float, lower: float, upper: float) -> float:
        if self.scale == "log":
            return math.exp(math.log(lower) + u * (math.log(upper) - math.log(lower)))
        if self.scale == "reverselog":
            low, high = math.log1p(-lower), math.log1p(-upper)
            return -math.expm1(low + u * (high - low))
        return lower + u * (upper - lower)

    def grid(self, points: int) -> tuple[Any, ...]:
        """Return all whole numbers or multiples, else `points` values equally spaced on the scale; one point is the middle."""
        if self.integer or self.quantum is not None:
            first, last = self._steps
            return tuple(self._multiple(count) for count in range(first, last + 1))
        if self.lower == self.upper:
            return (self.lower,)
        if points == 1:
            return (self._unscaled(0.5, self.lower, self.upper),)
        inner = (self._unscaled(k / (points - 1), self.lower, self.upper) for k in range(1, points - 1))
        return (self.lower, *inner, self.upper)

    def contains(self, value: Any) -> bool:
        """Return whether it is a number within the bounds, bounds included, and whole or a multiple where that is asked."""
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.lower <= value <= self.upper:
            return False
        if self.integer and value != int(value):
            return False
        return self.quantum is None or math.isclose(value, round(value / self.quantum) * self.quantum, rel_tol=1e-9, abs_tol=1e-12)

    def quantile(self, value: Any) -> float:
        """Return the value's quantile: on the scale where all numbers count, else in the middle of those that round to it."""
        if self.size is None:
            return self._quantile(value, self.lower, self.upper)
        if self.integer and self.quantum is None:
            return self._quantile(value, self.lower - 0.5, self.upper + 0.5)
        return middle_quantile(self.grid(0), self.at, value)

    def _quantile(self, value: float, lower: float, upper: float) -> float:
        if self.scale == "log":
            found = (math.log(value) - math.log(lower)) / (math.log(upper) - math.log(lower))
        elif self.scale == "reverselog":
            low, high = math.log1p(-lower), math.log1p(-upper)
            found = (math.log1p(-value) - low) / (high - low)
        else:
            found = (value - lower) / (upper - lower)
        return min(max(found, 0.0), 1.0)

    def scaled(self, value: Any, factor: float) -> Any:
        """Return `factor` times the value, moved into the bounds; of steps the nearest, at least one step on."""
        wanted = min(max(value * factor, self.lower), self.upper)
        if self.size is None:
            return wanted
        values = self.grid(0)
        nearest = min(values, key=lambda known: abs(known - wanted))
        # A factor that rounds back to the same value still means a step.
        return stepped(values, value, factor) if same(nearest, values[index_of(values, value)]) else nearest

    def spec(self) -> Any:
        """Return the form of Syne Tune's name for it: `{loguniform: [lower, upper]}`, `{qrandint: [lower, upper, quantum]}`."""
        kind = {
            ("linear", False): "uniform",
            ("log", False): "loguniform",
            ("reverselog", False): "reverseloguniform",
            ("linear", True): "randint",
            ("log", True): "lograndint",
        }[self.scale, self.integer]
        if self.quantum is not None:
            return {"q" + kind: [self.lower, self.upper, self.quantum]}
        return {kind: [self.lower, self.upper]}


@dataclass(frozen=True)
class FiniteRange:
    """`points` values from lower to upper, equally spaced on a linear or log scale (Syne Tune's finrange, logfinrange)."""

    is_listed: ClassVar[bool] = False
    is_even: ClassVar[bool] = True
    is_ordered: ClassVar[bool] = True

    lower: float
    upper: float
    points: int
    scale: str = "linear"
    integer: bool = False

    @property
    def size(self) -> int | None:
        """Number of different values; below `points` where whole numbers coincide."""
        return len(self.grid(0))

    def at(self, u: float) -> Any:
        """Return the value at quantile `u`; all are equally likely."""
        values = self.grid(0)
        return values[min(int(u * len(values)), len(values) - 1)]

    def grid(self, points: int) -> tuple[Any, ...]:
        """Return all values, ascending."""
        smooth = Interval(self.lower, self.upper, self.scale).grid(self.points) if self.points > 1 else (self.lower,)
        return tuple(dict.fromkeys(round(value) for value in smooth)) if self.integer else smooth

    def contains(self, value: Any) -> bool:
        """Return whether the value is one of the range's, up to rounding (1e-9 of it)."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return any(math.isclose(value, known, rel_tol=1e-9, abs_tol=1e-12) for known in self.grid(0))

    def quantile(self, value: Any) -> float:
        """Return the middle of the quantiles at which the value lies."""
        return middle_quantile(self.grid(0), self.at, value)

    def scaled(self, value: Any, factor: float) -> Any:
        """Return the value of the range nearest to `factor` times this one, another one where there is another."""
        return stepped(self.grid(0), value, factor)

    def spec(self) -> Any:
        """Return `{finrange: [lower, upper, points]}` or `{logfinrange: ...}`, with `true` behind where whole."""
        kind = "finrange" if self.scale == "linear" else "logfinrange"
        return {kind: [self.lower, self.upper, self.points, *([True] if self.integer else [])]}


def same(one: Any, other: Any) -> bool:
    """Return whether two values are equal and both or neither a boolean (1 is 1.0, but not true)."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
