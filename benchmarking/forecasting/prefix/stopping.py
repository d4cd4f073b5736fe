"""When a prefix of the full job has told enough. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.forecasting.running.projection import Openness, project_latest
from definitions.schema import PerJob, Progressive

MOST_S = 300.0
"""Seconds that a prefix runs at most where nobody says otherwise."""

MOST_SHARE = 0.1
"""Share of what the whole job is forecast to take that it runs at most, likewise."""

_LEAST_CPU_S, _LEAST_WALL_S = 1.0, 10.0
"""Processor seconds that the loop has had at least before it is stopped by what it told, or seconds of the clock: on a busy machine it may
have had next to none of a second, and a job that waits for data never gets many. Start-up and loading may be more than a tenth of a job."""

_FOR_GOOD = (Openness.NO_TOTAL, Openness.TOTAL_CHANGES, Openness.WENT_BACK, Openness.PAST_TOTAL)


@dataclass(frozen=True)
class PrefixRule:
    """When a prefix is stopped.

    Args:
        width: half of the 80 % interval of the job's forecast, as a share of its median, that is narrow enough.
        prefix_s: most seconds that it runs; None for the smaller of `MOST_S` and `MOST_SHARE` of the forecast.
        steps: that it has behind it at least, beyond the first one that it told of.
        share: of the forecast that it runs at most, where `prefix_s` is None.
        has_levels: whether how much there is to do follows from the levels that it will report, if it counts steps alone.
    """

    width: float = 0.15
    prefix_s: float | None = None
    steps: int = 3
    share: float = MOST_SHARE
    has_levels: bool = False

    def longer(self, times: int) -> PrefixRule:
        """Return the rule of a prefix that tells more: half as wide, and twice as long, so many times."""
        return replace(self, width=self.width / 2**times, share=min(0.5, self.share * 2**times), steps=self.steps * 2**times)

    @classmethod
    def of(cls, fidelity: object) -> PrefixRule:
        """Return the rule of a definition's fidelity; the default one of those that have none."""
        if isinstance(fidelity, PerJob):
            given = {name: getattr(fidelity, name) for name in ("width", "prefix_s", "steps")}
            return cls(**{name: value for name, value in given.items() if value is not None})
        return cls(has_levels=isinstance(fidelity, Progressive))

    @property
    def most_s(self) -> float:
        """Seconds after which it is stopped whatever it has told; the loop sees to that, as a script may say nothing at all."""
        return MOST_S if self.prefix_s is None else self.prefix_s


def is_enough(curve: ProgressCurve, rule: PrefixRule) -> bool:
    """Return whether a prefix has told enough to be stopped.

    Never before start-up, loading and its first unsteady steps are behind it, as there is no forecast before. A job whose loop is
    through is left to its end: what comes after the loop is then measured and not guessed.

    Args:
        curve: what it has said so far.
        rule: when it is stopped.
    """
    first, last = curve.points[0], curve.points[-1]
    if last.done - first.done < rule.steps or (curve.total is not None and last.done == curve.total):
        return False
    # Of what may stop early the time of all that it may do is looked at: how much of that it will do no beginning tells.
    found = project_latest(curve)
    if isinstance(found, Openness):
        # More of the same would tell no more; that it is too early passes.
        return found in _FOR_GOOD and not (found is Openness.NO_TOTAL and rule.has_levels)
    share_s = rule.share * found.median_s if rule.prefix_s is None else rule.prefix_s
    has_worked = last.cpu_s - first.cpu_s >= _LEAST_CPU_S or last.elapsed_s - first.elapsed_s >= _LEAST_WALL_S
    return (has_worked and (found.width <= rule.width or last.elapsed_s >= share_s)) or last.elapsed_s >= rule.most_s
