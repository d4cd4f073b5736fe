"""What would run, and its worst case in time and money. Starts nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from backends.base import Backend, BackendContext
from backends.registry import backend_class
from benchmarking.budget import cost_usd
from benchmarking.canary.foresight import described, foresee
from benchmarking.experiment import ExperimentSpec
from benchmarking.jobs import JobBuilder
from benchmarking.methods.registry import build_method
from benchmarking.refusal import Refuse, check_listed, refusal
from benchmarking.report import table
from benchmarking.report.text import dollars, duration
from benchmarking.workers import instance_types, worker_count
from definitions.errors import UserError

_MANY = 20_000


def describe(specs: Sequence[ExperimentSpec], environ: Mapping[str, str]) -> str:
    """Return a table of the experiments: trials, workers, and the most that each can take and cost; raises `UserError` as a run would."""
    rows, total = [], 0.0
    unknown = False
    label = ""
    for spec in specs:
        with tempfile.TemporaryDirectory() as scratch:
            backend = backend_class(spec.backend).create(BackendContext(spec.definition, Path(scratch), spec.seed, environ))
            try:
                label = backend.capabilities.price_label
                row, worst_usd = _row(spec, backend)
            finally:
                backend.close()
        rows.append(row)
        total, unknown = total + (worst_usd or 0.0), unknown or worst_usd is None
    header = ["benchmark", "method", "seed", "back-end", "instance types", "trials", "workers", "longest", "worst cost"]
    worst = dollars(None if unknown else total) + (f" ({label} prices)" if label else "")
    foreseen = dict.fromkeys(described(foresee(spec.definition, spec.results_dir, spec.backend)) for spec in specs)
    blocks = [table(header, rows), *(text for text in foreseen if text)]
    return "\n\n".join([*blocks, f"worst case of all: {worst}; nothing was started"])


def _row(spec: ExperimentSpec, backend: Backend) -> tuple[list[object], float | None]:
    definition = spec.definition
    refuse = refusal(definition, spec.backend, backend.room)
    check_listed(definition, refuse)
    jobs = JobBuilder(definition, spec.backend, "dry-run")
    types = instance_types(definition, spec.backend)
    workers = worker_count(definition, spec.backend, backend.room)
    prices = [jobs.price({"instance_type": name})[0] for name in types]
    dearest = None if None in prices else max(price for price in prices if price is not None)
    trials = _trials(spec, refuse)
    if trials == 0:
        raise UserError(f"{spec.title}: no configuration can run", _last_refusal(spec, refuse))
    budget = definition.budget
    longest_s = None if trials is None else -(-trials // workers) * jobs.worst_s
    if budget.max_wallclock_time is not None:
        longest_s = min(longest_s or float("inf"), budget.max_wallclock_time)
    counts = definition.search_space.domains.get("instance_count")
    most = max((int(value) for value in counts.grid(0)), default=1) if counts is not None else 1
    worst_usd = cost_usd(trials * jobs.worst_s, dearest, most) if trials is not None else None
    if longest_s is not None and dearest is not None:
        by_time = cost_usd((longest_s + jobs.worst_s) * workers, dearest, most)
        worst_usd = by_time if worst_usd is None else min(worst_usd, by_time or worst_usd)
    if budget.max_cost is not None and dearest is not None:
        worst_usd = min(worst_usd if worst_usd is not None else float("inf"), budget.max_cost)
    if budget.max_cost is not None and dearest is not None:
        first_usd = cost_usd(jobs.worst_s, min(price for price in prices if price is not None), 1) or 0.0
        if first_usd > budget.max_cost:
            raise UserError(
                f"{spec.title}: max_cost = {dollars(budget.max_cost)} allows no trial",
                f"one may cost {dollars(first_usd)}: {duration(jobs.worst_s)} at most",
                "raise max_cost, or lower max_run",
            )
    row = [
        definition.name,
        spec.method,
        spec.number,
        spec.backend,
        ", ".join(types),
        "open-ended" if trials is None else trials,
        workers,
        "no limit" if longest_s is None else duration(longest_s),
        "no limit" if worst_usd is None and dearest is not None else dollars(worst_usd),
    ]
    return row, worst_usd


def _last_refusal(spec: ExperimentSpec, refuse: Refuse) -> str:
    suggestion = build_method(spec.method, spec.definition, spec.seed, spec.method_arguments).suggest()
    return (refuse(suggestion.configuration) or "") if suggestion is not None else ""


def _trials(spec: ExperimentSpec, refuse: Refuse) -> int | None:
    """Return how many trials can be started at most; None where nothing limits them."""
    definition = spec.definition
    limit = definition.budget.max_num_trials
    method = build_method(spec.method, definition, spec.seed, spec.method_arguments)
    count: int | None = None
    size = len(definition.trials) if definition.trials else definition.search_space.size
    if method.independent and size is not None and size <= _MANY:
        valid = 0
        while (suggestion := method.suggest()) is not None:
            valid += refuse(suggestion.configuration) is None
        count = valid * definition.repeats
    return limit if count is None else (count if limit is None else min(limit, count))
