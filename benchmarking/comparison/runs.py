"""What an experiment came to, as a comparison needs it: each result with the clock, the trials and the money at which it was known."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from benchmarking.analysis.stand_ins import NO_STAND_INS, StandIns
from benchmarking.analysis.step_curves import StepCurve, best_so_far
from definitions.schema import Mode


class Axis(StrEnum):
    """What best-so-far is a function of."""

    WALLCLOCK = "wallclock"
    """Seconds that controllers ran since the first job began; what they waited for and the time in which none ran are left out."""
    TRIALS = "trials"
    """Trials that came to an end, failed and stopped ones too."""
    COST = "cost"
    """Dollars of all jobs that were closed, failed and stopped ones too."""
    LEVEL = "level"
    """Levels that a trial has passed, e.g. epochs; of any trial, and results below the full level count."""


RUN_KEYS = ("method", "tag", "backend", "region", "workers")
"""What tells experiments apart, besides keys of their configurations."""


class Measurement(NamedTuple):
    """A value of each objective, and when it was known.

    Args:
        evaluation: number of the configuration; `configuration`: it.
        values: objective -> value, the mean of its repeats.
        wallclock, trials, cost: where on each axis it was known; cost is None where a price is unknown.
        full: whether it is of the full fidelity.
        level: that was reached, e.g. epochs; None where the benchmark has none.
    """

    evaluation: int
    configuration: Mapping[str, Any]
    values: Mapping[str, float]
    wallclock: float
    trials: float
    cost: float | None
    full: bool
    level: float | None = None

    def at(self, axis: Axis) -> float | None:
        """Return where on an axis it was known; None where that is not known, or the benchmark has no levels."""
        if axis is Axis.TRIALS:
            return self.trials
        if axis is Axis.COST:
            return self.cost
        return self.level if axis is Axis.LEVEL else self.wallclock


class MeasuredTrial(NamedTuple):
    """A completed trial of the full job: its configuration, which repeat it is, and objective -> value."""

    configuration: Mapping[str, Any]
    repeat: int
    values: Mapping[str, float]


@dataclass(frozen=True)
class ComparedRun:
    """One experiment.

    Args:
        tag, benchmark, method, number, backend: what it is; `number` is that of its seed.
        objectives: name -> mode, the primary one first.
        measurements: in the order in which they were known.
        ends: axis -> how far it went; no money where a price is unknown.
        ended: why it ended; empty where it did not, as it runs or was killed.
        facts: what has to be alike for two runs to be comparable, by field.
        trials: that were completed, each repeat for itself.
        interleaved: whether repeats of different configurations ran in turn, so that those of one number belong together.
        ended_by: the budget or other reason that ended it, in one word; empty where that is not known.
        stood_in: what of it was measured in place of something else.
    """

    tag: str
    benchmark: str
    method: str
    number: int
    backend: str
    objectives: Mapping[str, Mode]
    measurements: Sequence[Measurement]
    ends: Mapping[Axis, float]
    ended: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    trials: Sequence[MeasuredTrial] = ()
    interleaved: bool = False
    ended_by: str = ""
    stood_in: StandIns = NO_STAND_INS

    @property
    def about(self) -> dict[str, str]:
        """Its values of `RUN_KEYS`."""
        given = (self.method, self.tag, self.backend, self.facts.get("region", ""), self.facts.get("workers", ""))
        return dict(zip(RUN_KEYS, given, strict=True))

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return f"{self.benchmark} x {self.method} x seed {self.number} of {self.tag}"

    def curve(self, objective: str, axis: Axis, *, any_level: bool = False) -> StepCurve:
        """Return the best value of an objective so far.

        Args:
            objective: its name.
            axis: as a function of what.
            any_level: whether results below the full fidelity count.
        """
        found = [
            (at, one.values[objective])
            for one in self.measurements
            if (one.full or any_level or axis is Axis.LEVEL) and objective in one.values and (at := one.at(axis)) is not None
        ]
        return best_so_far(found, self.objectives[objective], self.ends.get(axis, -math.inf))

    @property
    def content(self) -> tuple[Any, ...]:
        """What it measured, without when: equal for two seeds that ran the same and got the same."""
        return tuple((tuple(sorted(map(str, one.configuration.items()))), tuple(sorted(one.values.items()))) for one in self.measurements)


def distinct(runs: Sequence[ComparedRun]) -> tuple[list[ComparedRun], dict[int, list[int]]]:
    """Return the runs of one method without those that measured exactly what another did.

    Returns:
        The runs that count, and for each of their numbers those of the seeds that are the same run (only where there are any).
    """
    kept: list[ComparedRun] = []
    copies: dict[int, list[int]] = {}
    with_values: dict[tuple[Any, ...], list[ComparedRun]] = {}
    for run in runs:
        # All that they measured is compared only where the first, the middle and the last are the same: else it takes a second.
        found = run.measurements
        some = [found[place].values for place in (0, len(found) // 2, -1)] if found else []
        alike = with_values.setdefault((len(found), *(value for values in some for value in values.values())), [])
        same = next((other for other in alike if other.content == run.content), None) if run.measurements else None
        if same is None:
            kept.append(run)
            alike.append(run)
        else:
            copies.setdefault(same.number, []).append(run.number)
    return kept, copies


def axes_of(runs: Sequence[ComparedRun]) -> Iterator[Axis]:
    """Yield the axes on which all runs can be compared."""
    for axis in Axis:
        if all(axis in run.ends for run in runs):
            yield axis
