"""Rate and latency over load, with errors below: a line for each deployment that was under load. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarking.figures.data import Curve, Figure, FigurePanel, LinePanel, PlotAxis
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.load_reports import LoadPoint, deployment_text, varied_keys
from benchmarking.figures.short_names import changed, short_names

MOST_DEPLOYMENTS = 12
_LOADS = {"rate": PlotAxis("rate asked for", "1/s"), "users": PlotAxis("users")}


def load_curves_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return three panels one below the other for each benchmark and kind of load: rate, latency, share of errors.

    Of several seeds the first one that has any is drawn, and of probes of one rate the last.

    Args:
        experiments: (n,) in any order.
    """
    panels: list[FigurePanel] = []
    notes: list[str] = []
    texts: list[str] = []
    drawn: dict[tuple[str, str], dict[str, list[LoadPoint]]] = {}
    for one in sorted(experiments, key=lambda one: one.run.number):
        for kind, lines in _lines(one).items():
            drawn.setdefault((one.run.benchmark, kind), lines)
    for (benchmark, kind), lines in drawn.items():
        kept = dict(list(lines.items())[:MOST_DEPLOYMENTS])
        if len(lines) > len(kept):
            notes.append(f"{benchmark}: the first {len(kept)} of {len(lines)} deployments.")
        texts += kept
        panels += _panels(benchmark, kind, kept, short_names(kept))
    if not panels:
        notes.append("No trial put load on an endpoint.")
    else:
        notes.append("Latency is from the intended start of each request; a request that failed counts as its whole time limit.")
    return Figure("load_curves", "Rate and latency over load", tuple(panels), tuple(notes), changed(short_names(texts)))


def _lines(one: DetailedExperiment) -> dict[str, dict[str, list[LoadPoint]]]:
    """Return the points of each deployment by kind of load."""
    varied = varied_keys([trial.configuration for trial in one.trials if trial.trial in one.loads])
    found: dict[str, dict[str, list[LoadPoint]]] = {}
    for trial in one.trials:
        name = deployment_text(trial.configuration, varied)
        for kind, point in one.loads.get(trial.trial, ()):
            found.setdefault(kind, {}).setdefault(name, []).append(point)
    return found


def _panels(benchmark: str, kind: str, lines: Mapping[str, Sequence[LoadPoint]], short: Mapping[str, str]) -> list[FigurePanel]:
    load = _LOADS[kind]
    ordered = {
        name: sorted({point.load: point for point in points}.values(), key=lambda point: point.load) for name, points in lines.items()
    }
    rate = [
        Curve(short[name], [point.load for point in points], [point.achieved_per_s for point in points], group=name)
        for name, points in ordered.items()
    ]
    errors = [
        Curve(short[name], [point.load for point in points], [100 * point.error_share for point in points], group=name)
        for name, points in ordered.items()
    ]
    latency = []
    for percentile in (50, 99):
        for name, points in ordered.items():
            known = [point for point in points if point.latency_ms.get(percentile, 0.0) > 0]
            if known:
                values = [point.latency_ms[percentile] for point in known]
                latency.append(Curve(f"{short[name]}, p{percentile}", [point.load for point in known], values, group=name))
    return [
        LinePanel(f"{benchmark}: answered a second", load, PlotAxis("rate", "1/s", better="max"), rate),
        LinePanel(f"{benchmark}: latency", load, PlotAxis("latency", "ms", log=True, better="min"), latency),
        LinePanel(f"{benchmark}: errors", load, PlotAxis("errors", "%", better="min"), errors),
    ]
