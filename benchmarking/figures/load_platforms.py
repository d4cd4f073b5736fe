"""Platforms side by side, any set of them: the largest rate, the least latency, how many copies fit, what a million requests cost. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from benchmarking.controller.retry_policy import as_number
from benchmarking.controller.rows import TrialState
from benchmarking.figures.data import BarPanel, BarStack, Figure, FigurePanel, PlotAxis
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.load_reports import PLATFORM
from benchmarking.figures.short_names import changed, short_names

_SHOWN: Sequence[tuple[str, PlotAxis, Callable[[Sequence[float]], float]]] = (
    ("max_rate_per_s", PlotAxis("largest rate within the limit", "1/s", better="max"), max),
    ("achieved_per_s", PlotAxis("most answered a second", "1/s", better="max"), max),
    ("latency_p50_ms", PlotAxis("least median latency", "ms", better="min"), min),
    ("max_models", PlotAxis("copies loaded at once", better="max"), max),
    ("usd_per_million", PlotAxis("cost of a million requests", "USD", better="min"), min),
)
"""What is compared: a metric, its axis, and which of several trials counts."""


def load_platforms_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return a panel for each benchmark and figure, with a bar for each platform: the best of its trials that had no error beyond 1 %.

    A platform that failed, or of which a figure is not known, has no bar there.

    Args:
        experiments: (n,) in any order.
    """
    found: dict[str, dict[str, list[TrialState]]] = {}
    for one in experiments:
        for trial in one.trials:
            platform = trial.configuration.get(PLATFORM) or trial.last.get(PLATFORM)
            if platform and any(name in trial.last for name, _, _ in _SHOWN):
                found.setdefault(one.run.benchmark, {}).setdefault(str(platform), []).append(trial)
    panels: list[FigurePanel] = []
    for benchmark, platforms in found.items():
        panels += _panels(benchmark, platforms)
    notes = ["The best trial of each platform, of those with at most 1 % of errors."] if panels else ["No trial names a platform."]
    short = short_names([platform for platforms in found.values() for platform in platforms])
    return Figure("load_platforms", "Platforms side by side", tuple(panels), tuple(notes), changed(short))


def _panels(benchmark: str, platforms: Mapping[str, Sequence[TrialState]]) -> list[FigurePanel]:
    names = sorted(platforms)
    short = short_names(names)
    panels: list[FigurePanel] = []
    for metric, axis, best in _SHOWN:
        values = [_best(platforms[name], metric, best) for name in names]
        if any(value is not None for value in values):
            bars = PlotAxis("platform", categories=tuple(short[name] for name in names))
            panels.append(BarPanel(f"{benchmark}: {axis.title}", bars, axis, (BarStack(axis.title, tuple(values)),)))
    return panels


def _best(trials: Sequence[TrialState], metric: str, best: Callable[[Sequence[float]], float]) -> float | None:
    values = [
        value
        for trial in trials
        if (as_number(trial.last.get("error_share")) or 0.0) <= 0.01
        and (value := as_number(trial.value_of(metric) if metric == "usd_per_million" else trial.last.get(metric))) is not None
    ]
    return best(values) if values else None
