"""Configurations as vectors in the unit cube and back, for model-based methods: quantiles of ordered domains, one-hot for the others."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from typing import Any

from definitions.space import Choice, Constant, Domain, Interval, SearchSpace
from definitions.valid import Rule


class Encoding:
    """Encodes the dimensions of a space that vary.

    Args:
        space: the search space.
    """

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        self._constants = {key: domain.at(0.0) for key, domain in space.domains.items() if domain.size == 1}
        self.varied = {key: domain for key, domain in space.domains.items() if key not in self._constants}
        self.unordered = {key: domain for key, domain in self.varied.items() if isinstance(domain, Choice) and not domain.ordered}
        self._quantiles: dict[tuple[str, Any], float] = {}

    @property
    def width(self) -> int:
        """Length of a vector."""
        return sum(len(self.unordered[key].values) if key in self.unordered else 1 for key in self.varied)

    def vector(self, configuration: Mapping[str, Any]) -> list[float]:
        """Return a configuration as a vector of `width` numbers in [0, 1]."""
        found: list[float] = []
        for key, domain in self.varied.items():
            if key in self.unordered:
                position = index_of(self.unordered[key].values, configuration[key])
                found += [1.0 if position == k else 0.0 for k in range(len(self.unordered[key].values))]
            else:
                found.append(self._quantile(key, domain, configuration[key]))
        return found

    def marks(self, configuration: Mapping[str, Any]) -> dict[str, float | int]:
        """Return a configuration with each varied dimension as a quantile, or as the index of the value where it is unordered."""
        return {
            key: index_of(self.unordered[key].values, configuration[key])
            if key in self.unordered
            else self._quantile(key, domain, configuration[key])
            for key, domain in self.varied.items()
        }

    def position(self, key: str, value: Any) -> int:
        """Return the index of a value among those of a finite dimension."""
        return index_of(self.varied[key].grid(0), value)

    def _quantile(self, key: str, domain: Domain, value: Any) -> float:
        if domain.size is None or isinstance(value, bool):
            return quantile(domain, value)
        if (key, value) not in self._quantiles:
            self._quantiles[key, value] = quantile(domain, value)
        return self._quantiles[key, value]

    def configuration(self, marks: Mapping[str, float | int]) -> dict[str, Any]:
        """Return the configuration that `marks` came from."""
        found: dict[str, Any] = {}
        for key, domain in self.space.domains.items():
            if key in self._constants:
                found[key] = self._constants[key]
            elif key in self.unordered:
                found[key] = self.unordered[key].values[int(marks[key])]
            else:
                found[key] = domain.at(min(max(float(marks[key]), 0.0), 1.0))
        return found


def quantile(domain: Domain, value: Any) -> float:
    """Return a `u` in [0, 1] such that `domain.at(u)` is the value, in the middle of those for which it is; finite domains need order."""
    if isinstance(domain, Interval) and domain.size is None:
        return _scaled(domain, value)
    if isinstance(domain, Interval) and domain.integer and domain.quantum is None:
        lower, upper = domain.lower - 0.5, domain.upper + 0.5
        return _scaled(Interval(lower, upper, domain.scale), value)
    if isinstance(domain, Constant):
        return 0.5
    # Any other domain is finite and ascends with u: the ends of the stretch that yields the value are found by bisection.
    values = domain.grid(0)
    position = index_of(values, value)
    below = bisect.bisect_left(_Positions(domain, values), position)
    above = bisect.bisect_left(_Positions(domain, values), position + 1)
    return (below + above) / 2 / _STEPS


def index_of(values: Sequence[Any], value: Any) -> int:
    """Return where a value is among a domain's values; numbers match up to rounding, and true is not 1."""
    for position, known in enumerate(values):
        if isinstance(known, bool) == isinstance(value, bool) and known == value:
            return position
    if isinstance(value, (int, float)):
        for position, known in enumerate(values):
            if isinstance(known, (int, float)) and math.isclose(known, value, rel_tol=1e-9, abs_tol=1e-12):
                return position
    raise ValueError(f"{value!r} is none of {list(values)[:20]!r}")


_STEPS = 1 << 20


class _Positions:
    """The index of `domain.at(k / _STEPS)` by k, as a sequence to bisect."""

    def __init__(self, domain: Domain, values: Sequence[Any]) -> None:
        self._domain, self._values = domain, values

    def __len__(self) -> int:
        return _STEPS

    def __getitem__(self, k: int) -> int:
        return index_of(self._values, self._domain.at(k / _STEPS))


def _scaled(domain: Interval, value: float) -> float:
    lower, upper = domain.lower, domain.upper
    if domain.scale == "log":
        found = (math.log(value) - math.log(lower)) / (math.log(upper) - math.log(lower))
    elif domain.scale == "reverselog":
        low, high = math.log1p(-lower), math.log1p(-upper)
        found = (math.log1p(-value) - low) / (high - low)
    else:
        found = (value - lower) / (upper - lower)
    return min(max(found, 0.0), 1.0)


def allowed(configuration: Mapping[str, Any], rules: Sequence[Rule]) -> bool:
    """Return whether a configuration meets all `valid` rules."""
    return all(rule.holds(configuration) for rule in rules)
