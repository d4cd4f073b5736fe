"""Stretching a ladder until its highest rung trains long enough to say something, by one probe of the lowest. Deterministic.

How far forecasts are off follows what the largest canary trains: below 0.3 s 86 %, above 3 s 8 %. What counts is processor time in the fit,
on this machine as in the cloud, however long a job starts up. All rungs are stretched by one factor, for all configurations alike, so that
samples stay paired and rungs keep their distance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

TRAINED_S = 3.0
"""Seconds of processor time that the fit of the highest rung is to take where the user has not said."""

_HIGHEST = 0.5
"""Share of the full job that no rung is stretched beyond: a canary that is nearly the job saves nothing."""

_MARGIN = 1.1
"""Growth may be slower than the data's."""

MOST_STRETCHES = 2
"""Times that a ladder is stretched; each takes a probe more than the ladder's own canaries."""


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
        wanted_s: seconds of processor time that the highest rung is to train; 0 for the ladder as it is.
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
        # Where the script does not mark its training, all but the start-up counts as training; without its processor time, all time.
        rest_s = values.get("total_s", 0.0) - values.get("startup_s", 0.0)
        trained_s = values.get("train_cpu_s", values.get("train_s", min(rest_s, values.get("cpu_s", rest_s))))
        # What the highest rung will train, in proportion to the data.
        expected_s = trained_s * self.ladder[-1] / self.ladder[0]
        if expected_s >= self._wanted_s or self._probes > MOST_STRETCHES:
            self.settled = True
            return
        # With a margin on top, as growth may be slower; the next probe tells whether that was enough.
        longer = stretched(self.ladder, self._full, self._wanted_s / max(expected_s, 1e-3) * _MARGIN)
        # A ladder that the data do not let grow any more would be probed again in vain.
        self.settled = longer == self.ladder
        self.ladder = longer
