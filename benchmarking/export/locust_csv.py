"""Parts of a load as Locust's four CSV files, by their columns, so that whatever reads those reads these. Pure.

Where Locust's columns `Total ...` of the history accumulate from the beginning of a run, ours are of the part that they stand in: a stage's
latency is not hidden by those before it. Counts accumulate as there, as readers take differences of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarking.export.load_parts import LoadPart
from benchmarking.workloads.load.histogram import LatencyHistogram
from benchmarking.workloads.load.tally import LoadTally

Table = tuple[list[str], list[list[Any]]]

_SHARES = (0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999, 1.0)
_PERCENTILES = ["50%", "66%", "75%", "80%", "90%", "95%", "98%", "99%", "99.9%", "99.99%", "100%"]
_TYPE = "InvokeEndpoint"


def whole_latency(counts: LoadTally) -> LatencyHistogram:
    """Return warm and cold answers together."""
    found = LatencyHistogram()
    for one in counts.latency.values():
        found.merge(one)
    return found


def stats_table(parts: Sequence[LoadPart]) -> Table:
    """Return `_stats.csv`: a row of all parts together, and Locust's `Aggregated`, which is the same.

    Args:
        parts: (n,) of one trial, n at least 1.
    """
    together = LoadTally(parts[0].counts.limit_s, parts[0].counts.failure_s)
    for part in parts:
        together.merge(part.counts)
    latency, seconds = whole_latency(together), sum(part.seconds for part in parts)
    requests, failed = together.answered + together.failed, together.failed
    rates = [count / seconds if seconds else 0.0 for count in (requests, failed)]
    numbers = [requests, failed, *_milliseconds(latency, together), 0.0, *rates, *_quantiles(latency, failed, together.failure_s)]
    header = [
        "Type", "Name", "Request Count", "Failure Count", "Median Response Time", "Average Response Time", "Min Response Time",
        "Max Response Time", "Average Content Size", "Requests/s", "Failures/s", *_PERCENTILES,
    ]  # fmt: skip
    return header, [[_TYPE, parts[0].models, *numbers], ["", "Aggregated", *numbers]]


def history_table(parts: Sequence[LoadPart]) -> Table:
    """Return `_stats_history.csv`: two rows a second, of the models and Locust's `Aggregated`; percentiles are of that second."""
    header = [
        "Timestamp", "User Count", "Type", "Name", "Requests/s", "Failures/s", *_PERCENTILES, "Total Request Count", "Total Failure Count",
        "Total Median Response Time", "Total Average Response Time", "Total Min Response Time", "Total Max Response Time",
        "Total Average Content Size",
    ]  # fmt: skip
    rows: list[list[Any]] = []
    requests = failed = 0
    for part in parts:
        began_at = float(part.told.get("ended_at") or 0.0) - part.seconds
        until = LatencyHistogram()
        for second, window in sorted(part.counts.windows.items()):
            until.merge(window.latency)
            requests, failed = requests + window.latency.n + window.errors, failed + window.errors
            numbers = [
                window.latency.n + window.errors, window.errors, *_quantiles(window.latency, window.errors, part.counts.failure_s),
                requests, failed, *_milliseconds(until, None), 0.0,
            ]  # fmt: skip
            first = [int(began_at + second), part.told.get("users", 0)]
            rows += [[*first, _TYPE, part.models, *numbers], [*first, "", "Aggregated", *numbers]]
    return header, rows


def failures_table(parts: Sequence[LoadPart]) -> Table:
    """Return `_failures.csv`: a row for each kind of error."""
    kinds: dict[str, int] = {}
    for part in parts:
        for kind, count in part.counts.errors.items():
            kinds[kind] = kinds.get(kind, 0) + count
    return ["Method", "Name", "Error", "Occurrences"], [[_TYPE, parts[0].models, kind, count] for kind, count in sorted(kinds.items())]


def exceptions_table(parts: Sequence[LoadPart]) -> Table:
    """Return `_exceptions.csv`: what the first answer of each kind of error said."""
    kinds: dict[str, tuple[int, str]] = {}
    for part in parts:
        for kind, count in part.counts.errors.items():
            before, text = kinds.get(kind, (0, ""))
            kinds[kind] = (before + count, text or part.counts.texts.get(kind, ""))
    return ["Count", "Message", "Traceback", "Nodes"], [
        [count, kind, text, "client"] for kind, (count, text) in sorted(kinds.items()) if text
    ]


def _milliseconds(latency: LatencyHistogram, counts: LoadTally | None) -> list[float]:
    """Return median, mean, least and most, in milliseconds; the median with failures at its upper end where counts are given."""
    median = latency.quantile_s(0.5) if counts is None else latency.quantile_s(0.5, counts.failed, counts.failure_s)
    return [1000 * (median or 0.0), 1000 * (latency.mean_s or 0.0), latency.min_us / 1000, latency.max_us / 1000]


def _quantiles(latency: LatencyHistogram, failed: int, failure_s: float) -> list[float | None]:
    found = [latency.quantile_s(share, failed, failure_s) for share in _SHARES]
    return [None if value is None else 1000 * value for value in found]
