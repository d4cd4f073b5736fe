"""Canaries from jobs that a back-end's service already knows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from backends.past_jobs import FractionSource, PastJob
from benchmarking.analysis.measurements import PHASES, measurements
from benchmarking.forecasting.data.canary import Canary, CanaryTable, canary_from, checked
from benchmarking.report.labels import label, varying_keys
from definitions.errors import UserError

_ROUNDING_S = 1.5
"""Services tell times in whole seconds, the reporter does not."""


def canaries_of_jobs(jobs: Sequence[PastJob], source: FractionSource) -> CanaryTable:
    """Return jobs as canaries; those that differ only in fraction are one configuration, and one that is named twice was measured once.

    Start-up is the time between the start of the instance and that of the script, billed as it is, and the script's own where it says.

    Args:
        jobs: that have ended.
        source: where their fractions are found.

    Raises:
        UserError: a job has no fraction there, or one that is none.
    """
    jobs = list({job.name: job for job in jobs}.values())
    settings = [_settings(job, source) for job in jobs]
    keys = varying_keys([configuration for configuration, _ in settings])
    repeats: dict[tuple[str, float], int] = {}
    canaries = []
    for job, (configuration, fraction) in zip(jobs, settings, strict=True):
        name = label(configuration, keys or ["instance_type"])
        repeat = repeats.get((name, fraction), 0)
        repeats[name, fraction] = repeat + 1
        canaries.append(_canary(job, name, fraction, repeat))
    return checked(canaries)


def _settings(job: PastJob, source: FractionSource) -> tuple[Mapping[str, Any], float]:
    given = dict(job.arguments)
    found = given.pop(source.name, None) if source.kind == "hyperparameter" else job.fraction
    advice = "say where it is found: --fraction_from hyperparameter:NAME, manifest, or channel-bytes"
    if found is None:
        raise UserError(f"training job {job.name}: no fraction", f"hyperparameters: {', '.join(given) or 'none'}", advice)
    try:
        fraction = float(found)
    except ValueError:
        raise UserError(f"training job {job.name}: {source.name} = {found}", "a fraction is a number", advice) from None
    if not 0 < fraction <= 1:
        raise UserError(f"training job {job.name}: {source.name or source} = {fraction:g}", "a fraction is above 0 and at most 1")
    return {"instance_type": job.instance_type, "instance_count": job.instance_count, **given}, fraction


def _canary(job: PastJob, name: str, fraction: float, repeat: int) -> Canary:
    # What the job was billed and took as a whole is the service's to say.
    found = measurements(job.usage, job.metrics, 0.0, 0.0, None)
    reported = {key: value for key, value in found.items() if key not in ("total_s", "billable_s")}
    total_s, train_s = job.total_s, job.train_s
    before_s = max(0.0, total_s - train_s) if total_s is not None and train_s is not None else None
    values = {"train_s": train_s, "startup_s": before_s, **reported, "total_s": total_s}
    if "train_s" in reported and "startup_s" in reported and before_s is not None:
        values["startup_s"] = before_s + reported["startup_s"]
    elif "train_s" not in reported:
        # Without a timer of the fit phase it is all that the script did.
        values |= {**{f"{name}_s": None for name in PHASES}, "train_s": train_s, "startup_s": before_s}
    phases_s = math.fsum(value for name in PHASES if (value := values.get(f"{name}_s")) is not None)
    if total_s is not None and total_s < phases_s < total_s + _ROUNDING_S:
        values["total_s"] = phases_s
    return canary_from(
        name,
        fraction,
        repeat,
        {key: value for key, value in values.items() if value is not None},
        status=job.status,
        instance_type=job.instance_type,
        instance_count=job.instance_count,
        about={"job": job.name, **({} if job.billable_s is None else {"billable_s": job.billable_s})},
    )
