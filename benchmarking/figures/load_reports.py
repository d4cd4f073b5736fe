"""What trials report of loads on endpoints: points of rate and latency over load, and what a deployment carries at most. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.controller.retry_policy import as_number

PLATFORM = "platform"


@dataclass(frozen=True)
class LoadPoint:
    """A stage of users, a probe of a rate, or an open load.

    Args:
        load: users, or requests a second that were asked for.
        achieved_per_s: answered rightly; `latency_ms`: by percentile; `error_share`: of requests.
        verdict: of a probe; empty for others.
    """

    load: float
    achieved_per_s: float
    latency_ms: Mapping[int, float]
    error_share: float
    verdict: str = ""


def load_point(metrics: Mapping[str, Any]) -> tuple[str, LoadPoint] | None:
    """Return the kind of load (`users` or `rate`) and the point that a report tells of; None where it tells of none.

    Args:
        metrics: of one report.
    """
    for kind, name, prefix in (("rate", "probe_rate_per_s", "probe_"), ("users", "users", "")):
        load, achieved = as_number(metrics.get(name)), as_number(metrics.get(f"{prefix}achieved_per_s"))
        if load is None or achieved is None:
            continue
        found = {percentile: as_number(metrics.get(f"{prefix}latency_p{percentile}_ms")) for percentile in (50, 95, 99)}
        latency = {percentile: value for percentile, value in found.items() if value is not None}
        verdict = str(metrics.get("probe_verdict", "")) if kind == "rate" else ""
        return kind, LoadPoint(load, achieved, latency, as_number(metrics.get(f"{prefix}error_share")) or 0.0, verdict)
    return None


def deployment_text(configuration: Mapping[str, Any], varied: Sequence[str]) -> str:
    """Return the values of a configuration that differ between trials, for a legend."""
    return ", ".join(f"{key} {configuration[key]}" for key in varied if key in configuration) or "the one deployment"


def varied_keys(configurations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys whose values differ between configurations, in their order."""
    keys = dict.fromkeys(key for one in configurations for key in one)
    return [key for key in keys if len({repr(one.get(key)) for one in configurations}) > 1]
