"""Stretching a ladder until its lowest rung trains long enough to say something, by one probe. Deterministic.

A canary that mostly starts up measures start-up. All rungs are stretched by one factor, for all configurations alike, so that samples stay
paired and rungs keep their distance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from definitions.instances import is_nominal

PAID_S = 60.0
"""Seconds that a rung is to train where instances are paid; on this machine ladders are left as they are."""

_STARTUPS = 2.0
"""A rung that trains so many times its start-up is long enough, however short."""

_HIGHEST = 0.5
"""Share of the full job that no rung is stretched beyond: a canary that is nearly the job saves nothing."""

_MARGIN = 1.1
"""Growth may be slower than the data's."""

MOST_STRETCHES = 2
"""Times that a ladder is stretched; each takes a probe more than the ladder's own canaries."""


def default_seconds(configurations: Sequence[Mapping[str, Any]]) -> float:
    """Return the seconds that a rung is to train where the user has not said: 0, no stretching, but where an instance is paid."""
    types = {str(one["instance_type"]) for one in configurations if one.get("instance_type")}
    return PAID_S if any(not is_nominal(name) for name in types) else 0.0


def long_enough_s(wanted_s: float, startup_s: float | None) -> float:
    """Return the seconds that suffice: those wanted, or twice the start-up where that is less."""
    return wanted_s if not startup_s else min(wanted_s, _STARTUPS * startup_s)


def stretched(ladder: Sequence[float], full: float, factor: float) -> tuple[float, ...]:
    """Return the ladder stretched by a factor, as far as the data allow; whole levels stay whole, others get two digits.

    Args:
        ladder: levels, ascending.
        full: level of the full job.
        factor: above 1.
    """
    # The highest rung sets the limit for all, as one factor keeps the rungs' distances; a ladder that is beyond it already stays.
    most = max(ladder[-1], _HIGHEST * full)
    factor = min(factor, most / ladder[-1])
    if factor <= 1.0:
        return tuple(ladder)
    if all(isinstance(level, int) for level in ladder):
        # Rounded up, so that no rung trains shorter than asked; the slack keeps 3 * 1.0000000001 from becoming 4.
        return tuple(min(math.ceil(level * factor - 1e-9), math.floor(most)) for level in ladder)
    return tuple(min(_two_digits_up(level * factor), most) for level in ladder)


def _two_digits_up(value: float) -> float:
    # Two significant digits, as fractions such as 0.0213 are read by people.
    digits = 1 - math.floor(math.log10(value))
    return math.ceil(value * 10**digits - 1e-9) / 10**digits if digits >= 0 else float(math.ceil(value))


class Stretch:
    """A ladder that is stretched by what its first canaries measured.

    Args:
        ladder: levels, ascending.
        full: level of the full job.
        wanted_s: seconds that the lowest rung is to train; 0 for the ladder as it is.
    """

    def __init__(self, ladder: Sequence[float], full: float, wanted_s: float) -> None:
        self.ladder = tuple(ladder)
        self._full, self._wanted_s = full, wanted_s
        self._probes = 0
        self.settled = wanted_s <= 0

    def keep(self) -> None:
        """Leave the ladder as it is, as nothing can be measured."""
        self.settled = True

    def update(self, values: Mapping[str, float]) -> None:
        """Take in what the probe at the lowest rung measured, under the names of a canary table's columns."""
        self._probes += 1
        # Where the script does not mark its training, all but the start-up counts as training.
        startup_s = values.get("startup_s")
        trained_s = values.get("train_s", values.get("total_s", 0.0) - (startup_s or 0.0))
        wanted_s = long_enough_s(self._wanted_s, startup_s)
        if trained_s >= wanted_s or self._probes > MOST_STRETCHES:
            self.settled = True
            return
        # In proportion to the data, and a margin on top; the next probe tells whether that was enough.
        longer = stretched(self.ladder, self._full, wanted_s / max(trained_s, 1e-3) * _MARGIN)
        # A ladder that the data do not let grow any more would be probed again in vain.
        self.settled = longer == self.ladder
        self.ladder = longer
