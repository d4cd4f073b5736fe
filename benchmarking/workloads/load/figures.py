"""The figures of one load, as they are reported: percentiles of warm and cold answers apart, failures beside them."""

from __future__ import annotations

from typing import Any

from .tally import COLD, WARM, LoadTally

PERCENTILES = (50, 95, 99)


def figures_of(tally: LoadTally, seconds: float) -> dict[str, Any]:
    """Return what a load measured, in milliseconds; a figure of which nothing was counted is left out.

    A failed request counts as one that took the whole time limit, or its age where that is longer: a failure never looks fast.

    Args:
        tally: of the load.
        seconds: that it lasted.
    """
    found: dict[str, Any] = {"requests": tally.sent, "achieved_per_s": tally.answered / seconds if seconds > 0 else 0.0}
    for percentile in PERCENTILES:
        share = percentile / 100
        found[f"latency_p{percentile}_ms"] = _ms(tally.latency[WARM].quantile_s(share, tally.failed, tally.failure_s))
        found[f"service_p{percentile}_ms"] = _ms(tally.service[WARM].quantile_s(share, tally.failed, tally.failure_s))
    found["latency_max_ms"] = _ms(tally.latency[WARM].quantile_s(1.0, tally.failed, tally.failure_s))
    found["latency_mean_ms"] = _ms(tally.latency[WARM].mean_s)
    cold = tally.latency[COLD]
    ended = tally.answered + tally.failed
    if ended:
        found["error_share"] = tally.failed / ended
    if tally.answered > tally.untold:  # a service that does not say which answers were cold leaves no share
        found["cold_share"] = cold.n / (tally.answered - tally.untold)
    if cold.n:
        found |= {f"cold_p{percentile}_ms": _ms(cold.quantile_s(percentile / 100)) for percentile in PERCENTILES}
        found["load_p50_ms"] = _ms(tally.load.quantile_s(0.5))
    found["lag_p99_ms"] = _ms(tally.lag.quantile_s(0.99))
    found |= {f"errors_{kind}": count for kind, count in sorted(tally.errors.items())}
    return {name: value for name, value in found.items() if value is not None}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)


def shown(value: float, digits: int = 4) -> str:
    """Return a number for people with so many digits that count, e.g. `62.5`, and never with an exponent: `1975`, `12800`."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text else text
