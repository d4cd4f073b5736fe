"""Search spaces: named domains, each a quantile function, so that any generator of uniforms can sample them.

Used by definitions (the `space` of a benchmark) and by methods.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from definitions.errors import UserError, did_you_mean


class UniformSource(Protocol):
    """Anything with `random()` returning floats in [0, 1): `random.Random`, `numpy.random.Generator`."""

    def random(self) -> float:
        """Return the next uniform number in [0, 1)."""
        ...


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

    def spec(self) -> Any:
        """Return the form that `parse_domain` reads."""
        ...


@dataclass(frozen=True)
class Constant:
    """A fixed value."""

    value: Any

    @property
    def size(self) -> int | None:
        return 1

    def at(self, u: float) -> Any:
        return self.value

    def grid(self, points: int) -> tuple[Any, ...]:
        return (self.value,)

    def contains(self, value: Any) -> bool:
        return _same(value, self.value)

    def spec(self) -> Any:
        return self.value


@dataclass(frozen=True)
class Choice:
    """One of a list of values; `ordered` where their order means something (kind `ordinal`)."""

    values: tuple[Any, ...]
    ordered: bool = False

    @property
    def size(self) -> int | None:
        return len(self.values)

    def at(self, u: float) -> Any:
        return self.values[min(int(u * len(self.values)), len(self.values) - 1)]

    def grid(self, points: int) -> tuple[Any, ...]:
        return self.values

    def contains(self, value: Any) -> bool:
        return any(_same(value, known) for known in self.values)

    def spec(self) -> Any:
        return {"ordinal" if self.ordered else "choice": list(self.values)}


@dataclass(frozen=True)
class Interval:
    """Numbers between two bounds, on a linear, log or reverse-log scale; optionally integers or steps of `quantum`.

    Args:
        lower: smallest value.
        upper: largest value (included).
        scale: `linear`, `log`, or `reverselog` (log of 1 - x, for bounds in [0, 1)).
        integer: whether values are whole numbers.
        quantum: values are rounded to multiples of it; None for none.
    """

    lower: float
    upper: float
    scale: str = "linear"
    integer: bool = False
    quantum: float | None = None

    @property
    def size(self) -> int | None:
        if self.integer and self.quantum is None:
            return int(self.upper) - int(self.lower) + 1
        if self.quantum is not None:
            return math.floor(self.upper / self.quantum) - math.ceil(self.lower / self.quantum) + 1
        return None

    def at(self, u: float) -> Any:
        if self.integer:
            return min(max(math.floor(self._unscaled(u, self.lower - 0.5, self.upper + 0.5) + 0.5), int(self.lower)), int(self.upper))
        value = self._unscaled(u, self.lower, self.upper)
        if self.quantum is not None:
            value = round(value / self.quantum) * self.quantum
        return min(max(value, self.lower), self.upper)

    def _unscaled(self, u: float, lower: float, upper: float) -> float:
        if self.scale == "log":
            return math.exp(math.log(lower) + u * (math.log(upper) - math.log(lower)))
        if self.scale == "reverselog":
            low, high = math.log1p(-upper), math.log1p(-lower)
            return -math.expm1(high + u * (low - high))
        return lower + u * (upper - lower)

    def grid(self, points: int) -> tuple[Any, ...]:
        count = self.size
        if count is not None and self.integer:
            return tuple(range(int(self.lower), int(self.upper) + 1))
        if count is not None and self.quantum is not None:
            first = math.ceil(self.lower / self.quantum)
            return tuple((first + k) * self.quantum for k in range(count))
        if points == 1:
            return (self._unscaled(0.5, self.lower, self.upper),)
        inner = (self._unscaled(k / (points - 1), self.lower, self.upper) for k in range(1, points - 1))
        return (self.lower, *inner, self.upper)

    def contains(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if self.integer and value != int(value):
            return False
        return self.lower <= value <= self.upper

    def spec(self) -> Any:
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

    lower: float
    upper: float
    points: int
    scale: str = "linear"
    integer: bool = False

    @property
    def size(self) -> int | None:
        return len(self.grid(0))

    def at(self, u: float) -> Any:
        values = self.grid(0)
        return values[min(int(u * len(values)), len(values) - 1)]

    def grid(self, points: int) -> tuple[Any, ...]:
        smooth = Interval(self.lower, self.upper, self.scale).grid(self.points)
        return tuple(dict.fromkeys(round(value) for value in smooth)) if self.integer else smooth

    def contains(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return any(math.isclose(value, known, rel_tol=1e-9, abs_tol=1e-12) for known in self.grid(0))

    def spec(self) -> Any:
        kind = "finrange" if self.scale == "linear" else "logfinrange"
        return {kind: [self.lower, self.upper, self.points, *([True] if self.integer else [])]}


_INTERVALS = {
    "uniform": ("linear", False),
    "loguniform": ("log", False),
    "reverseloguniform": ("reverselog", False),
    "randint": ("linear", True),
    "lograndint": ("log", True),
}
KINDS = ("choice", "ordinal", *_INTERVALS, *("q" + kind for kind in _INTERVALS), "finrange", "logfinrange")
"""The words that a domain in a definition may start with."""


def parse_domain(spec: Any, key: str = "") -> Domain:
    """Return the domain that a definition describes: `{choice: [1, 2]}`, `{loguniform: [1e-4, 1e-1]}`, or a constant.

    Args:
        spec: a scalar, or a mapping with one of `KINDS` as its only key.
        key: name of the dimension, for messages.

    Raises:
        UserError: unknown kind, no values, or bounds that are no interval.
    """
    if not isinstance(spec, Mapping):
        if isinstance(spec, (list, tuple)):
            raise UserError(f"space.{key}: {list(spec)!r} is no domain", "a list of values is written {choice: [...]}")
        return Constant(spec)
    if len(spec) != 1:
        raise UserError(
            f"space.{key}: {dict(spec)!r} is no domain", "a domain has one key, e.g. {choice: [1, 2]}", "kinds: " + ", ".join(KINDS)
        )
    kind, values = next(iter(spec.items()))
    if kind not in KINDS:
        raise UserError(f"space.{key}: there is no domain kind {kind!r}", did_you_mean(str(kind), KINDS))
    if not isinstance(values, (list, tuple)):
        raise UserError(f"space.{key}: {kind} needs a list", f"{values!r} was given")
    if kind in ("choice", "ordinal"):
        return _parse_choice(key, kind, values)
    return _parse_numbers(key, kind, values)


def _parse_choice(key: str, kind: str, values: Any) -> Domain:
    if not values:
        raise UserError(f"space.{key}: {kind} is empty", "there is nothing to choose from", "list at least one value")
    for value in values:
        if isinstance(value, (Mapping, list, tuple)):
            raise UserError(f"space.{key}: {value!r} is not a scalar", "values are numbers, strings, true/false or null")
    unique = tuple(value for k, value in enumerate(values) if not any(_same(value, earlier) for earlier in values[:k]))
    if len(unique) != len(values):
        raise UserError(f"space.{key}: {kind} lists a value twice", f"values: {list(values)!r}", "list each value once")
    return Choice(tuple(values), ordered=kind == "ordinal")


def _parse_numbers(key: str, kind: str, values: Any) -> Domain:
    finite = kind in ("finrange", "logfinrange")
    wanted = (3, 4) if finite else ((3,) if kind.startswith("q") else (2,))
    bad = [v for v in values if isinstance(v, str) or v is None or (isinstance(v, bool) and not finite)]
    if len(values) not in wanted or bad:
        form = (
            "[lower, upper, points]" if finite else ("[lower, upper, quantum]" if len(wanted) == 1 and wanted[0] == 3 else "[lower, upper]")
        )
        raise UserError(f"space.{key}: {kind} needs {form}, all numbers", f"{list(values)!r} was given")
    lower, upper = values[0], values[1]
    base = kind[1:] if kind.startswith("q") else kind
    scale, integer = ("log" if kind == "logfinrange" else "linear", len(values) == 4 and bool(values[3])) if finite else _INTERVALS[base]
    if not lower <= upper or not (math.isfinite(lower) and math.isfinite(upper)):
        raise UserError(f"space.{key}: {kind} from {lower} to {upper} is empty", "the lower bound must not exceed the upper one")
    if scale == "log" and lower <= 0:
        raise UserError(f"space.{key}: {kind} starts at {lower}", "a log scale needs a lower bound above 0")
    if scale == "reverselog" and not 0 <= lower <= upper < 1:
        raise UserError(f"space.{key}: {kind} goes from {lower} to {upper}", "a reverse-log scale needs bounds in [0, 1)")
    if integer and not finite and (lower != int(lower) or upper != int(upper)):
        raise UserError(f"space.{key}: {kind} needs whole bounds", f"{lower} and {upper} were given")
    if finite:
        if not isinstance(values[2], int) or values[2] < 1:
            raise UserError(f"space.{key}: {kind} needs a whole number of points", f"{values[2]!r} was given")
        return FiniteRange(float(lower), float(upper), values[2], scale, integer)
    quantum = values[2] if kind.startswith("q") else None
    if quantum is not None and quantum <= 0:
        raise UserError(f"space.{key}: {kind} needs a quantum above 0", f"{quantum} was given")
    if integer:
        return Interval(int(lower), int(upper), scale, True, quantum)
    return Interval(float(lower), float(upper), scale, False, quantum)


@dataclass(frozen=True)
class SearchSpace:
    """Named domains, in the order of the definition."""

    domains: Mapping[str, Domain]

    @classmethod
    def parse(cls, spec: Mapping[str, Any]) -> SearchSpace:
        """Return the space that a definition's `space` describes; raises `UserError` as `parse_domain` does."""
        return cls({key: parse_domain(value, key) for key, value in spec.items()})

    @property
    def size(self) -> int | None:
        """Number of configurations, or None where a dimension is continuous."""
        sizes = [domain.size for domain in self.domains.values()]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)

    def sample(self, source: UniformSource) -> dict[str, Any]:
        """Return one configuration, each dimension drawn independently."""
        return {key: domain.at(source.random()) for key, domain in self.domains.items()}

    def grid(self, points: int) -> Iterator[dict[str, Any]]:
        """Yield every combination; continuous dimensions contribute `points` values each."""
        axes = [domain.grid(points) for domain in self.domains.values()]
        for values in itertools.product(*axes):
            yield dict(zip(self.domains, values, strict=True))

    def check(self, configuration: Mapping[str, Any]) -> None:
        """Raise `UserError` unless the configuration has exactly this space's keys, each in its domain."""
        for key in configuration:
            if key not in self.domains:
                raise UserError(f"configuration key {key!r} is not in the space", did_you_mean(key, list(self.domains)))
        for key, domain in self.domains.items():
            if key not in configuration:
                raise UserError(f"the configuration lacks {key!r}", "every key of the space needs a value")
            if not domain.contains(configuration[key]):
                raise UserError(f"{key} = {configuration[key]!r} is out of range", f"its domain is {domain.spec()!r}")

    def spec(self) -> dict[str, Any]:
        """Return the form that `parse` reads."""
        return {key: domain.spec() for key, domain in self.domains.items()}


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
