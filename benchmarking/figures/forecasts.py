"""Forecasts of full jobs against what these then measured, as points on a diagonal and as a table. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from benchmarking.figures.data import Curve, Figure, PlotAxis, PointGroup, PointPanel, TablePanel
from benchmarking.figures.details import DetailedExperiment
from benchmarking.figures.dollar_units import USD, dollar_unit
from benchmarking.figures.short_names import changed, short_names
from benchmarking.forecasting.data.experiment import canaries_of
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.result import Forecast
from benchmarking.forecasting.report import ForecastOutcome, forecasts_of, measured_outcomes

UNITS = {"rss_bytes": "bytes", "gpu_bytes": "bytes", "cost_usd": USD, "cpu_util": "%", "gpu_util": "%"}
_DRAWN = ("total_s", "cost_usd", "rss_bytes", "gpu_bytes")
ForecastRow: TypeAlias = tuple[str, Forecast, ForecastOutcome | None]
"""Whose it is, a forecast, and what was measured then: None where its configuration never ran in full."""

MOST_EXPERIMENTS = 20
"""Experiments with canaries whose forecasts are made: each takes a fit."""


def forecasts_figure(experiments: Sequence[DetailedExperiment]) -> Figure:
    """Return a panel for each metric that was forecast and then measured, and a table of all forecasts.

    Args:
        experiments: (n,) in any order; those without canaries are left out.
    """
    found: list[ForecastRow] = []
    asked = left_out = 0
    for one in experiments:
        table = None if one.state is None else canaries_of(one.definition, one.state)
        if one.state is None or table is None or not table.canaries:
            continue
        if asked >= MOST_EXPERIMENTS:
            left_out += 1
            continue
        asked += 1
        made = forecasts_of(one.definition, one.state, Question(Billing(one.region, options=one.definition.block)))
        measured = {(m.forecast.configuration, m.forecast.metric): m for m in measured_outcomes(table, made)}
        title = f"{one.run.benchmark}, {one.run.method} seed {one.run.number}"
        found += [(title, forecast, measured.get((forecast.configuration, forecast.metric))) for forecast in made]
    return outcomes_figure(found, left_out, dollar_unit(one.run.facts.get("dollars", "") for one in experiments))


def outcomes_figure(found: Sequence[ForecastRow], left_out: int = 0, dollars: str = USD) -> Figure:
    """Return the figure of forecasts that were made.

    Args:
        found: (n,) forecasts with what was measured.
        left_out: experiments with canaries whose forecasts were not made.
        dollars: which ones costs are in.
    """
    if not found:
        return Figure("forecasts", "Forecasts and outcomes", (), ("No experiment has canaries.",))
    short = short_names([name for title, forecast, _ in found for name in (title, forecast.configuration)])
    panels: list[PointPanel | TablePanel] = []
    for metric in _DRAWN:
        known = [(title, outcome) for title, forecast, outcome in found if outcome is not None and forecast.metric == metric]
        if known:
            panels.append(_panel(metric, known, short, dollars if _unit(metric) == USD else _unit(metric)))
    columns = ("experiment", "configuration", "metric", "forecast", "low", "high", "status", "measured", "runs", "inside")
    rows = tuple(_row(short[title], short[forecast.configuration], forecast, outcome) for title, forecast, outcome in found)
    panels.append(TablePanel("All forecasts", columns, rows))
    outcomes = [outcome for _, _, outcome in found if outcome is not None]
    inside = sum(outcome.inside for outcome in outcomes)
    notes = [
        f"{inside} of {len(outcomes)} measurements lie within the 90 % interval of their forecast."
        if outcomes
        else "No forecast configuration ran in full."
    ]
    if left_out:
        notes.append(f"{left_out} more experiments with canaries are left out.")
    return Figure("forecasts", "Forecasts and outcomes", tuple(panels), tuple(notes), changed(short))


def _panel(metric: str, known: Sequence[tuple[str, ForecastOutcome]], short: dict[str, str], unit: str) -> PointPanel:
    medians = [one.forecast.median or 0.0 for _, one in known]
    points = PointGroup(
        "forecast",
        tuple(one.actual for _, one in known),
        tuple(medians),
        y_low=tuple(one.forecast.lo90 for _, one in known),
        y_high=tuple(one.forecast.hi90 for _, one in known),
        texts=tuple(f"{short[title]}: {short[one.forecast.configuration]}" for title, one in known),
    )
    values = [*(one.actual for _, one in known), *medians]
    diagonal = Curve("as forecast", (min(values), max(values)), (min(values), max(values)))
    log = min(values) > 0 and max(values) / min(values) > 10
    return PointPanel(metric, PlotAxis("measured", unit, log), PlotAxis("forecast", unit, log), (points,), (diagonal,))


def _row(title: str, configuration: str, forecast: Forecast, outcome: ForecastOutcome | None) -> tuple[object, ...]:
    measured = (None, None, None) if outcome is None else (outcome.actual, outcome.runs, outcome.inside)
    return (title, configuration, forecast.metric, forecast.median, forecast.lo90, forecast.hi90, str(forecast.status), *measured)


def _unit(metric: str) -> str:
    return UNITS.get(metric, "s" if metric.endswith("_s") else "")
