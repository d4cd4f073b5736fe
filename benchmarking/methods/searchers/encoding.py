"""Configurations as vectors in the unit cube and back, for model-based methods: quantiles of ordered domains, one-hot for the others."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from definitions.configuration import configuration_id
from definitions.domains import Domain
from definitions.finite_values import index_of
from definitions.space import SearchSpace
from definitions.valid import Rule

_MIDDLE = 0.5


class Encoding:
    """Encodes the dimensions of a space that vary.

    Args:
        space: the search space.
    """

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        # A dimension with one value tells no two configurations apart; left out, it costs models no column.
        self._constants = {key: domain.at(0.0) for key, domain in space.domains.items() if domain.size == 1}
        self.varied = {key: domain for key, domain in space.domains.items() if key not in self._constants}
        self.unordered = {key: domain for key, domain in self.varied.items() if not domain.is_ordered}
        self._quantiles: dict[tuple[str, Any], float] = {}

    @property
    def width(self) -> int:
        """Length of a vector."""
        return sum(self.unordered[key].size or 0 if key in self.unordered else 1 for key in self.varied)

    def vector(self, configuration: Mapping[str, Any]) -> list[float]:
        """Return a configuration as a vector of `width` numbers in [0, 1]."""
        found: list[float] = []
        for key, domain in self.varied.items():
            # A dimension that does not exist gets the same value wherever it does not: what decides about it tells those configurations
            # apart already. For a number that is the middle, as far from either end as can be; for words it is no word.
            if key not in configuration:
                found += [0.0] * (self.unordered[key].size or 0) if key in self.unordered else [_MIDDLE]
            # Words have no order, so each gets a column of its own (one-hot): all are equally far from one another.
            elif key in self.unordered:
                position = index_of(self.unordered[key].grid(0), configuration[key])
                found += [1.0 if position == k else 0.0 for k in range(self.unordered[key].size or 0)]
            # Numbers by their quantile: what the space calls equally likely is equally far apart, logarithmic or not.
            else:
                found.append(self._quantile(key, domain, configuration[key]))
        return found

    def marks(self, configuration: Mapping[str, Any]) -> dict[str, float | int]:
        """Return a configuration with each varied dimension as a quantile, or as the index of the value where it is unordered.

        One that does not exist gets an arbitrary value, uniform over configurations: to a model of densities it says nothing then, where a
        constant would make a peak.
        """
        whole = self._filled(configuration)
        return {
            key: index_of(self.unordered[key].grid(0), whole[key]) if key in self.unordered else self._quantile(key, domain, whole[key])
            for key, domain in self.varied.items()
        }

    def _filled(self, configuration: Mapping[str, Any]) -> Mapping[str, Any]:
        missing = [key for key in self.varied if key not in configuration]
        if not missing:
            return configuration
        source = random.Random(configuration_id(configuration))
        return {**configuration, **{key: self.varied[key].at(source.random()) for key in missing}}

    def _quantile(self, key: str, domain: Domain, value: Any) -> float:
        # Finite domains search for a value's quantile, so it is kept; continuous ones compute it. True would be found under the key 1, and
        # lists are under none.
        if domain.size is None or isinstance(value, (bool, list, tuple, dict)):
            return domain.quantile(value)
        if (key, value) not in self._quantiles:
            self._quantiles[key, value] = domain.quantile(value)
        return self._quantiles[key, value]

    def configuration(self, marks: Mapping[str, float | int]) -> dict[str, Any]:
        """Return the configuration that `marks` came from."""
        found: dict[str, Any] = {}
        for key, domain in self.space.domains.items():
            if key in self._constants:
                found[key] = self._constants[key]
            elif key in self.unordered:
                found[key] = self.unordered[key].grid(0)[int(marks[key])]
            else:
                # A model's proposal may lie outside the cube by rounding.
                found[key] = domain.at(min(max(float(marks[key]), 0.0), 1.0))
        return self.space.active(found)


def allowed(configuration: Mapping[str, Any], rules: Sequence[Rule]) -> bool:
    """Return whether a configuration meets all `valid` rules."""
    return all(rule.holds(configuration) for rule in rules)
