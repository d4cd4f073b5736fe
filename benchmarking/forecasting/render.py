"""Forecasts as JSON, CSV and a table for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarking.export.files import csv_text
from benchmarking.forecasting.explain import Explanation
from benchmarking.forecasting.model.result import Forecast, Status
from benchmarking.report.text import dollars, table
from definitions import strict_json

FIELDS = ("configuration", "metric", "median", "lo80", "hi80", "lo90", "hi90", "status", "why")


def as_rows(forecasts: Sequence[Forecast]) -> list[dict[str, Any]]:
    """Return one mapping per forecast, with `FIELDS` as keys."""
    return [{name: str(forecast.status) if name == "status" else getattr(forecast, name) for name in FIELDS} for forecast in forecasts]


EXPLAINED = (
    "width_from", "prefix_share", "prefix_s", "next_kind", "next_fraction", "next_s", "next_usd", "next_half_before", "next_half_after",
)  # fmt: skip
"""What an explanation adds: causes of the width with their shares; of the beginning of the job that was run the share of its loop, and the
seconds; and of the run that narrows most for its price its kind (`prefix`, `canary`, `repeat`), fraction, seconds, dollars, and half of the
80 % interval, as a factor, before and after it."""


def as_json(forecasts: Sequence[Forecast], why: Sequence[Explanation] | None = None) -> str:
    """Return a JSON list of mappings with `FIELDS`, and with `EXPLAINED` where explanations are given."""
    rows = as_rows(forecasts)
    if why is not None:
        found = {(one.configuration, one.metric): one for one in why}
        for row in rows:
            one = found.get((row["configuration"], row["metric"]))
            row |= _explained(one) | {"width_from": {} if one is None else dict(one.causes)}
    return strict_json.dumps(rows)


def as_csv(forecasts: Sequence[Forecast], why: Sequence[Explanation] | None = None) -> str:
    """Return CSV with the header `FIELDS`, and `EXPLAINED` where explanations are given; empty cells where nothing can be said."""
    rows = as_rows(forecasts)
    if why is None:
        return csv_text(FIELDS, [list(row.values()) for row in rows])
    found = {(one.configuration, one.metric): one for one in why}
    more = [_explained(found.get((row["configuration"], row["metric"]))) for row in rows]
    return csv_text((*FIELDS, *EXPLAINED), [[*row.values(), *one.values()] for row, one in zip(rows, more, strict=True)])


def _explained(one: Explanation | None) -> dict[str, Any]:
    if one is None:
        return dict.fromkeys(EXPLAINED)
    run = one.next_run
    causes = "; ".join(f"{cause} {share:.0%}" for cause, share in one.causes.items())
    figures = (None,) * 6 if run is None else (run.kind, run.fraction, run.seconds, run.usd, run.before, run.after)
    return dict(zip(EXPLAINED, (causes, one.prefix_share, one.prefix_s, *figures), strict=True))


def as_table(forecasts: Sequence[Forecast]) -> str:
    """Return an aligned table: value with its intervals in readable units, status, grounds."""
    header = ["configuration", "metric", "median", "80 % interval", "90 % interval", "status", "why"]
    return table(header, [_line(forecast) for forecast in forecasts])


def _line(forecast: Forecast) -> list[str]:
    shown = [readable(forecast.metric, value) for value in (forecast.median, forecast.lo80, forecast.hi80, forecast.lo90, forecast.hi90)]
    intervals = ["-", "-"] if forecast.median is None else [f"{shown[1]} to {shown[2]}", f"{shown[3]} to {shown[4]}"]
    return [forecast.configuration, forecast.metric, shown[0], *intervals, str(forecast.status), forecast.why]


def readable(metric: str, value: float | None) -> str:
    """Return a value with its unit: GiB, seconds, dollars; `-` where there is none."""
    if value is None:
        return "-"
    if metric == "cost_usd":
        return dollars(value)
    if metric.endswith("_bytes"):
        return f"{value / 1024**3:.2f} GiB" if value >= 0.1 * 1024**3 else f"{value / 1024**2:.1f} MiB"
    if metric.endswith("_s"):
        return f"{value:.0f} s" if value >= 100 else f"{value:.3g} s"
    return f"{value:.3g}"


_SUMMARY = {
    "total_s": "time", "billable_s": "billed", "cost_usd": "cost", "rss_bytes": "memory", "gpu_bytes": "GPU memory", "cpu_s": "CPU time",
    "cpu_util": "CPU %", "gpu_util": "GPU %",
}  # fmt: skip


def summary_rows(forecasts: Sequence[Forecast], usd_per_hour: Mapping[str, float | None]) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of a table with one line per configuration: each metric's median and 80 % interval, and the gravest status.

    Args:
        forecasts: of all configurations.
        usd_per_hour: price by configuration; None where it is unknown.
    """
    groups: dict[str, dict[str, Forecast]] = {}
    for forecast in forecasts:
        groups.setdefault(forecast.configuration, {})[forecast.metric] = forecast
    metrics = [metric for metric in _SUMMARY if any(metric in group for group in groups.values())]
    header = ["configuration", "price/h", *(_SUMMARY[metric] for metric in metrics), "status"]
    rows: list[list[Any]] = []
    for name, group in groups.items():
        status = group["total_s"].status if "total_s" in group else Status.NOT_DECIDED
        for metric in ("rss_bytes", "gpu_bytes"):
            if metric in group and group[metric].status is Status.DOES_NOT_FIT:
                status = Status.DOES_NOT_FIT
        rows.append([name, dollars(usd_per_hour.get(name)), *(_interval(group.get(metric)) for metric in metrics), str(status)])
    return header, rows


def _interval(forecast: Forecast | None) -> str:
    if forecast is None or forecast.median is None:
        return "-"
    low, high = readable(forecast.metric, forecast.lo80), readable(forecast.metric, forecast.hi80)
    return f"{readable(forecast.metric, forecast.median)} ({low} to {high})"
