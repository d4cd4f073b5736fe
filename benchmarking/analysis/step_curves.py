"""Best-so-far as a step function of time, trials or money, and what is read off it: values at a budget, regret, when a target was reached.

Nothing is known before the first result, and nothing is filled in: a curve is undefined there. Pure.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from definitions.schema import Mode


@dataclass(frozen=True)
class StepCurve:
    """A function that keeps its value from each step to the next.

    Args:
        at: (n,) where it steps, ascending, without doubles.
        values: (n,) what it is from there on.
        end: how far it is known; what lies beyond was not run.
    """

    at: Sequence[float]
    values: Sequence[float]
    end: float

    def __call__(self, x: float) -> float | None:
        """Return the value at x; None before the first step and after the end."""
        index = bisect.bisect_right(self.at, x)
        return None if index == 0 or x > self.end else self.values[index - 1]

    def reached(self, target: float, mode: Mode) -> float | None:
        """Return where the curve is first as good as a target; None where it never is: then it is censored at `end`."""
        sign = 1.0 if mode == "min" else -1.0
        return next((at for at, value in zip(self.at, self.values, strict=True) if sign * value <= sign * target), None)

    def mean_regret(self, best: float, until: float, since: float | None = None) -> float | None:
        """Return the area between the curve and a best known value, divided by its length, so that it has the objective's unit.

        Args:
            best: the value.
            until: where the area ends; None is returned where the curve is not known so far.
            since: where it begins; None for the first step. None is returned where it is before the first step, or not before `until`.
        """
        begin_at = (self.at[0] if self.at else math.inf) if since is None else since
        if not self.at or begin_at < self.at[0] or until <= begin_at or until > self.end:
            return None
        ends = [*self.at[1:], math.inf]
        area = math.fsum(
            abs(value - best) * (min(end, until) - max(begin, begin_at))
            for begin, end, value in zip(self.at, ends, self.values, strict=True)
            if begin < until and end > begin_at
        )
        return area / (until - begin_at)


def censored_median(values: Sequence[float | None]) -> float | None:
    """Return the median of waits of which some were not over yet: those count as longer than all that were.

    Args:
        values: (n,) how long each took; None where it was not over.

    Returns:
        None where the middle is not known, or nothing was measured.
    """
    ordered = sorted(math.inf if value is None else value for value in values)
    if not ordered:
        return None
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return middle if math.isfinite(middle) else None


def best_so_far(results: Iterable[tuple[float, float]], mode: Mode, end: float) -> StepCurve:
    """Return the best value up to each point.

    Args:
        results: (where it was known, value), in any order; values that are not finite count as no result.
        mode: whether less or more is better.
        end: how far the experiment went.
    """
    at: list[float] = []
    values: list[float] = []
    sign = 1.0 if mode == "min" else -1.0
    for x, value in sorted((x, sign * value) for x, value in results if math.isfinite(value)):
        if values and value >= values[-1]:
            continue
        if at and at[-1] == x:
            values[-1] = value
        else:
            at.append(x)
            values.append(value)
    return StepCurve(tuple(at), tuple(sign * value for value in values), max(end, at[-1] if at else end))
