"""From canaries to forecasts: draws of each metric of the full job, their quantiles, and whether the evidence carries them. Pure."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from benchmarking.forecasting import evidence as checks
from benchmarking.forecasting.data.table import CanaryTable, by_configuration
from benchmarking.forecasting.model.billing import Billing, billable_draws, cost_draws, tables
from benchmarking.forecasting.model.calibration import Calibration
from benchmarking.forecasting.model.fit import Fitted, fit_all
from benchmarking.forecasting.model.memory import in_blocks, rss_draws
from benchmarking.forecasting.model.phases import Laws, column_of
from benchmarking.forecasting.model.priors import UNKNOWN
from benchmarking.forecasting.model.result import METRICS, Forecast, Status, graver, quantiles, status_of_width
from benchmarking.forecasting.model.unseen_terms import overtaken
from benchmarking.forecasting.model.utilisation import scale_of, utilisation_draws
from definitions.instances import instance_facts, is_local

Array: TypeAlias = Any

DRAWS = 3000

_SHORT = 0.1
"""Drift of the exponent from which on a forecast says that it is wide by the shortness of the runs."""

_UTILISATIONS = ("cpu_util", "gpu_util")
_TIMES = ("total_s", "train_s", "billable_s", "cost_usd", "cpu_s")

_HIDDEN, _HIDDEN_SQUARE, _HIDDEN_DECADES = 0.4, 0.7, 2.0
"""A fit phase too short to show its growth hides, so probably, a part within two decades below it, mostly growing with the square."""


@dataclass(frozen=True)
class Question:
    """What is asked of the canaries.

    Args:
        at: nominal fraction of the full job.
        billing: how time becomes money.
        calibration: learnt from finished jobs of this installation.
        draws: number of draws behind the quantiles.
        seed: of the draws.
    """

    at: float = 1.0
    billing: Billing = field(default_factory=Billing)
    calibration: Calibration = field(default_factory=Calibration)
    draws: int = DRAWS
    seed: int = 0


def forecast(table: CanaryTable, question: Question | None = None) -> list[Forecast]:
    """Return the forecasts of every configuration of a table, for each metric that was measured.

    Args:
        table: canaries; those of one family are taken to run the same code.
        question: what is asked; the full job by default.
    """
    question = question or Question()
    fitted = fit_all(by_configuration(table.canaries), question.at)
    found: list[Forecast] = []
    for name in list(fitted):
        # Posteriors are let go as they are used: those of a thousand configurations take hundreds of MiB.
        found += forecast_one(fitted.pop(name), question, table.notes.get(name, ()))
    return found


def draw(item: Fitted, question: Question) -> dict[str, Array]:
    """Return draws (n,) of each metric of the full job that was measured; the same canaries and seed give the same draws."""
    import numpy as np

    digest = hashlib.sha256(f"{question.seed}-{item.name}".encode()).digest()
    rng, size, at = np.random.default_rng(int.from_bytes(digest[:8])), question.draws, 1.0
    values: dict[str, Array] = {}
    parts = {} if item.time is None else {name: part.sample(at, size, rng) for name, part in item.time.parts.items()}
    if item.time is not None and item.time.loaded:
        # What slows the fit phase of a run slows its other phases as well.
        ranks = np.argsort(np.argsort(parts[item.time.main]))
        parts = {name: values if name == item.time.main else np.sort(values)[ranks] for name, values in parts.items()}
    if item.time is not None and _hides_growth(item, item.time, "total_s"):
        parts[item.time.main] = _uncovered(item.time, item, "train_s", parts[item.time.main], rng)
    if parts:
        values["total_s"] = sum(parts.values())
        if "train" in parts:
            values["train_s"] = parts["train"]
    if item.cpu is not None:
        cpu = {name: part.sample(at, size, rng) for name, part in item.cpu.parts.items()}
        if _hides_growth(item, item.cpu, "cpu_s"):
            cpu[item.cpu.main] = _uncovered(item.cpu, item, "train_cpu_s", cpu[item.cpu.main], rng)
        values["cpu_s"] = sum(cpu.values())
    if item.rss is not None:
        values["rss_bytes"] = rss_draws(item.rss, item.used, size, rng)
    if item.gpu is not None:
        values["gpu_bytes"] = in_blocks(item.gpu.sample(at, size, rng))
    price = question.billing.usd_per_hour(item.instance_type)
    if parts and item.instance_type:
        billable = billable_draws(values["total_s"], question.billing, item.instance_type, _billed_startup_s(item))
        # Where nothing is known of the bill it is the time in whole seconds, which needs no row of its own.
        if not is_local(item.instance_type) and (question.billing.says_more or any("billable_s" in one.about for one in item.used)):
            values["billable_s"] = billable
        if price is not None:
            values["cost_usd"] = cost_draws(billable, price, item.instance_count)
    steady = 1.0 - parts["startup"] / values["total_s"] if "startup" in parts else 1.0
    for name in _UTILISATIONS:
        found = utilisation_draws(item.used, name, steady, size, rng)
        if found is not None:
            values[name] = found
    return values


def _billed_startup_s(item: Fitted) -> float:
    """Return by how much the bills of the canaries were longer than their time; 0 where that was not measured."""
    more = [canary.about["billable_s"] - canary.total_s for canary in item.used if "billable_s" in canary.about and canary.total_s]
    return max(0.0, statistics.median(more)) if more else 0.0


def forecast_one(item: Fitted, question: Question, notes: Sequence[str] = ()) -> list[Forecast]:
    """Return the forecasts of one fitted configuration."""
    drawn = draw(item, question)
    memory = _memory_verdict(item, drawn, question)
    wanted = [name for name in METRICS if name in drawn or _was_measured(item, name)]
    if not item.used and not wanted:
        wanted = ["total_s"]
    asked = {metric: {"cost_usd": "total_s", "billable_s": "total_s"}.get(metric, metric) for metric in wanted}
    findings = {metric: _findings(item, metric) for metric in dict.fromkeys(asked.values()) if metric not in _UTILISATIONS}
    return [_answer(item, metric, drawn.get(metric), question, memory, findings.get(asked[metric], []), notes) for metric in wanted]


def _was_measured(item: Fitted, metric: str) -> bool:
    if metric == "cost_usd":
        return item.time is not None and bool(item.instance_type)
    if metric == "billable_s":
        return False
    return any(getattr(canary, metric) is not None for canary in item.canaries)


def _answer(
    item: Fitted,
    metric: str,
    values: Array | None,
    question: Question,
    memory: tuple[Status, str] | None,
    findings: Sequence[checks.Finding],
    notes: Sequence[str],
) -> Forecast:
    grounds = _grounds(item, metric)
    if values is None:
        status, why = Status.NOT_DECIDED, _why_nothing(item, metric, question)
        if memory is not None and memory[0] is Status.DOES_NOT_FIT:
            status, why = memory[0], memory[1]
        return Forecast(item.name, metric, None, None, None, None, None, status, "; ".join([why, *notes]))
    stretch, calibrated = question.calibration.stretch("total_s" if metric == "billable_s" else metric)
    median, lo80, hi80, lo90, hi90 = quantiles(values, stretch)
    utilisation = metric in _UTILISATIONS
    scale = scale_of([getattr(c, metric) for c in item.used if getattr(c, metric) is not None]) if utilisation else None
    status = checks.worst(findings, status_of_width(lo80, hi80, scale))
    reasons = [text for _, text in findings]
    if status is not Status.OK and not reasons:
        reasons.append(_width_text(lo80, hi80, scale))
    if memory is not None and not utilisation:
        applies = metric in ("rss_bytes", "gpu_bytes") or memory[0] is Status.DOES_NOT_FIT
        if applies:
            status, reasons = graver(status, memory[0]), [memory[1], *reasons]
    why = "; ".join([*reasons, grounds, *_about(item, metric), *([calibrated] if calibrated else []), *notes])
    return Forecast(item.name, metric, median, lo80, hi80, lo90, hi90, status, why)


def _findings(item: Fitted, metric: str) -> list[checks.Finding]:
    import numpy as np

    known = bool(item.used and item.used[0].family != UNKNOWN)
    if metric in _TIMES:
        laws = item.cpu if metric == "cpu_s" else item.time
        measured = [getattr(canary, metric) for canary in item.used if getattr(canary, metric) is not None]
        values = np.maximum(np.array(measured, dtype=float), 1e-9) if measured else None
        known = known or (laws is not None and laws.steady)
        main = {True: "train_cpu_s" if metric == "cpu_s" else "train_s", False: "cpu_s" if metric == "cpu_s" else "total_s"}
        growing = None if laws is None else column_of(item.used, main[laws.timed])
        found = checks.time_findings(laws, values, growing, known, metric)
        return found + (_hides_growth(item, laws, metric) if laws is not None else [])
    growth = {"rss_bytes": item.rss, "gpu_bytes": item.gpu}.get(metric)
    found = checks.level_findings(growth, metric, known=metric == "gpu_bytes")
    if growth is not None and metric == "rss_bytes":
        values = np.array([canary.rss_bytes for canary in item.used if canary.rss_bytes], dtype=float)
        found += checks.falling(growth.x, values, metric)
    return found


def _hides_growth(item: Fitted, laws: Laws, metric: str) -> list[checks.Finding]:
    """Return what says that the canaries were too short to show how an unknown algorithm grows."""
    if not laws.timed or laws.steady or item.used[0].family != UNKNOWN:
        return []
    name = "train_cpu_s" if metric == "cpu_s" else "train_s"
    return checks.short_findings(laws.growth, column_of(item.used, name), column_of(item.used, "startup_s"), "the fit phase")


def _uncovered(laws: Laws, item: Fitted, column: str, draws: Array, rng: Any) -> Array:
    """Return draws of the fit phase that allow for growth which short canaries cannot show."""
    measured = column_of(item.used, column)
    if laws.growth is None or measured is None or len(measured) != len(laws.growth.x):
        return draws
    top = float(laws.growth.x.max())
    seen = float(measured[laws.growth.x >= 0.9 * top].mean())
    return overtaken(draws, seen, top, rng, chance=_HIDDEN, squares=_HIDDEN_SQUARE, decades=_HIDDEN_DECADES)


def _memory_verdict(item: Fitted, drawn: Mapping[str, Array], question: Question) -> tuple[Status, str] | None:
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
        text = f"95 % bound of {metric} {bound / 1024**3:.1f} GiB, {item.instance_type} has {capacity / 1024**3:.1f} GiB"
        return (Status.DOES_NOT_FIT, text) if median > capacity else (Status.NOT_DECIDED, f"it may not fit: {text}")
    return None


def _why_nothing(item: Fitted, metric: str, question: Question) -> str:
    if not item.used:
        statuses = sorted({canary.status for canary in item.canaries})
        return f"no completed run ({', '.join(statuses)})"
    if metric == "cost_usd":
        kind = "spot price" if question.billing.spot else "price"
        return f"the {kind} of {item.instance_type or 'the instance type'} in {question.billing.region} is unknown; give --price TYPE=USD"
    return f"{metric} was not measured in all that is needed"


def _grounds(item: Fitted, metric: str) -> str:
    """Return what was measured, e.g. `5 runs at 0.01 x2, 0.03 x2, 0.1`."""
    counts: dict[float, int] = {}
    only = metric in ("rss_bytes", "gpu_bytes", "cpu_util", "gpu_util", "cpu_s")
    used = [canary for canary in item.used if not only or getattr(canary, metric) is not None]
    for canary in used:
        counts[canary.fraction] = counts.get(canary.fraction, 0) + 1
    levels = ", ".join(f"{fraction:g}" + (f" x{count}" if count > 1 else "") for fraction, count in sorted(counts.items()))
    unused = len(item.canaries) - len(item.used)
    return f"{len(used)} runs at {levels}" + (f", {unused} not completed and not used" if unused else "")


def _about(item: Fitted, metric: str) -> list[str]:
    if metric in _TIMES:
        laws: Laws | None = item.cpu if metric == "cpu_s" else item.time
        if laws is None:
            return []
        said = []
        if laws.growth is not None:
            mean, sd = laws.growth.exponent()
            said.append(f"grows as n^{mean:.2f} (+-{sd:.2f})")
            if laws.timed and laws.growth.drift > _SHORT:
                said.append("its fit phase is so short at the largest canary that this may change beyond it")
        if laws.loaded and metric != "train_s":
            said.append("wall time scatters with the machine's load, processor time does not")
        if not laws.timed:
            said.append("from totals: no phase timers, which would narrow it")
        return said
    if metric == "cpu_util" and any(canary.startup_s is None for canary in item.used):
        return ["mean of the largest runs; start-up was not timed"]
    return []


def _width_text(lo80: float, hi80: float, scale: float | None) -> str:
    if scale is not None:
        return f"the 80 % interval is {(hi80 - lo80) / scale * 100:.0f} points wide"
    return f"the 80 % interval spans a factor of {hi80 / lo80:.2f}" if lo80 > 0 else "the 80 % interval reaches zero"
