"""What an experiment's canaries say: the forecasts, and the two tables at the end of a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.controller.state import ExperimentState
from benchmarking.forecasting.data.canary import COMPLETED, Canary, CanaryTable, by_configuration
from benchmarking.forecasting.data.experiment import canaries_of
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.fit import fit_all
from benchmarking.forecasting.model.result import Forecast
from benchmarking.forecasting.recommendation import MORE, raced_metric, ranked, recommendation, sureness, usable
from benchmarking.forecasting.render import readable, summary_rows
from benchmarking.report.text import table
from definitions.schema import BenchmarkDefinition

_MOST, _MOST_RUNS = 10, 24
"""Rows of the two tables that are printed; the files have all."""


def forecasts_of(definition: BenchmarkDefinition, state: ExperimentState, question: Question) -> list[Forecast]:
    """Return the forecasts that an experiment's canaries allow; full runs of the same configurations do not enter them."""
    table = canaries_of(definition, state)
    small = [canary for canary in table.canaries if not canary.is_full]
    return forecast(CanaryTable(tuple(small), table.notes), question) if small else []


def raw_rows(table: CanaryTable) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of the raw measurements: status, fraction, job, sample, times, and of what was sampled the mean and p99.

    A column that nothing was measured for is left out.
    """
    header = ["configuration", "status", "fraction", "repeat", "job", "manifest", "rows", "total_s", "train_s", "cpu_s"]
    rows: list[list[Any]] = [
        [
            canary.configuration, canary.status, canary.fraction, canary.repeat, canary.about.get("job", canary.about.get("trial")),
            canary.about.get("manifest"), None if canary.rows is None else int(canary.rows), canary.total_s, canary.train_s, canary.cpu_s,
        ]
        for canary in table.canaries
    ]  # fmt: skip
    percentages = {"CPU %": "cpu_util", "I/O wait %": "io_wait", "GPU %": "gpu_util"}
    for name, column in percentages.items():
        header += [name, f"{name} p99"]
        for canary, row in zip(table.canaries, rows, strict=True):
            mean = getattr(canary, column, None)
            row += [canary.about.get(column) if mean is None else mean, canary.about.get(f"{column}_p99")]
    for name, mean, peak in (("memory", "rss_mean", "rss_bytes"), ("GPU memory", "gpu_memory_mean", "gpu_bytes")):
        header += [name, f"{name} p99", f"{name} peak"]
        for canary, row in zip(table.canaries, rows, strict=True):
            row += [_size(canary.about.get(mean)), _size(canary.about.get(f"{mean}_p99")), _size(getattr(canary, peak))]
    kept = [k for k in range(len(header)) if k < 5 or any(row[k] is not None for row in rows)]
    return [header[k] for k in kept], [[row[k] for k in kept] for row in rows]


def _size(value: float | None) -> str | None:
    return None if value is None else readable("rss_bytes", value)


@dataclass(frozen=True)
class ForecastOutcome:
    """A forecast and what the full job then measured: `actual` is the mean over `runs`, in the metric's unit."""

    forecast: Forecast
    actual: float
    runs: int

    @property
    def inside(self) -> bool:
        """Whether it lies within the forecast's 90 % interval."""
        low, high = self.forecast.lo90, self.forecast.hi90
        return low is not None and high is not None and low <= self.actual <= high


def measured_outcomes(table: CanaryTable, forecasts: Sequence[Forecast]) -> list[ForecastOutcome]:
    """Return the forecasts of configurations that also ran in full, each with what was measured then.

    Args:
        table: canaries, full runs among them at fraction 1.
        forecasts: made of it.
    """
    full: dict[str, list[Canary]] = {}
    for canary in table.canaries:
        if canary.is_full and canary.status == COMPLETED:
            full.setdefault(canary.configuration, []).append(canary)
    found = []
    for one in forecasts:
        if one.median is None or one.lo90 is None or one.hi90 is None:
            continue
        values = [value for canary in full.get(one.configuration, ()) if (value := getattr(canary, one.metric, None))]
        if values:
            found.append(ForecastOutcome(one, math.fsum(values) / len(values), len(values)))
    return found


