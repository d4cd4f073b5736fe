"""What would run, and its worst case in time and money: by forecasts where there are any, else by the limits. Starts nothing."""

from __future__ import annotations

import dataclasses
import heapq
import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.base import Backend, BackendContext
from backends.registry import backend_class
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.budget import cost_usd
from benchmarking.controller.method import Method
from benchmarking.forecasting.lookup import ForecastLookup, forecast_text, latest_forecasts
from benchmarking.methods.registry import build_method
from benchmarking.planning.concurrency import instance_types, worker_count
from benchmarking.planning.feasibility import Refuse, check_listed, refusal
from benchmarking.planning.job_builder import JobBuilder
from benchmarking.report import table
from benchmarking.report.text import dollars, duration
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.trial import TrialSpec


@dataclass(frozen=True)
class Worst:
    """The most that the jobs of an experiment take and cost.

    Args:
        longest_s: seconds until the last one ends; None where nothing limits them.
        usd: with each job at its forecast's upper bound where it has one, else at its limit; None where unknown or without limit.
        limit_usd: with each job at its limit.
        forecast: jobs whose forecast was used; `jobs`: all of them, None where nothing limits their number.
        dropped: configurations that do not fit by their forecast, and will not run.
    """

    longest_s: float | None
    usd: float | None
    limit_usd: float | None
    forecast: int
    jobs: int | None
    dropped: int = 0


def describe(specs: Sequence[ExperimentSpec], environ: Mapping[str, str]) -> str:
    """Return a table of the experiments: trials, workers, and the most that each can take and cost; raises `UserError` as a run would."""
    rows, worst, label = [], [], ""
    forecast_tables: dict[str, None] = {}
    for spec in specs:
        forecasts = latest_forecasts(spec.definition, spec.results_dir, spec.backend)
        forecast_tables[forecast_text(forecasts)] = None
        with tempfile.TemporaryDirectory() as scratch:
            backend = backend_class(spec.backend).create(BackendContext(spec.definition, Path(scratch), spec.seed, environ))
            try:
                label = backend.capabilities.price_label
                row, one = _row(spec, backend, forecasts)
            finally:
                backend.close()
        rows.append(row)
        worst.append(one)
    header = ["benchmark", "method", "seed", "back-end", "instance types", "trials", "workers", "longest", "worst cost"]
    blocks = [table(header, rows), *(text for text in forecast_tables if text)]
    return "\n\n".join([*blocks, _total(worst, specs, label)])


def _total(worst: Sequence[Worst], specs: Sequence[ExperimentSpec], label: str) -> str:
    prices = f" ({label} prices)" if label else ""
    lines = [f"worst case of all: {dollars(_dearest([one.usd for one in worst], len(worst)))}{prices}; nothing was started"]
    used = sum(one.forecast for one in worst)
    dropped = sum(one.dropped for one in worst)
    if dropped:
        lines.append(f"left out, as by their forecast they do not fit: {dropped}")
    if used:
        of = sum(one.jobs or 0 for one in worst)
        limits = "max_run" if any(spec.definition.budget.max_run is not None for spec in specs) else "three times its forecast"
        lines += [
            f"of it, {used} of {of} jobs at the 95 % bound of their forecast; if every job ran to its limit ({limits}): "
            f"{dollars(_dearest([one.limit_usd for one in worst], len(worst)))}"
        ]
    return "\n".join(lines)


def _row(spec: ExperimentSpec, backend: Backend, forecasts: ForecastLookup) -> tuple[list[object], Worst]:
    definition = spec.definition
    check_listed(definition, refusal(definition, spec.backend, backend.room))
    jobs = JobBuilder(definition, spec.backend, "dry-run", region=backend.region, longest_s=forecasts.longest_s)
    types = instance_types(definition, spec.backend)
    workers = worker_count(definition, spec.backend, backend.room)
    prices = [jobs.price({"instance_type": name})[0] for name in types]
    dearest = None if None in prices else max(price for price in prices if price is not None)
    method = build_method(spec.method, definition, spec.seed, spec.method_arguments)
    dropped: set[str] = set()

    def ruled_out(trial: TrialSpec) -> str | None:
        found = forecasts.problem(trial)
        if found is not None:
            dropped.add(configuration_id(trial.configuration))
        return found

    planned = _planned(spec, method, refusal(definition, spec.backend, backend.room, ruled_out))
    budget = definition.budget
    trials = budget.max_num_trials if planned is None else min(len(planned), budget.max_num_trials or len(planned))
    if trials == 0:
        raise UserError(
            f"{spec.title}: no configuration can run",
            _last_refusal(spec, refusal(definition, spec.backend, backend.room, forecasts.problem)),
        )
    if budget.max_cost is not None and dearest is not None:
        _check_first(spec, jobs, planned, min(price for price in prices if price is not None))
    counts = definition.search_space.domains.get("instance_count")
    most = max((int(value) for value in counts.grid(0)), default=1) if counts is not None else 1
    worst = (
        _of_any(trials, jobs.worst_s, dearest, most, workers)
        if planned is None or trials is None
        else _of_planned(planned, trials, jobs, forecasts, workers)
    )
    worst = dataclasses.replace(_capped(worst, spec, workers, jobs.worst_s, dearest, most), dropped=len(dropped))
    row = [
        definition.name,
        spec.method,
        spec.number,
        spec.backend,
        ", ".join(types),
        "open-ended" if trials is None else trials,
        workers,
        "no limit" if worst.longest_s is None else duration(worst.longest_s),
        "no limit" if worst.usd is None and dearest is not None else dollars(worst.usd),
    ]
    return row, worst


