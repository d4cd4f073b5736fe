"""On what grounds a forecast stands, in words. Pure."""

from __future__ import annotations

from benchmarking.forecasting.data.canary import PREFIX
from benchmarking.forecasting.model.draws import Question
from benchmarking.forecasting.model.fit import Fitted
from benchmarking.forecasting.model.phases import Laws
from benchmarking.forecasting.model.prefix_evidence import remarks_on, why_open
from benchmarking.forecasting.model.result import TIMES

_SHORT = 0.1
"""Drift of the exponent from which on a forecast says that it is wide by the shortness of the runs."""


def measured_runs(item: Fitted, metric: str) -> str:
    """Return what was measured, e.g. `5 runs at 0.01 x2, 0.03 x2, 0.1`."""
    counts: dict[float, int] = {}
    only = metric in ("rss_bytes", "gpu_bytes", "cpu_util", "gpu_util", "cpu_s")
    used = [canary for canary in item.used if not only or getattr(canary, metric) is not None]
    for canary in used:
        counts[canary.fraction] = counts.get(canary.fraction, 0) + 1
    levels = ", ".join(f"{fraction:g}" + (f" x{count}" if count > 1 else "") for fraction, count in sorted(counts.items()))
    prefixes = sum(canary.status == PREFIX for canary in item.canaries)
    unused = len(item.canaries) - len(item.used) - prefixes
    begun = [f"{prefixes} prefix{'es' if prefixes > 1 else ''} of the full job"] if prefixes else []
    runs = [f"{len(used)} runs at {levels}"] if used else []
    return " and ".join([*begun, *runs]) + (f", {unused} not completed and not used" if unused else "")


def remarks(item: Fitted, metric: str) -> list[str]:
    """Return what else a reader of a metric's forecast should know of its laws."""
    opened = why_open([canary for canary in item.canaries if canary.status == PREFIX])
    if item.prefixes:
        return remarks_on(item.prefixes, item.used, item.lent) if metric in TIMES else []
    if metric in TIMES:
        laws: Laws | None = item.cpu if metric == "cpu_s" else item.time
        if laws is None:
            return []
        said = [opened] if opened else []
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


def why_nothing(item: Fitted, metric: str, question: Question) -> str:
    """Return why there is no forecast of a metric."""
    opened = why_open([canary for canary in item.canaries if canary.status == PREFIX])
    if opened and not item.used:
        return opened
    if not item.used:
        statuses = sorted({canary.status for canary in item.canaries})
        return f"no completed run ({', '.join(statuses)})"
    if metric == "cost_usd":
        kind = "spot price" if question.billing.spot else "price"
        return f"the {kind} of {item.instance_type or 'the instance type'} in {question.billing.region} is unknown; give --price TYPE=USD"
    return f"{metric} was not measured in all that is needed"


def width_text(lo80: float, hi80: float, scale: float | None) -> str:
    """Return how wide the 80 % interval is: by points of a utilisation's scale, else by the ratio of its ends."""
    if scale is not None:
        return f"the 80 % interval is {(hi80 - lo80) / scale * 100:.0f} points wide"
    return f"the 80 % interval spans a factor of {hi80 / lo80:.2f}" if lo80 > 0 else "the 80 % interval reaches zero"
