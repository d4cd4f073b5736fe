"""From canaries to forecasts: the quantiles of each metric's draws, and whether the evidence carries them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import PREFIX, CanaryTable, by_configuration
from benchmarking.forecasting.grounds import measured_runs, remarks, why_nothing, width_text
from benchmarking.forecasting.model.billing import tables
from benchmarking.forecasting.model.draws import Question, draw, ladder_draws
from benchmarking.forecasting.model.evidence import Finding, findings, gravest
from benchmarking.forecasting.model.fit import Fitted, fit_all
from benchmarking.forecasting.model.prefix_evidence import disagreement, stops_early
from benchmarking.forecasting.model.result import (
    METRICS,
    TIMES,
    UTILISATIONS,
    Forecast,
    Status,
    graver,
    quantiles,
    status_of_bound,
    status_of_width,
)
from benchmarking.forecasting.model.utilisation import scale_of
from definitions.instances import instance_facts
from definitions.quantities import size_text

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray


def forecast(table: CanaryTable, question: Question) -> list[Forecast]:
    """Return the forecasts of every configuration of a table, for each metric that was measured.

    Args:
        table: canaries; those of one family are taken to run the same code.
        question: what is asked.
    """
    fitted = fit_all(by_configuration(table.canaries), question.at)
    found: list[Forecast] = []
    for name in list(fitted):
        # Posteriors are let go as they are used: those of a thousand configurations take hundreds of MiB.
        found += forecast_one(fitted.pop(name), question, table.notes.get(name, ()))
    return found


def forecast_one(item: Fitted, question: Question, notes: Sequence[str] = ()) -> list[Forecast]:
    """Return the forecasts of one fitted configuration."""
    drawn = draw(item, question)
    small = ladder_draws(item, question) if item.prefixes and len({one.fraction for one in item.used}) > 1 else {}
    memory = _memory_finding(item, drawn, question)
    wanted = [name for name in METRICS if name in drawn or _was_measured(item, name)]
    if not item.used and not item.prefixes and not wanted:
        wanted = ["total_s"]
    asked = {metric: {"cost_usd": "total_s", "billable_s": "total_s"}.get(metric, metric) for metric in wanted}
    against = {metric: _against(item, metric, drawn, small) for metric in dict.fromkeys(asked.values()) if metric not in UTILISATIONS}
    return [_forecast_of(item, metric, drawn.get(metric), question, memory, against.get(asked[metric], []), notes) for metric in wanted]


def _against(item: Fitted, metric: str, drawn: Mapping[str, FloatArray], small: Mapping[str, FloatArray]) -> list[Finding]:
    """Return what speaks against the forecast of a metric: of the laws of small jobs, or of how well these agree with a prefix."""
    if not item.prefixes or metric not in drawn:
        return findings(item, metric)
    if metric not in TIMES:
        return []
    early = stops_early(item.prefixes, item.used, metric)
    if early or metric not in small:
        return early
    carried = gravest(findings(item, metric), Status.OK) is not Status.NOT_DECIDED
    return disagreement(drawn[metric], small[metric] if carried else None, metric)


def _was_measured(item: Fitted, metric: str) -> bool:
    if metric == "cost_usd":
        return item.time is not None and bool(item.instance_type)
    # Where the job's own beginning was run, what small jobs alone measured is no row without a forecast.
    if metric in ("billable_s", "quiet_s") or (item.prefixes and (metric == "train_s" or metric in UTILISATIONS)):
        return False
    return any(getattr(canary, metric) is not None for canary in item.canaries if canary.status != PREFIX)


def _forecast_of(
    item: Fitted,
    metric: str,
    values: FloatArray | None,
    question: Question,
    memory: tuple[Status, str] | None,
    against: Sequence[Finding],
    notes: Sequence[str],
) -> Forecast:
    grounds = measured_runs(item, metric)
    if values is None:
        status, why = Status.NOT_DECIDED, why_nothing(item, metric, question)
        if memory is not None and memory[0] is Status.DOES_NOT_FIT:
            status, why = memory[0], memory[1]
        return Forecast(item.name, metric, None, None, None, None, None, status, "; ".join([why, *notes]))
    stretch, calibrated = question.calibration.stretch("total_s" if metric == "billable_s" else metric)
    median, lo80, hi80, lo90, hi90 = quantiles(values, stretch)
    utilisation = metric in UTILISATIONS
    seen = [value for one in (*item.used, *item.prefixes) if utilisation and (value := getattr(one, metric)) is not None]
    scale = scale_of(seen) if utilisation else None
    is_peak = metric == "rss_bytes"
    status = gravest(against, status_of_bound(median, hi90) if is_peak else status_of_width(lo80, hi80, scale))
    reasons = [text for _, text in against]
    if status is not Status.OK and not reasons:
        reasons.append(f"the 95 % bound is {hi90 / median:.2f} times the median" if is_peak else width_text(lo80, hi80, scale))
    if memory is not None and not utilisation:
        applies = metric in ("rss_bytes", "gpu_bytes") or memory[0] is Status.DOES_NOT_FIT
        if applies:
            status, reasons = graver(status, memory[0]), [memory[1], *reasons]
    why = "; ".join([*reasons, grounds, *remarks(item, metric), *([calibrated] if calibrated else []), *notes])
    return Forecast(item.name, metric, median, lo80, hi80, lo90, hi90, status, why)


def _memory_finding(item: Fitted, drawn: Mapping[str, FloatArray], question: Question) -> tuple[Status, str] | None:
    """Return whether the full job's memory fits the instance type; None where it does, or where nothing is known."""
    relevant = [fraction for fraction in item.out_of_memory if fraction <= question.at]
    if relevant:
        return Status.DOES_NOT_FIT, f"it ran out of memory at fraction {min(relevant):g}"
    facts = instance_facts(item.instance_type, tables()) if item.instance_type else None
    for metric, capacity in (("rss_bytes", facts and facts.memory_bytes), ("gpu_bytes", facts and facts.gpu_memory_bytes)):
        if metric not in drawn or not capacity:
            continue
        stretch, _ = question.calibration.stretch(metric)
        median, *_, bound = quantiles(drawn[metric], stretch)
        if bound <= capacity:
            continue
        text = f"95 % bound of {metric} {size_text(bound)}, {item.instance_type} has {size_text(capacity)}"
        return (Status.DOES_NOT_FIT, text) if median > capacity else (Status.NOT_DECIDED, f"it may not fit: {text}")
    return None