def _of_any(trials: int | None, each_s: float, dearest: float | None, most: int, workers: int) -> Worst:
    """Return the worst case of trials that are not known beforehand: each as long and as dear as any may be."""
    if trials is None:
        return Worst(None, None, None, 0, None)
    usd = cost_usd(trials * each_s, dearest, most)
    return Worst(-(-trials // workers) * each_s, usd, usd, 0, trials)


def _of_planned(planned: Sequence[TrialSpec], trials: int, jobs: JobBuilder, forecasts: ForecastLookup, workers: int) -> Worst:
    """Return the worst case of known jobs: the dearest of them, where not all may run."""
    jobs_s: list[float] = []
    usd: list[float | None] = []
    limits_usd: list[float | None] = []
    forecast = 0
    for trial in planned:
        limit_s, upper_s = jobs.worst_case_s(trial), forecasts.upper_s(trial)
        seconds = limit_s if upper_s is None else min(limit_s, upper_s)
        price = jobs.price(trial.configuration)
        jobs_s.append(seconds)
        usd.append(cost_usd(seconds, *price))
        limits_usd.append(cost_usd(limit_s, *price))
        forecast += upper_s is not None
    slots = [0.0] * workers
    for seconds in heapq.nlargest(trials, jobs_s):
        slots[slots.index(min(slots))] += seconds
    return Worst(max(slots), _dearest(usd, trials), _dearest(limits_usd, trials), min(forecast, trials), trials)


def _dearest(values: Sequence[float | None], count: int) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(heapq.nlargest(count, known)) if len(known) == len(values) else None


def _capped(worst: Worst, spec: ExperimentSpec, workers: int, each_s: float, dearest: float | None, most: int) -> Worst:
    """Return the worst case within the limits of time and money."""
    budget = spec.definition.budget
    longest_s = _least(worst.longest_s, budget.max_wallclock_time)
    caps: list[float | None] = []
    if dearest is not None:
        by_time = None if budget.max_wallclock_time is None else cost_usd((budget.max_wallclock_time + each_s) * workers, dearest, most)
        caps = [by_time, budget.max_cost]
    return dataclasses.replace(worst, longest_s=longest_s, usd=_least(worst.usd, *caps), limit_usd=_least(worst.limit_usd, *caps))


def _least(*values: float | None) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _check_first(spec: ExperimentSpec, jobs: JobBuilder, planned: Sequence[TrialSpec] | None, cheapest: float) -> None:
    """Raise `UserError` where the limit of money is less than what a single job may cost: then none would ever start."""
    budget = spec.definition.budget
    if planned:
        usd, single_s = min(
            (cost_usd(jobs.worst_case_s(one), *jobs.price(one.configuration)) or 0.0, jobs.worst_case_s(one)) for one in planned
        )
    else:
        single_s, usd = jobs.worst_s, cost_usd(jobs.worst_s, cheapest, 1) or 0.0
    if budget.max_cost is not None and usd > budget.max_cost:
        raise UserError(
            f"{spec.title}: max_cost = {dollars(budget.max_cost)} allows no trial",
            f"one may cost {dollars(usd)}: {duration(single_s)} at most",
            "raise max_cost, or lower max_run",
        )


def _last_refusal(spec: ExperimentSpec, refuse: Refuse) -> str:
    suggestion = build_method(spec.method, spec.definition, spec.seed, spec.method_arguments).suggest()
    return (refuse(suggestion.trial) or "") if suggestion is not None else ""


def _planned(spec: ExperimentSpec, method: Method, refuse: Refuse) -> list[TrialSpec] | None:
    """Return what all jobs run, one for each repeat; None where they depend on results, or are too many or endless."""
    suggestions = method.plan()
    if suggestions is None:
        return None
    valid = [suggestion.trial for suggestion in suggestions if refuse(suggestion.trial) is None]
    return [trial for trial in valid for _ in range(spec.repeats)]
