"""From what a trial reported and used to named measurements: the one place that knows the reporter's names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from definitions.scalars import is_number

PREFIX = "canary_"
"""Of a canary's measurements in what a method hears when it is complete."""

PHASES = ("startup", "list", "download", "load", "train", "checkpoint")
"""Phases of a script that have a law of their own in a forecast, in the order in which they come."""

_SAMPLED = {
    "cpu_util": "cpu_percent", "gpu_util": "gpu_percent", "io_wait": "io_wait_percent", "rss_mean": "rss_bytes",
    "gpu_memory_mean": "gpu_memory_bytes",
}  # fmt: skip
"""Column of a mean -> what the reporter calls the quantity; `<column>_p99` is its 99 % quantile over the run's time."""

_BANDS = (("p50", 0.5), ("p95", 0.45), ("p99", 0.04), ("peak", 0.01))
"""Quantile -> share of the time that lies between it and the one before."""


NAMES = (
    *(f"{name}_s" for name in PHASES),
    *(f"{name}_cpu_s" for name in PHASES),
    *("total_s", "delayed_s", "steps", "rows", "bytes", "cpu_s", "rss_bytes", "gpu_bytes"),
    *(column for name in _SAMPLED for column in (name, f"{name}_p99")),
    *("billable_s", "cost_usd"),
)
"""All that `measurements` may give, in its order."""


def measurements(
    usage: Mapping[str, Any], last: Mapping[str, Any], duration_s: float, billable_s: float, cost_usd: float | None
) -> dict[str, float]:
    """Return a job's measurements under the names of a canary table's columns; what was not measured is absent.

    Args:
        usage: of the closed job, see `backends.events.Closed`.
        last: the last value that the script reported under each name; `rows` and `bytes` say how much data it read.
        duration_s: seconds from start to end.
        billable_s: seconds that are paid for, per instance.
        cost_usd: dollars of the job; None where the price is unknown.
    """
    phases, sampled = _mapping(usage.get("phases_s")), _mapping(usage.get("usage"))
    found: dict[str, Any] = {f"{name}_s": phases.get(name) for name in PHASES}
    found |= {f"{name}_cpu_s": _mapping(sampled.get(name)).get("cpu_s") for name in PHASES}
    if not any(is_number(phases.get(name)) for name in PHASES[1:]):
        # What a script without timers does before its first report is start-up and work together, often all of its work.
        found["startup_s"] = found["startup_cpu_s"] = None
    # The back-end's clock comes first; the reporter's starts only when the script has imported it.
    found["total_s"] = duration_s if duration_s > 0 else usage.get("elapsed_s")
    # That other programs had the processor, where the system tells.
    found["delayed_s"] = usage.get("delayed_s")
    found["steps"] = usage.get("steps") or None
    # The script's own count goes before the reporter's, which counts only what `step` was given.
    found["rows"] = last.get("rows") or usage.get("samples") or None
    found["bytes"] = last.get("bytes")
    found["cpu_s"] = usage.get("cpu_s")
    found["rss_bytes"] = usage.get("peak_rss_bytes")
    found["gpu_bytes"] = _peak(sampled, "gpu_memory_bytes")
    for column, name in _SAMPLED.items():
        found[column] = _mean(sampled, name)
        found[f"{column}_p99"] = _p99(sampled, name)
    found |= {"billable_s": billable_s, "cost_usd": cost_usd}
    return {name: float(value) for name, value in found.items() if is_number(value)}


def canary_values(result: Mapping[str, float]) -> dict[str, float]:
    """Return the measurements in what a method hears when a canary is complete."""
    return {name[len(PREFIX) :]: value for name, value in result.items() if name.startswith(PREFIX)}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _peak(sampled: Mapping[str, Any], name: str) -> float | None:
    peaks = [value for part in sampled.values() if is_number(value := _mapping(_mapping(part).get(name)).get("peak"))]
    return max(peaks, default=None)


def _mean(sampled: Mapping[str, Any], name: str) -> float | None:
    """Return a quantity's mean over the phases, weighted by how long each was sampled."""
    pairs = [(_mapping(part.get(name)).get("mean"), seconds) for part, seconds in _parts(sampled)]
    known = [(float(value), seconds) for value, seconds in pairs if is_number(value)]
    # Phases are of different lengths, so a plain mean of their means would let a short start-up weigh as much as the training.
    whole = math.fsum(seconds for _, seconds in known)
    return math.fsum(value * seconds for value, seconds in known) / whole if whole else None


def _p99(sampled: Mapping[str, Any], name: str) -> float | None:
    """Return what a quantity did not pass in 99 % of the sampled time: exact for one phase, else a bound from each one's quantiles."""
    bands = []
    for part, seconds in _parts(sampled):
        quantity = _mapping(part.get(name))
        # Each phase is a histogram of four bands: so many seconds at most at this value (the quantile at the band's upper end).
        bands += [(float(value), share * seconds) for key, share in _BANDS if is_number(value := quantity.get(key))]
    # The 99 % quantile of all seconds together: the first value below which 99 % of the time lies, a hair less for rounding.
    wanted = 0.99 * math.fsum(seconds for _, seconds in bands) * (1 - 1e-9)
    seen = 0.0
    for value, seconds in sorted(bands):
        seen += seconds
        if seen >= wanted:
            return value
    return None


def _parts(sampled: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], float]]:
    """Return the phases that were sampled, each with its seconds."""
    parts = [(_mapping(part), _mapping(part).get("sampled_s")) for part in sampled.values()]
    return [(part, float(seconds)) for part, seconds in parts if is_number(seconds) and seconds]
