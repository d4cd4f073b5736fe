"""What would run, and its worst case in time and money: by forecasts where there are any, else by the limits. Starts nothing."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from backends.backend_context import BackendContext
from backends.base import Backend
from backends.common.cpu_quota import usable_cores
from backends.registry import make_backend
from benchmarking.archive.code_version import code_version
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.measured import PastMeasurements
from benchmarking.archive.past_results import warm_start
from benchmarking.archive.reusing import why_not
from benchmarking.controller.method import Method
from benchmarking.controller.sqlite_journal import has_records
from benchmarking.decided import decided, what_travels
from benchmarking.forecasting.lookup import LIMIT_WORDS, ForecastLookup, forecast_text, latest_forecasts
from benchmarking.methods.registry import build_method
from benchmarking.planning.concurrency import instance_types, worker_count
from benchmarking.planning.engine_orders import EngineCost, engine_cost
from benchmarking.planning.feasibility import Refuse, check_capacity, check_listed, refusal
from benchmarking.planning.inputs import check_folders, unreadable
from benchmarking.planning.job_builder import JobBuilder
from benchmarking.planning.worst_case import Plan, WorstCase, dearest, least_usd, worst_case
from benchmarking.report.text import dollars, duration, table
from benchmarking.studies.money import limit_of
from benchmarking.studies.record import StudyRecord
from benchmarking.studies.standing import final_ending, spent_usd
from definitions.backend_registry import backend_description
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.instances import default_instance_type, price_of
from definitions.trial import TrialSpec
from launch.at_once import at_once
from launch.study_planning import folder_of, share_of


@dataclass(frozen=True)
class DryRun:
    """What a command would do.

    Args:
        text: a table of the experiments: trials, workers, and the most that each can take and cost.
        longest_s: seconds until the last one ends, with as many at once as there may be; None where nothing limits them.
        usd: that their trials cost together at most; None where unknown or without limit.
        serial_s: seconds that they take one after the other, likewise.
    """

    text: str
    longest_s: float | None
    usd: float | None
    serial_s: float | None


def describe(specs: Sequence[ExperimentSpec], environ: Mapping[str, str], study: StudyRecord | None = None) -> str:
    """Return the text of what `dry_run` finds."""
    return dry_run(specs, environ, study).text


def dry_run(specs: Sequence[ExperimentSpec], environ: Mapping[str, str], study: StudyRecord | None = None) -> DryRun:
    """Return what experiments would do, take and cost.

    Args:
        specs: the experiments.
        environ: of the controller.
        study: that they belong to; None where they are no study.

    Raises:
        UserError: as a run would.
    """
    specs, spent, refused = _readable(specs, study)
    looks = [_look(spec, environ, spent_already) for spec, spent_already in zip(specs, spent, strict=True)]
    rows = [[*look.row, *([dollars(usd)] if any(spent) else [])] for look, usd in zip(looks, spent, strict=True)]
    blocks = [
        table([*_HEADER, *(["spent"] if any(spent) else [])], rows),
        *dict.fromkeys(look.forecasts for look in looks if look.forecasts),
    ]
    together = None if study is None else at_once(study.flags, specs, cores=len(usable_cores()))
    lines = [*dict.fromkeys(line for look in looks for line in look.lines), *([] if together is None else [together.text]), *refused]
    blocks += ["\n".join(lines)] if lines else []
    blocks += dict.fromkeys(look.travels for look in looks if look.travels)
    worst, dropped, priced = [look.worst for look in looks], sum(look.dropped for look in looks), all(look.priced for look in looks)
    text = "\n\n".join([*blocks, _total(worst, specs, study, spent, looks[-1].price_label, dropped, priced=priced)])
    each_s = [look.worst.longest_s for look in looks if not look.is_over]
    longest_s = longest_together(each_s, 1 if together is None else together.most)
    return DryRun(text, longest_s, _together([one.usd for one in worst], specs, study, spent), longest_together(each_s, 1))


def _readable(specs: Sequence[ExperimentSpec], study: StudyRecord | None) -> tuple[list[ExperimentSpec], list[float], list[str]]:
    """Return experiments with what each has spent, and a line for each of a study that a run would refuse, as its journal is damaged."""
    found: list[ExperimentSpec] = []
    spent: list[float] = []
    refused: list[str] = []
    for spec in specs:
        try:
            spent.append(spent_usd(spec.folder))
        except UserError as error:
            if study is None or (not found and spec is specs[-1]):
                raise
            refused.append(f"left out, as a run will: {spec.title}: {error}".replace("\n  ", "; "))
        else:
            found.append(spec)
    return found, spent, refused


_HEADER = ("benchmark", "method", "seed", "back-end", "instance types", "trials", "workers", "longest", "worst cost")


@dataclass(frozen=True)
class _Look:
    """What one experiment would do: a row of the table, what it costs, and what is to be said of it."""

    row: Sequence[object]
    worst: WorstCase
    forecasts: str
    lines: Sequence[str]
    travels: str
    price_label: str
    dropped: int
    priced: bool
    is_over: bool


def _look(spec: ExperimentSpec, environ: Mapping[str, str], spent_already_usd: float) -> _Look:
    with tempfile.TemporaryDirectory() as scratch:
        backend = make_backend(spec.backend, BackendContext(spec.definition, Path(scratch), spec.seed, environ))
        try:
            forecasts = latest_forecasts(spec.definition, spec.results_dir, spec.backend, backend.region)
            row, whole, dropped, planned = _row(spec, backend, forecasts)
            engines = _engines(spec, backend)
            whole = engines.added_to(whole, spec.definition.budget.max_cost)
            is_over = has_ended(spec)
            worst = still_to_spend(whole, spec.definition.budget.max_cost, spent_already_usd, is_over=is_over)
            longest = "no limit" if worst.longest_s is None else duration(worst.longest_s)
            cost = "no limit" if worst.usd is None and planned.priced else dollars(worst.usd)
            method = _method(spec, backend)
            trials = partial(attrgetter("trials"), planned)
            lines = [*decided(spec, backend, planned.workers, finite=method.finite, environ=environ, trials=trials)]
            lines += [*([method.about] if method.about else []), *_of_earlier_runs(spec, method), *_engine_lines(engines)]
            lines += [f"left out of the space: {reason}" for reason in _unreadable(spec)]
            travels = "\n".join(what_travels(spec.definition, backend_description(spec.backend), whole=True))
            label = backend.capabilities.price_label
        finally:
            backend.close()
    shown = [*row, "over" if is_over else longest, cost]
    return _Look(shown, worst, forecast_text(forecasts), lines, travels, label, dropped, planned.priced, is_over)


def longest_together(longest_s: Sequence[float | None], most: int) -> float | None:
    """Return when the last of some experiments ends at the latest, each begun as soon as a place is free (Graham's bound).

    Args:
        longest_s: seconds of each; None where nothing limits it.
        most: how many run at once.
    """
    known = [one for one in longest_s if one is not None]
    if len(known) < len(longest_s):
        return None
    longest = max(known, default=0.0)
    return (math.fsum(known) - longest) / most + longest


def _of_earlier_runs(spec: ExperimentSpec, method: Method) -> list[str]:
    """Return in words what an experiment would take from earlier runs."""
    has_begun = has_records(spec.folder / "journal.sqlite")
    lines = [] if has_begun else warm_start(spec, method)[1]
    if spec.definition.reuse:
        code = code_version(spec)
        reason = why_not(method, spec.method, code.code)
        lines += [reason] if reason else PastMeasurements(spec, code, has_begun=has_begun).lines
    return lines


def _total(
    worst: Sequence[WorstCase],
    specs: Sequence[ExperimentSpec],
    study: StudyRecord | None,
    spent: Sequence[float],
    label: str,
    dropped: int,
    *,
    priced: bool,
) -> str:
    def total(values: Sequence[float | None]) -> str:
        usd = _together(values, specs, study, spent)
        return "no limit" if usd is None and priced else dollars(usd)

    prices = f" ({label} prices)" if label else ""
    before = f", beside {dollars(math.fsum(spent))} that were spent before" if any(spent) else ""
    lines = [f"worst case of all: {total([one.usd for one in worst])}{prices}{before}; nothing was started"]
    used = sum(one.forecast for one in worst)
    if dropped:
        lines.append(f"left out, as by their forecast they do not fit: {dropped}")
    if used:
        of = sum(one.jobs or 0 for one in worst)
        limits = "max_run" if any(spec.definition.budget.max_run is not None for spec in specs) else LIMIT_WORDS
        lines += [
            f"of it, {used} of {of} jobs at the 95 % bound of their forecast; if every job ran to its limit ({limits}): "
            f"{total([one.limit_usd for one in worst])}"
        ]
    return "\n".join(lines)


def still_to_spend(whole: WorstCase, limit_usd: float | None, spent_usd: float, *, is_over: bool) -> WorstCase:
    """Return the worst case of what is left of an experiment.

    Args:
        whole: of all of it, from its beginning.
        limit_usd: of its money, what it has spent included; None where there is no limit.
        spent_usd: what it has spent, with the worst case of jobs in flight.
        is_over: whether it ended for good.
    """
    if is_over:
        return replace(whole, usd=0.0, limit_usd=0.0)
    if limit_usd is None or not spent_usd:
        return whole
    left_usd = max(0.0, limit_usd - spent_usd)
    usd, at_limit = (None if value is None else min(value, left_usd) for value in (whole.usd, whole.limit_usd))
    return replace(whole, usd=usd, limit_usd=at_limit)


def has_ended(spec: ExperimentSpec) -> bool:
    """Return whether an experiment ended for good under its present budget, so that nothing of it would run."""
    return final_ending(spec.folder, spec.definition.budget) is not None


def _together(
    values: Sequence[float | None], specs: Sequence[ExperimentSpec], study: StudyRecord | None, spent: Sequence[float]
) -> float | None:
    """Return what experiments cost together at most, each by its own value; those that have a limit in common no more than that."""
    if study is None or study.flags.shares != "first_come":
        return dearest(values, len(values))
    sums = []
    for name in dict.fromkeys(limit_of(study.flags, spec.definition.name) for spec in specs):
        own = [number for number, spec in enumerate(specs) if limit_of(study.flags, spec.definition.name) == name]
        usd, limit = dearest([values[number] for number in own], len(own)), specs[own[0]].definition.budget.max_cost
        # What experiments spent that are not asked for now is gone all the same.
        tag_folder, asked = specs[0].results_dir / specs[0].tag, {spec.folder for spec in specs}
        group = [
            folder_of(tag_folder, one, study.flags.backend) for one in study.experiments if limit_of(study.flags, one.benchmark) == name
        ]
        elsewhere = math.fsum(spent_usd(folder) for folder in group if folder not in asked)
        left = None if limit is None else max(0.0, limit - math.fsum(spent[number] for number in own) - elsewhere)
        sums.append(usd if left is None or usd is None else min(usd, left))
    return dearest(sums, len(sums))


def _row(spec: ExperimentSpec, backend: Backend, forecasts: ForecastLookup) -> tuple[list[object], WorstCase, int, Plan]:
    definition = spec.definition
    check_listed(definition, refusal(definition, spec.backend, backend.capacity, there_is=backend.there_is))
    check_folders(definition, spec.backend)
    check_capacity(definition, spec.backend, backend.capacity, backend.there_is)
    jobs = JobBuilder(definition, spec.backend, "dry-run", region=backend.region, longest_s=forecasts.longest_s)
    types = instance_types(definition, spec.backend)
    workers = worker_count(definition, spec.backend, backend.capacity)
    method = _method(spec, backend)
    dropped: set[str] = set()

    def ruled_out(trial: TrialSpec) -> str | None:
        found = forecasts.problem(trial)
        if found is not None:
            dropped.add(configuration_id(trial.configuration))
        return found

    planned = _planned(spec, method, refusal(definition, spec.backend, backend.capacity, ruled_out, backend.there_is))
    plan = Plan(definition, spec.backend, jobs, planned, workers, forecasts.upper_s)
    if plan.trials == 0:
        raise UserError(
            f"{spec.title}: no configuration can run",
            _last_refusal(_method(spec, backend), refusal(definition, spec.backend, backend.capacity, forecasts.problem, backend.there_is)),
        )
    if plan.priced:
        _check_first(spec, plan)
    worst = worst_case(plan)
    row = [
        definition.name,
        spec.method,
        spec.number,
        spec.backend,
        ", ".join(types),
        "open-ended" if plan.trials is None else plan.trials,
        workers,
    ]
    return row, worst, len(dropped), plan


def _engines(spec: ExperimentSpec, backend: Backend) -> EngineCost:
    def usd_per_hour(instance_type: str) -> float | None:
        found = price_of(instance_type, backend.region, options=spec.definition.block)
        return None if found is None else found.usd_per_hour

    return engine_cost(spec.definition, spec.backend, usd_per_hour)


def _engine_lines(engines: EngineCost) -> list[str]:
    if not engines.instance_types:
        return []
    on, count = ", ".join(dict.fromkeys(engines.instance_types)), len(engines.instance_types)
    return [
        f"TensorRT engines are made before, by {count} training job{'s' * (count > 1)} on {on}: of what is shown up to "
        f"{duration(engines.seconds)} and {dollars(engines.usd)}; those of earlier runs are kept"
    ]


def _unreadable(spec: ExperimentSpec) -> tuple[str, ...]:
    definition = spec.definition
    return () if definition.trials or not (definition.inputs or definition.datasets) else unreadable(definition, spec.backend)


def _check_first(spec: ExperimentSpec, plan: Plan) -> None:
    """Raise `UserError` where the limit of money is less than what a single job may cost: then none would ever start."""
    most_usd = spec.definition.budget.max_cost
    if most_usd is None:
        return
    usd, single_s = least_usd(plan)
    if usd > most_usd:
        share = share_of(spec.resolved)
        raise UserError(
            f"{spec.title}: max_cost = {dollars(most_usd)}{f', {share},' if share else ''} allows no trial",
            f"one may cost {dollars(usd)}: {duration(single_s)} at most",
            "raise max_cost, or lower max_run" + (", or ask for fewer experiments" if share else ""),
        )


def _method(spec: ExperimentSpec, backend: Backend) -> Method:
    usual = default_instance_type(spec.backend)
    return build_method(spec.method, spec.definition, spec.seed, spec.method_arguments, region=backend.region, instance_type=usual)


def _last_refusal(method: Method, refuse: Refuse) -> str:
    suggestion = method.suggest()
    return (refuse(suggestion.trial) or "") if suggestion is not None else ""


def _planned(spec: ExperimentSpec, method: Method, refuse: Refuse) -> list[TrialSpec] | None:
    """Return what all jobs run, one for each repeat; None where they depend on results, or are too many or endless."""
    suggestions = method.plan()
    if suggestions is None:
        return None
    valid = [suggestion.trial for suggestion in suggestions if refuse(suggestion.trial) is None]
    return [trial for trial in valid for _ in range(spec.repeats)]
