"""PBT: population-based training (Jaderberg et al., 2017): what lags is replaced by a changed copy of what leads, from its checkpoint."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from benchmarking.controller.method import Decision, Evaluation, Method, MethodContext, Suggestion
from benchmarking.controller.method_arguments import STARTING_POINTS, Arguments, number, whole
from benchmarking.methods.direction import Primary, need_levels
from benchmarking.methods.points import need_choice
from benchmarking.methods.proposals import Proposals
from benchmarking.methods.searchers.encoding import Encoding
from definitions.errors import UserError

_TRIES = 20
"""Changed copies that may be refused before the copy keeps the configuration as it is."""


@dataclass(slots=True)
class _Member:
    """One evaluation of the population: its last value at an interval, the level of that, and the level that it has reached."""

    configuration: Mapping[str, Any]
    value: float | None = None
    interval_at: float = 0.0
    level: float = 0.0


class PopulationBasedTraining(Method):
    """Trains a population; at intervals a member in the worst quantile is stopped in favour of a copy of one in the best.

    The copy starts from the other's latest checkpoint with a changed configuration: numbers times 0.8 or 1.2, ordered values one step on,
    or drawn anew. A member that has finished is replaced by a random configuration; a copy of one that has finished starts afresh.

    Args:
        context: its fidelity must be progressive.
    """

    arguments: ClassVar[Arguments] = {
        "population_size": whole(4, 2, "members that train at once"),
        "perturbation_interval": number(None, "levels between comparisons (default: a tenth of the full level, at least 1)", above=0),
        "quantile_fraction": number(0.25, "share of the population that is replaced, and that is copied", lower=0.01, upper=0.5),
        "resample_probability": number(0.25, "probability that a dimension is drawn anew", lower=0, upper=1),
        **STARTING_POINTS,
    }
    needs_checkpoints = True
    copies_checkpoints = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where space, fidelity or arguments do not suit."""
        space = need_choice("PBT", context)
        fidelity = need_levels("PBT", context)
        self._level_name, self._full = fidelity.reported_as, float(fidelity.full)
        self._given = context.arguments
        interval = self._given["perturbation_interval"]
        self._interval = float(interval if interval is not None else max(1.0, self._full // 10))
        if self._interval >= self._full:
            raise UserError(
                f"method PBT: perturbation_interval = {self._interval:g}",
                f"it is not below the full level {self._full:g}, so that nothing would ever be copied",
            )
        self._seed = context.seed
        self._primary = Primary(context.objectives)
        self._encoding = Encoding(space)
        self._proposals = Proposals("PBT", context, space)
        self._members: dict[int, _Member] = {}
        self._copies: deque[tuple[int, Mapping[str, Any]]] = deque()
        self._next_interval_at = 0.0

    def suggest(self) -> Suggestion | None:
        """Start the copy that waits longest, from its leader's checkpoint, else fill the population with a random configuration."""
        self._next_interval_at = 0.0
        if self._copies:
            leader, configuration = self._copies.popleft()
            member = self._members.get(leader)
            if member is None or member.level >= self._full:
                # From a checkpoint at the full level nothing would be left to train.
                return Suggestion(configuration)
            self._next_interval_at = member.level
            return Suggestion(configuration, checkpoint_from=leader)
        if len(self._members) >= self._given["population_size"]:
            return None
        drawn = self._proposals.next()
        return None if drawn is None else Suggestion(drawn)

    def ready(self) -> bool:
        """Return whether a copy waits, or the population has room that a random configuration can fill."""
        if self._copies:
            return True
        incomplete = len(self._members) < self._given["population_size"]
        return (incomplete and not self._proposals.exhausted) or not self._members

    def on_trial_add(self, evaluation: Evaluation) -> None:
        """Take the evaluation into the population; a copy's interval begins at the level of its checkpoint."""
        self._members[evaluation.id] = _Member(evaluation.configuration, interval_at=self._next_interval_at)

    def on_trial_result(self, evaluation: Evaluation, result: Mapping[str, Any]) -> Decision:
        """At an interval's end, stop a member of the worst quantile and let a changed copy of a leader wait in its place."""
        level = float(result[self._level_name])
        member = self._members.get(evaluation.id)
        if member is None:
            return Decision.CONTINUE
        member.level = level
        if level >= self._full or level - member.interval_at < self._interval:
            return Decision.CONTINUE
        member.value, member.interval_at = self._primary.value(result), level
        leaders = self._leaders_over(evaluation.id)
        if not leaders:
            return Decision.CONTINUE
        source = random.Random(f"PBT-{self._seed}-{evaluation.id}-{level}")
        leader = source.choice(leaders)
        self._copies.append((leader, self._changed(self._members[leader].configuration, source)))
        return Decision.STOP

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, Any]) -> None:
        """Take the evaluation out of the population."""
        self._members.pop(evaluation.id, None)

    def on_trial_error(self, evaluation: Evaluation) -> None:
        """Take the evaluation out of the population."""
        self._members.pop(evaluation.id, None)

    def on_trial_remove(self, evaluation: Evaluation) -> None:
        """Take the evaluation out of the population."""
        self._members.pop(evaluation.id, None)

    def _leaders_over(self, evaluation: int) -> list[int]:
        """Return the members that may be copied in this one's place; none where it does not lag."""
        ranked = sorted((member.value, key) for key, member in self._members.items() if member.value is not None)
        count = min(math.ceil(len(ranked) * self._given["quantile_fraction"]), len(ranked) // 2)
        if not count or evaluation not in {key for _, key in ranked[-count:]}:
            return []
        return [key for _, key in ranked[:count] if self._members[key].level < self._full]

    def _changed(self, configuration: Mapping[str, Any], source: random.Random) -> Mapping[str, Any]:
        for _ in range(_TRIES):
            space = self._encoding.space
            changed = space.active(
                {
                    # In the order of the space: a recorded configuration has another, and each key draws from the same generator.
                    key: self._changed_value(key, configuration[key], source) if key in configuration else domain.at(source.random())
                    for key, domain in space.domains.items()
                }
            )
            if self.refuse(changed) is None:
                return changed
        return configuration

    def _changed_value(self, key: str, value: Any, source: random.Random) -> Any:
        domain = self._encoding.varied.get(key)
        if domain is None:
            return value
        if source.random() < self._given["resample_probability"]:
            return domain.at(source.random())
        if key in self._encoding.unordered:
            return value
        factor = source.choice((0.8, 1.2))
        return domain.scaled(value, factor)
