"""Searchers propose configurations from what was measured: the interface, and what one is made from."""

from __future__ import annotations

import abc
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from definitions.space import SearchSpace
from definitions.valid import Rule, parse_rule


@dataclass(frozen=True)
class Observation:
    """A value that an evaluation reached.

    Args:
        evaluation: its id; a later observation of it replaces an earlier one, but for searchers that look at levels.
        configuration: its configuration.
        value: of the primary objective, the sign turned so that less is better.
        level: fidelity level; None where there is none.
    """

    evaluation: int
    configuration: Mapping[str, Any]
    value: float
    level: float | None = None


@dataclass(frozen=True)
class SearcherSpec:
    """What a searcher is made from, in any process.

    Args:
        kind: its name in `KINDS`.
        space: the search space.
        seed: the experiment's seed.
        arguments: the method's arguments.
        rules: what configurations must meet.
        full: full fidelity level; None where there is none.
    """

    kind: str
    space: SearchSpace
    seed: int
    arguments: Mapping[str, Any] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    full: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the form that `from_json` reads."""
        arguments = {name: value for name, value in self.arguments.items() if isinstance(value, (bool, int, float, str, type(None)))}
        return {
            "kind": self.kind,
            # A list, as the order of the keys is the order of the dimensions.
            "space": list(self.space.spec().items()),
            "seed": self.seed,
            "arguments": arguments,
            "rules": [rule.text for rule in self.rules],
            "full": self.full,
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> SearcherSpec:
        """Return what `to_json` was called on."""
        space = SearchSpace.parse(dict(form["space"]))
        rules = tuple(parse_rule(text) for text in form["rules"])
        return cls(form["kind"], space, form["seed"], form["arguments"], rules, form["full"])

    def source(self, number: int) -> random.Random:
        """Return the generator of the `number`-th proposal."""
        return random.Random(f"{self.kind}-{self.seed}-{number}")

    def candidates(self, source: random.Random, count: int) -> list[dict[str, Any]]:
        """Return up to `count` configurations drawn at random that meet the rules."""
        found: list[dict[str, Any]] = []
        for _ in range(20 * count):
            configuration = self.space.sample(source)
            if all(rule.holds(configuration) for rule in self.rules):
                found.append(configuration)
                if len(found) == count:
                    break
        return found


class Searcher(abc.ABC):
    """Proposes configurations. What it proposes depends on its spec, the observations in their order, and the call's number alone."""

    @abc.abstractmethod
    def observe(self, observation: Observation) -> None:
        """Take a measured value in."""

    @abc.abstractmethod
    def propose(self, number: int, pending: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return configurations worth evaluating next, the best first; empty where a random one is as good.

        Args:
            number: which suggestion of the experiment this is; the source of all randomness.
            pending: configurations that run or have been suggested.
        """
