"""A race for what jobs report, as a loss or an accuracy: which canary to run next, and when the best is known. Pure.

Configurations are compared by draws of their learning curves at all of the data (`benchmarking.forecasting.metric`), which are those that
the table of the metric's forecasts shows. Leader against challenger as in `benchmarking.forecasting.ladder.race`: the next run is the next
rung of whichever of the two has climbed less. As long as curves cross nothing is decided, and the one that is best so far climbs too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import COMPLETED, Canary
from benchmarking.forecasting.ladder.race import within_budget
from benchmarking.forecasting.ladder.race_status import RaceDecision, RaceSettings, RaceStatus
from benchmarking.forecasting.metric.curve import MetricCurve
from benchmarking.forecasting.metric.forecast import metric_draws, metric_forecasts

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray
    from definitions.schema import Mode

_CURVE = 2
"""Rungs that a configuration needs before it has a curve."""


def metric_curve(group: Sequence[Canary], metric: str) -> MetricCurve | None:
    """Return what canaries measured of a metric, in shares of the full job; None where they did not."""
    points = [(one.fraction, one.about[metric]) for one in group if one.status == COMPLETED and metric in one.about]
    return MetricCurve(tuple(x for x, _ in points), tuple(y for _, y in points)) if points else None


def metric_race(groups: Mapping[str, Sequence[Canary]], dropped: Sequence[str], settings: RaceSettings, mode: Mode) -> RaceStatus:
    """Return how a race for a metric stands after some canaries; a run that the money does not suffice for is not made.

    Args:
        groups: canaries by configuration, an empty list where there is none yet; what they reported is in their `about`.
        dropped: configurations whose runs failed.
        settings: of the race; its first objective is the metric.
        mode: whether less or more of it is better.
    """
    return within_budget(_standing(groups, dropped, settings, mode), groups, settings)


def _standing(groups: Mapping[str, Sequence[Canary]], dropped: Sequence[str], settings: RaceSettings, mode: Mode) -> RaceStatus:
    metric = settings.objectives[0]
    alive = [name for name in groups if name not in dropped]
    if not alive:
        return RaceStatus(RaceDecision.NOTHING_FITS, None, (), None, 0.0, "no configuration ran to its end")
    # Step 1: a curve of each.
    for level in settings.ladder[:_CURVE]:
        for name in alive:
            if not _runs_at(groups[name], level):
                return RaceStatus(RaceDecision.OPEN, None, (), (name, level, 0), 0.0, "every configuration gets a curve")
    curves = {name: found for name in alive if (found := metric_curve(groups[name], metric)) is not None}
    forecasts, verdict = metric_forecasts(curves, metric, mode, 1.0, settings.confidence)
    if verdict is None:
        return RaceStatus(RaceDecision.NOT_DECIDED, None, (), None, 0.0, f"{metric} was not reported at two rungs")
    said = verdict.text.rstrip(".")
    # Step 2: who may still be the best, the likeliest first.
    ranked = [one.configuration for one in forecasts if one.median is not None]
    leader, drawn = ranked[0], metric_draws(curves, 1.0)
    beats = {name: _share_better(drawn[name], drawn[leader], mode) for name in ranked[1:]}
    out = (1 - settings.confidence) / max(len(beats), 1)
    open_ones = sorted((name for name in beats if beats[name] >= out), key=lambda name: -beats[name])
    tied = (leader, *open_ones[: settings.least])
    if verdict.is_decided:
        return RaceStatus(RaceDecision.DECIDED, leader, (leader,), None, verdict.sure, said)
    # Step 3: the next rung of the leader, its challenger, or the one that is best so far, whichever has climbed least.
    now = min(ranked, key=lambda name: curves[name].last * (1.0 if mode == "min" else -1.0))
    for pair in ((leader, *open_ones[:1], now), (leader, *open_ones)):
        steps = [step for name in dict.fromkeys(pair) if (step := _next_rung(groups[name], name, settings)) is not None]
        if steps:
            step = min(steps, key=lambda one: (one[1], one[2]))
            return RaceStatus(RaceDecision.OPEN, leader, tied, step, verdict.sure, said)
    return RaceStatus(RaceDecision.NOT_DECIDED, leader, tied, None, verdict.sure, f"every rung is run: {said}")


def _share_better(mine: FloatArray, other: FloatArray, mode: Mode) -> float:
    return float((mine < other if mode == "min" else mine > other).mean())


def _runs_at(group: Sequence[Canary], level: float) -> int:
    return sum(abs(one.fraction - level) < 1e-9 for one in group)


def _next_rung(group: Sequence[Canary], name: str, settings: RaceSettings) -> tuple[str, float, int] | None:
    """Return the lowest rung that a configuration has not run, or its highest once more; None where it has run that often enough."""
    for level in settings.ladder:
        if not _runs_at(group, level):
            return name, level, 0
    repeat = _runs_at(group, settings.ladder[-1])
    return (name, settings.ladder[-1], repeat) if repeat < settings.repeats else None
