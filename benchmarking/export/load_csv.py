"""load/: what loads on endpoints left: summary_results.csv with the notebooks' columns, Locust's four files a trial, histograms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarking.analysis.service_shares import CALL, SERVICE_NAMES
from benchmarking.controller.journal import Record
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from benchmarking.export.files import write_csv
from benchmarking.export.load_parts import LoadPart, read_load_parts
from benchmarking.export.locust_csv import exceptions_table, failures_table, history_table, stats_table, whole_latency
from benchmarking.workloads.load.tally import LoadTally
from definitions import strict_json
from definitions.files import replacing

SEED_COLUMNS = (
    "model_name", "instance_type", "platform", "max_models_loaded", "User Count", "Requests/s", "Total Median Response Time",
    "Total Average Response Time", "Total Min Response Time", "Total Max Response Time", "Successful Requests", "Failed Requests",
)  # fmt: skip
"""Of the notebooks' summary_results.csv, in their order; times in milliseconds."""

_MORE = (
    "P95 Response Time", "P99 Response Time", "P99 Service Time", "Cold Requests", "P95 Cold Response Time", "trial", "kind", "rate",
    "verdict", "why", "cost_usd", "usd_per_million", CALL, *SERVICE_NAMES,
)  # fmt: skip


def summary_table(parts: Sequence[LoadPart], state: ExperimentState) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows of summary_results.csv, one a probe, stage or open load; each is of its own requests alone.

    Args:
        parts: (n,) of all trials.
        state: of the experiment, for what trials cost, and what the service and the client say of all their calls.
    """
    kinds = sorted({kind for part in parts for kind in part.counts.errors})
    header = [*SEED_COLUMNS, *_MORE, *(f"errors_{kind}" for kind in kinds)]
    return header, [[*_row(part, state.trials.get(part.trial)), *(part.counts.errors[kind] for kind in kinds)] for part in parts]


def _row(part: LoadPart, trial: TrialState | None) -> list[Any]:
    told, counts, seconds = part.told, part.counts, part.seconds
    latency, failed, failure_s = whole_latency(counts), counts.failed, counts.failure_s
    of_trial = [None if trial is None else trial.value_of(name) for name in ("cost_usd", "usd_per_million", CALL, *SERVICE_NAMES)]
    return [
        part.models, told.get("instance_type"), told.get("platform"), told.get("targets"), told.get("users"),
        counts.answered / seconds if seconds else None, _ms(latency.quantile_s(0.5, failed, failure_s)), _ms(latency.mean_s),
        latency.min_us / 1000 if latency.n else None, _ms(latency.quantile_s(1.0, failed, failure_s)), counts.answered, failed,
        _ms(latency.quantile_s(0.95, failed, failure_s)), _ms(latency.quantile_s(0.99, failed, failure_s)),
        _ms(counts.service["warm"].quantile_s(0.99, failed, failure_s)), counts.latency["cold"].n,
        _ms(counts.latency["cold"].quantile_s(0.95)),
        part.trial, told.get("kind"), told.get("rate"), told.get("verdict"), told.get("why") or None, *of_trial,
    ]  # fmt: skip


def write_load(folder: Path, experiment: Path, state: ExperimentState, records: Iterable[Record]) -> Sequence[Path]:
    """Write the folder `load` where there is something to write, and return the paths of its files.

    Args:
        folder: for it.
        experiment: in which the folders of jobs are.
        state: of the experiment.
        records: of its journal.

    Raises:
        UserError: one cannot be written.
    """
    parts = read_load_parts(experiment, state, records)
    if not parts:
        return []
    place = folder / "load"
    written = [place / "summary_results.csv"]
    write_csv(written[0], *summary_table(parts, state))
    for trial, group in groupby(parts, key=lambda part: part.trial):
        mine = list(group)
        own = place / f"trial-{trial}"
        tables = {
            "stats": stats_table(mine), "stats_history": history_table(mine), "failures": failures_table(mine),
            "exceptions": exceptions_table(mine),
        }  # fmt: skip
        for name, table in tables.items():
            written.append(own / f"{mine[0].name}_{name}.csv")
            write_csv(written[-1], *table)
        written.append(own / "histograms.json")
        with replacing(written[-1]) as file:
            file.write(strict_json.dumps(_histograms(mine)))
    return written


def _histograms(parts: Sequence[LoadPart]) -> dict[str, Any]:
    """Return the counts of each part and of all together: upper ends of buckets in microseconds, and how many are in each."""
    together = LoadTally(parts[0].counts.limit_s, parts[0].counts.failure_s)
    for part in parts:
        together.merge(part.counts)
    return {
        "unit": "us",
        "parts": [{**_told(part), **_counted(part.counts)} for part in parts],
        "together": _counted(together),
    }


def _told(part: LoadPart) -> dict[str, Any]:
    return {name: part.told.get(name) for name in ("kind", "number", "rate", "users", "verdict", "seconds")}


def _counted(counts: LoadTally) -> dict[str, Any]:
    latency = {kind: one.as_dict() for kind, one in counts.latency.items()}
    service = {kind: one.as_dict() for kind, one in counts.service.items()}
    return {"latency": latency, "service": service, "lag": counts.lag.as_dict(), "errors": dict(sorted(counts.errors.items()))}


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else 1000 * seconds
