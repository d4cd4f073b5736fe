"""Search spaces: named domains, each a quantile function, so that any generator of uniforms can sample them.

A dimension may have a condition on others (`when`), and then exists in those configurations only in which it holds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from definitions.conditions import Conditions, parse_conditions
from definitions.domains import Choice, Constant, Domain, FiniteRange, Interval, NearestOrdinal, same
from definitions.errors import UserError, did_you_mean
from definitions.scalars import is_number

__all__ = [
    "KINDS", "Choice", "Constant", "Domain", "FiniteRange", "Interval", "NearestOrdinal", "SearchSpace", "UniformSource", "parse_domain",
]  # fmt: skip


class UniformSource(Protocol):
    """Anything with `random()` returning floats in [0, 1): `random.Random`, `numpy.random.Generator`."""

    def random(self) -> float:
        """Return the next uniform number in [0, 1)."""
        ...


_INTERVALS = {
    "uniform": ("linear", False),
    "loguniform": ("log", False),
    "reverseloguniform": ("reverselog", False),
    "randint": ("linear", True),
    "lograndint": ("log", True),
}
KINDS = ("choice", "ordinal", "nnordinal", "logordinal", *_INTERVALS, *("q" + kind for kind in _INTERVALS), "finrange", "logfinrange")
"""The words that a domain in a definition may start with."""


def parse_domain(spec: Any, key: str = "") -> Domain:
    """Return the domain that a definition describes: `{choice: [1, 2]}`, `{loguniform: [1e-4, 1e-1]}`, or a constant.

    Args:
        spec: a scalar, or a mapping with one of `KINDS` as its only key beside `when`, which is not read here.
        key: name of the dimension, for messages.

    Raises:
        UserError: unknown kind, no values, or bounds that are no interval.
    """
    if isinstance(spec, Mapping) and "when" in spec:
        spec = {kind: values for kind, values in spec.items() if kind != "when"}
    try:
        return _parse(spec)
    except UserError as error:
        raise UserError(f"space.{key}: {error.asked}", error.fact, error.advice) from None


def _parse(spec: Any) -> Domain:
    if not isinstance(spec, Mapping):
        if isinstance(spec, (list, tuple)):
            raise UserError(f"{list(spec)!r} is no domain", "a list of values is written {choice: [...]}")
        return Constant(spec)
    if "when" in spec:
        raise UserError("a condition inside a condition", f"{dict(spec)!r}", "join them with `and`")
    if len(spec) != 1:
        raise UserError(f"{dict(spec)!r} is no domain", "a domain has one key, e.g. {choice: [1, 2]}", "kinds: " + ", ".join(KINDS))
    kind, values = next(iter(spec.items()))
    if kind not in KINDS:
        raise UserError(f"there is no domain kind {kind!r}", did_you_mean(str(kind), KINDS))
    if not isinstance(values, (list, tuple)):
        raise UserError(f"{kind} needs a list", f"{values!r} was given")
    if kind.endswith(("choice", "ordinal")):
        return _parse_choice(kind, values)
    return _parse_numbers(kind, values)


def _parse_choice(kind: str, values: Any) -> Domain:
    if not values:
        raise UserError(f"{kind} is empty", "there is nothing to choose from", "list at least one value")
    for value in values:
        _check_value(value)
    if _has_twice(values):
        raise UserError(f"{kind} lists a value twice", f"values: {list(values)!r}", "list each value once")
    if kind in ("choice", "ordinal"):
        return Choice(tuple(values), ordered=kind == "ordinal")
    if not all(map(is_number, values)) or list(values) != sorted(values):
        raise UserError(f"{kind} needs ascending numbers", f"{list(values)!r} was given", "for other ordered values write {ordinal: [...]}")
    if kind == "logordinal" and values[0] <= 0:
        raise UserError(f"{kind} starts at {values[0]}", "a log scale needs numbers above 0")
    return NearestOrdinal(tuple(values), "log" if kind == "logordinal" else "linear")


def _has_twice(values: Sequence[Any]) -> bool:
    """Return whether two of the values are the same; a thousand of them take no longer than a thousand looks."""
    plain: set[tuple[bool, Any]] = set()
    others: list[Any] = []
    for value in values:
        try:
            size = len(plain)
            plain.add((isinstance(value, bool), value))
            if len(plain) == size:
                return True
        except TypeError:  # a list or a mapping has no hash, and is the same as nothing that has one
            if any(same(value, other) for other in others):
                return True
            others.append(value)
    return False


def _check_value(value: Any) -> None:
    """Refuse what JSON has no form for, e.g. a date that YAML made of a word; lists and mappings are values like any other."""
    if isinstance(value, Mapping):
        for part in value.values():
            _check_value(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            _check_value(part)
    elif not (value is None or isinstance(value, (bool, int, float, str))):
        raise UserError(f"{value!r} is no value", "values are numbers, text, true/false, null, and lists and mappings of these")


def _parse_numbers(kind: str, values: Any) -> Domain:
    finite, quantised = kind.endswith("finrange"), kind.startswith("q")
    count = 3 if finite or quantised else 2
    whole_flag = finite and len(values) == 4 and isinstance(values[3], bool)
    if (len(values) != count and not whole_flag) or not all(map(is_number, values[:count])):
        form = "[lower, upper, points]" if finite else ("[lower, upper, quantum]" if quantised else "[lower, upper]")
        raise UserError(f"{kind} needs {form}, all numbers", f"{list(values)!r} was given")
    lower, upper = values[0], values[1]
    if finite:
        scale, integer = ("log" if kind == "logfinrange" else "linear"), whole_flag and values[3]
    else:
        scale, integer = _INTERVALS[kind[1:] if quantised else kind]
    if not lower <= upper:
        raise UserError(f"{kind} from {lower} to {upper} is empty", "the lower bound must not exceed the upper one")
    if scale == "log" and lower <= 0:
        raise UserError(f"{kind} starts at {lower}", "a log scale needs a lower bound above 0")
    if scale == "reverselog" and not 0 <= lower <= upper < 1:
        raise UserError(f"{kind} goes from {lower} to {upper}", "a reverse-log scale needs bounds in [0, 1)")
    if finite:
        if values[2] != int(values[2]) or values[2] < 1:
            raise UserError(f"{kind} needs a whole number of points", f"{values[2]!r} was given")
        return FiniteRange(float(lower), float(upper), int(values[2]), scale, integer)
    if integer and any(value != int(value) for value in values):
        raise UserError(f"{kind} needs whole numbers", ", ".join(map(str, values)) + " were given")
    quantum = values[2] if quantised else None
    if quantum is not None and quantum <= 0:
        raise UserError(f"{kind} needs a quantum above 0", f"{quantum} was given")
    number = int if integer else float
    interval = Interval(number(lower), number(upper), scale, integer, None if quantum is None else number(quantum))
    if interval.size == 0:
        raise UserError(f"{kind} from {lower} to {upper} is empty", f"no multiple of {quantum} lies between the bounds")
    return interval


@dataclass(frozen=True)
class SearchSpace:
    """Named domains, in the order of the definition.

    Args:
        domains: of all dimensions.
        conditions: when those of them exist that do not always.
    """

    domains: Mapping[str, Domain]
    conditions: Conditions = field(default_factory=Conditions)

    @classmethod
    def parse(cls, spec: Mapping[str, Any]) -> SearchSpace:
        """Return the space that a definition's `space` describes.

        Raises:
            UserError: as `parse_domain` and `parse_conditions` do.
        """
        texts = {key: value["when"] for key, value in spec.items() if isinstance(value, Mapping) and "when" in value}
        return cls({key: parse_domain(value, key) for key, value in spec.items()}, parse_conditions(texts, tuple(spec)))

    @property
    def size(self) -> int | None:
        """Number of configurations, or None where a dimension is continuous."""
        deciders = self.conditions.deciders
        if not deciders:
            return self._product(self.domains)
        # What decides is counted value by value; all else exists or not for a whole group of configurations, and is multiplied.
        if any(self.domains[key].size is None for key in deciders):
            return None
        total = 0
        for decided in self._combinations(deciders, 0):
            free = self._product(key for key in self.domains if key not in deciders and self.conditions.holds(key, decided))
            if free is None:
                return None
            total += free
        return total

    def active(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of the values, one for each dimension, whose dimensions exist beside the others."""
        if not self.conditions:
            return dict(values)
        found: dict[str, Any] = {}
        for key in self.conditions.order:
            if self.conditions.holds(key, found):
                found[key] = values[key]
        return {key: found[key] for key in self.domains if key in found}

    def sample(self, source: UniformSource) -> dict[str, Any]:
        """Return one configuration, each dimension drawn independently."""
        # All dimensions are drawn, so that what one draw decides does not shift the random numbers of the others.
        return self.active({key: domain.at(source.random()) for key, domain in self.domains.items()})

    def grid(self, points: int) -> Iterator[dict[str, Any]]:
        """Yield every combination once; continuous dimensions contribute `points` values each."""
        if self.conditions:
            for found in self._combinations(self.conditions.order, points):
                yield {key: found[key] for key in self.domains if key in found}
            return
        axes = [domain.grid(points) for domain in self.domains.values()]
        for values in itertools.product(*axes):
            yield dict(zip(self.domains, values, strict=True))

    def check(self, configuration: Mapping[str, Any]) -> None:
        """Raise `UserError` unless the configuration has exactly the keys that exist beside its others, each in its domain."""
        for key in configuration:
            if key not in self.domains:
                raise UserError(f"configuration key {key!r} is not in the space", did_you_mean(key, list(self.domains)))
        for key, domain in self.domains.items():
            exists = self.conditions.holds(key, configuration)
            if exists and key not in configuration:
                raise UserError(f"the configuration lacks {key!r}", "every key of the space needs a value")
            if not exists and key in configuration:
                raise UserError(
                    f"{key} = {configuration[key]!r} beside values that exclude it",
                    f"it exists only when {self.conditions.text(key)}",
                    f"leave {key} out",
                )
            if exists and not domain.contains(configuration[key]):
                raise UserError(f"{key} = {configuration[key]!r} is out of range", f"its domain is {domain.spec()!r}")

    def spec(self) -> dict[str, Any]:
        """Return the form that `parse` reads."""
        return {key: self._spec(key, domain) for key, domain in self.domains.items()}

    def _spec(self, key: str, domain: Domain) -> Any:
        text = self.conditions.text(key)
        if text is None:
            return domain.spec()
        return {"when": text, **({"choice": [domain.spec()]} if isinstance(domain, Constant) else domain.spec())}

    def _combinations(self, keys: Sequence[str], points: int) -> Iterator[dict[str, Any]]:
        """Yield the combinations of some dimensions, given in an order in which each comes after what decides about it."""
        if not keys:
            yield {}
            return
        *before, key = keys
        for found in self._combinations(before, points):
            if not self.conditions.holds(key, found):
                yield found
                continue
            for value in self.domains[key].grid(points):
                yield {**found, key: value}

    def _product(self, keys: Iterable[str]) -> int | None:
        sizes = [self.domains[key].size for key in keys]
        return None if None in sizes else math.prod(size for size in sizes if size is not None)
