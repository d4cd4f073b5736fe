"""Where the time of a call goes: the model, the service around it, and the network, by CloudWatch and by the client. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarking.analysis.service_shares import LOADING, MODEL, NETWORK, OVERHEAD
from benchmarking.controller.rows import TrialState
from benchmarking.figures.data import BarPanel, BarStack, Figure, PlotAxis
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.load_curves import MOST_DEPLOYMENTS
from benchmarking.figures.load_reports import deployment_text, varied_keys
from benchmarking.figures.short_names import changed, short_names


def load_calls_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return a panel for each benchmark with a bar for each deployment: milliseconds of the mean call, one part upon the other.

    Args:
        experiments: (n,) in any order; of several seeds the first one that has any is drawn.
    """
    found: dict[str, dict[str, TrialState]] = {}
    for one in sorted(experiments, key=lambda one: one.run.number):
        known = [trial for trial in one.trials if trial.value_of(MODEL) is not None]
        varied = varied_keys([trial.configuration for trial in known])
        if known:
            found.setdefault(one.run.benchmark, {deployment_text(trial.configuration, varied): trial for trial in known})
    notes, panels = [], []
    short = short_names([name for trials in found.values() for name in trials])
    for benchmark, trials in found.items():
        kept = dict(list(trials.items())[:MOST_DEPLOYMENTS])
        if len(trials) > len(kept):
            notes.append(f"{benchmark}: the first {len(kept)} of {len(trials)} deployments.")
        bars = PlotAxis("", categories=tuple(short[name] for name in kept))
        panels.append(BarPanel(f"{benchmark}: the mean call", bars, PlotAxis("time", "ms", better="min"), _stacks([*kept.values()])))
    notes.append(
        "By CloudWatch, of all calls of a trial; the network and the client's own reading are what is left of the client's mean."
        if panels
        else "No service says where the time of its calls went."
    )
    return Figure("load_calls", "Where the time of a call goes", tuple(panels), tuple(notes), changed(short))


def _stacks(trials: Sequence[TrialState]) -> tuple[BarStack, ...]:
    def values(name: str) -> list[float]:
        return [trial.value_of(name) or 0.0 for trial in trials]

    loading = values(LOADING)
    overhead = [max(0.0, whole - wait) for whole, wait in zip(values(OVERHEAD), loading, strict=True)]
    parts = {"model": values(MODEL), "model is loaded": loading, "service": overhead, "network, client": values(NETWORK)}
    return tuple(BarStack(name, tuple(max(0.0, value) for value in found)) for name, found in parts.items() if any(found))
