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

    def mean_regret(self, best: float, until: float) -> float | None:
        """Return the mean distance from a best known value, from the first step to `until`; None where that is not after the first step.

        Divided by the length, so that it has the objective's unit.
        """
        if not self.at or until <= self.at[0] or until > self.end:
            return None
        ends = [*self.at[1:], math.inf]
        area = math.fsum(
            abs(value - best) * (min(end, until) - begin)
            for begin, end, value in zip(self.at, ends, self.values, strict=True)
            if begin < until
        )
        return area / (until - self.at[0])


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
