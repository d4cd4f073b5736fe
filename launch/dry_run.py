"""What would run, and its worst case in time and money: by forecasts where there are any, else by the limits. Starts nothing."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from backends.base import Backend, BackendContext
from backends.common.cpu_quota import usable_cores
from backends.registry import backend_class
from benchmarking.archive.code_version import code_version
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.measured import PastMeasurements
from benchmarking.archive.past_results import warm_start
from benchmarking.archive.reusing import why_not
from benchmarking.controller.journal import has_records
from benchmarking.controller.method import Method
from benchmarking.decided import decided, what_travels
from benchmarking.forecasting.lookup import ForecastLookup, forecast_text, latest_forecasts
from benchmarking.methods.registry import build_method
from benchmarking.planning.concurrency import instance_types, worker_count
from benchmarking.planning.feasibility import Refuse, check_listed, check_room, refusal
from benchmarking.planning.job_builder import JobBuilder
from benchmarking.planning.worst_case import Plan, WorstCase, dearest, least_usd, worst_case
from benchmarking.report.text import dollars, duration, table
from benchmarking.studies.money import purse_of
from benchmarking.studies.record import StudyRecord
from benchmarking.studies.standing import final_ending, spent_usd
from definitions.backend_registry import backend_description
from definitions.configuration import configuration_id
from definitions.errors import UserError
from definitions.instances import default_instance_type
from definitions.trial import TrialSpec
from launch.at_once import at_once
from launch.study_planning import folder_of, share_of


@dataclass(frozen=True)
class Outlook:
    """What a command would do.

    Args:
        text: a table of the experiments: trials, workers, and the most that each can take and cost.
        longest_s: seconds until the last one ends, with as many at once as there may be; None where nothing limits them.
        usd: that their trials cost together at most; None where unknown or without limit.
    """

    text: str
    longest_s: float | None
    usd: float | None


def describe(specs: Sequence[ExperimentSpec], environ: Mapping[str, str], study: StudyRecord | None = None) -> str:
    """Return the text of what `outlook` finds."""
    return outlook(specs, environ, study).text


def outlook(specs: Sequence[ExperimentSpec], environ: Mapping[str, str], study: StudyRecord | None = None) -> Outlook:
    """Return what experiments would do, take and cost.

    Args:
        specs: the experiments.
        environ: of the controller.
        study: that they belong to; None where they are no study.

    Raises:
        UserError: as a run would.
    """
    rows, worst, label, dropped, priced = [], [], "", 0, True
    spent = [spent_usd(spec.folder) for spec in specs]
    forecast_tables: dict[str, None] = {}
    lines: dict[str, None] = {}
    travels: dict[str, None] = {}
    for spec, spent_already in zip(specs, spent, strict=True):
        with tempfile.TemporaryDirectory() as scratch:
            backend = backend_class(spec.backend).create(BackendContext(spec.definition, Path(scratch), spec.seed, environ))
            try:
                forecasts = latest_forecasts(spec.definition, spec.results_dir, spec.backend, backend.region)
                forecast_tables[forecast_text(forecasts)] = None
                label = backend.capabilities.price_label
                row, one, left_out, planned = _row(spec, backend, forecasts)
                is_over = has_ended(spec)
                one = still_to_spend(one, spec.definition.budget.max_cost, spent_already, is_over=is_over)
                longest = "no limit" if one.longest_s is None else duration(one.longest_s)
                cost = "no limit" if one.usd is None and planned.priced else dollars(one.usd)
                method = _method(spec, backend)
                lines |= dict.fromkeys(
                    decided(
                        spec, backend, planned.workers, finite=method.finite, environ=environ, trials=partial(attrgetter("trials"), planned)
                    )
                )
                lines |= dict.fromkeys([*([method.about] if method.about else []), *_of_earlier_runs(spec, method)])
                travels["\n".join(what_travels(spec.definition, backend_description(spec.backend), whole=True))] = None
            finally:
                backend.close()
        rows.append([*row, "over" if is_over else longest, cost, *([dollars(spent_already)] if any(spent) else [])])
        worst.append(one)
        dropped += left_out
        priced = priced and planned.priced
    header = [
        "benchmark",
        "method",
        "seed",
        "back-end",
        "instance types",
        "trials",
        "workers",
        "longest",
        "worst cost",
        *(["spent"] if any(spent) else []),
    ]
    blocks = [table(header, rows), *(text for text in forecast_tables if text)]
    together = None if study is None else at_once(study.flags, specs, cores=len(usable_cores()))
    lines |= {} if together is None else {together.text: None}
    blocks += ["\n".join(lines)] if lines else []
    blocks += [text for text in travels if text]
    text = "\n\n".join([*blocks, _total(worst, specs, study, spent, label, dropped, priced=priced)])
    left = [one for one, spec in zip(worst, specs, strict=True) if not has_ended(spec)]
    most = 1 if together is None else together.most
    return Outlook(
        text, longest_together([one.longest_s for one in left], most), _together([one.usd for one in worst], specs, study, spent)
    )


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
        limits = "max_run" if any(spec.definition.budget.max_run is not None for spec in specs) else "three times its forecast"
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
    for name in dict.fromkeys(purse_of(study.flags, spec.definition.name) for spec in specs):
        own = [number for number, spec in enumerate(specs) if purse_of(study.flags, spec.definition.name) == name]
        usd, limit = dearest([values[number] for number in own], len(own)), specs[own[0]].definition.budget.max_cost
        # What experiments spent that are not asked for now is gone all the same.
        tag_folder, asked = specs[0].results_dir / specs[0].tag, {spec.folder for spec in specs}
        group = [
            folder_of(tag_folder, one, study.flags.backend) for one in study.experiments if purse_of(study.flags, one.benchmark) == name
        ]
        elsewhere = math.fsum(spent_usd(folder) for folder in group if folder not in asked)
        left = None if limit is None else max(0.0, limit - math.fsum(spent[number] for number in own) - elsewhere)
        sums.append(usd if left is None or usd is None else min(usd, left))
    return dearest(sums, len(sums))


def _row(spec: ExperimentSpec, backend: Backend, forecasts: ForecastLookup) -> tuple[list[object], WorstCase, int, Plan]:
    definition = spec.definition
    check_listed(definition, refusal(definition, spec.backend, backend.capacity))
    check_room(definition, spec.backend, backend.capacity, backend.there_is)
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

    planned = _planned(spec, method, refusal(definition, spec.backend, backend.capacity, ruled_out))
    plan = Plan(definition, spec.backend, jobs, planned, workers, forecasts.upper_s)
    if plan.trials == 0:
        raise UserError(
            f"{spec.title}: no configuration can run",
            _last_refusal(_method(spec, backend), refusal(definition, spec.backend, backend.capacity, forecasts.problem)),
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