def outcomes(table: CanaryTable, forecasts: Sequence[Forecast]) -> list[str]:
    """Return a line for each configuration that also ran in full: what it took beside what was forecast from its canaries."""
    lines = []
    for one in measured_outcomes(table, forecasts):
        made = one.forecast
        if made.metric == "total_s" and made.median is not None:
            took, said = readable("total_s", one.actual), readable("total_s", made.median)
            where = "inside" if one.inside else "outside"
            lines.append(
                f"{made.configuration} ran in full: {took}; forecast {said}, {made.median / one.actual - 1:+.0%}, {where} its 90 % interval"
            )
    return lines


@dataclass(frozen=True)
class Recommended:
    """What an experiment with canaries says of its configurations.

    Args:
        sentence: the recommendation; `metric`: what the configurations are ordered by; `sure`: as `sureness` returns it.
        forecasts: of all configurations, best first; empty where nothing can be forecast.
        best: the configuration that is ahead; empty where none is.
    """

    sentence: str
    metric: str
    sure: float
    forecasts: tuple[Forecast, ...]
    best: str


def answer(definition: BenchmarkDefinition, state: ExperimentState, question: Question, more: str = MORE) -> Recommended:
    """Return what an experiment says to use, by the first objective that is forecast; `more` is as in `recommendation`."""
    canaries = canaries_of(definition, state)
    found = forecasts_of(definition, state, question) if canaries.canaries else []
    metric = raced_metric(dict(definition.objectives), found)
    place = {name: number for number, name in enumerate(ranked(found, metric))}
    found = sorted(found, key=lambda one: place[one.configuration])
    names, sure = usable(found, metric), _sure(canaries, question, found, metric)
    return Recommended(recommendation(found, metric, sure, more), metric, sure, tuple(found), names[0] if names else "")


def report(definition: BenchmarkDefinition, state: ExperimentState, question: Question) -> str:
    """Return the recommendation, and two tables, best first: the full job by configuration with price and cost, and the raw measurements.

    Empty where the experiment has no canaries.
    """
    canaries = canaries_of(definition, state)
    if not canaries.canaries:
        return ""
    said = answer(definition, state, question)
    lines = []
    if said.forecasts:
        prices = {canary.configuration: question.billing.usd_per_hour(canary.instance_type) for canary in canaries.canaries}
        header, rows = summary_rows(said.forecasts, prices)
        lines += [
            said.sentence,
            "",
            "Forecast of the full job (median, 80 % interval), best first:",
            "",
        ]
        lines += [table(header, rows[:_MOST]), *_more(len(rows) - _MOST, "forecasts.csv"), ""]
        best = set(list(dict.fromkeys(one.configuration for one in said.forecasts))[:_MOST])
        lines += [f"{one.configuration}: {one.metric} {one.status}: {one.why}" for one in said.forecasts if one.configuration in best
                  if one.metric in ("total_s", "rss_bytes", "gpu_bytes") and str(one.status) != "ok"][:_MOST]  # fmt: skip
        lines += [*outcomes(canaries, said.forecasts), ""]
    header, rows = raw_rows(canaries)
    return "\n".join([*lines, "What was measured:", "", table(header, rows[:_MOST_RUNS]), *_more(len(rows) - _MOST_RUNS, "trials.csv")])


def _sure(canaries: CanaryTable, question: Question, found: Sequence[Forecast], metric: str) -> float:
    names = usable(found, metric)
    small = [canary for canary in canaries.canaries if not canary.is_full and canary.configuration in names]
    return sureness(fit_all(by_configuration(small), question.at), question, metric, names) if names else 0.0


def _more(count: int, file: str) -> list[str]:
    return [f"({count} more are in {file})"] if count > 0 else []
