"""How right forecasts were of the jobs that were finished here: scores that calibrate intervals."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from pathlib import Path

from benchmarking.forecasting.data.canary import COMPLETED, Canary, CanaryTable, by_configuration
from benchmarking.forecasting.data.results_folder import read_measured
from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.calibration import Calibration, score
from benchmarking.forecasting.model.draws import Question
from definitions.errors import UserError

_MOST = 100
"""Experiments whose scores count: the latest, as machines and code change."""


def calibration_of(results_dir: Path) -> Calibration:
    """Return the scores of the jobs that were finished here: configurations with canaries in one experiment, and full runs in any.

    Each job is forecast from its canaries alone, so that no forecast has seen what it is scored by. The latest `_MOST` experiments of the
    benchmarks that have canaries count; full runs of another experiment do where script, arguments, data and back-end are the same.
    """
    if not results_dir.is_dir():
        return Calibration({})
    with_canaries = {_place(mark.parent) for mark in results_dir.glob("*/*/*/forecasts.csv")}
    marks = [mark for mark in results_dir.glob("*/*/*/experiment.json") if _place(mark.parent) in with_canaries]
    experiments = []
    for mark in sorted(marks, key=_age, reverse=True)[:_MOST]:
        with contextlib.suppress(UserError, OSError, KeyError, ValueError):
            found = read_measured(mark.parent)
            experiments += [found] if found is not None else []
    elsewhere: dict[tuple[str, str], list[Canary]] = {}
    for one in experiments:
        for run in one.full.canaries:
            elsewhere.setdefault((one.code, run.about["configuration_id"]), []).append(run)
    scores: dict[str, list[float]] = {}
    for one in experiments:
        groups = by_configuration(one.canaries.canaries)
        more = [
            replace(run, configuration=name)
            for name, group in groups.items()
            for run in elsewhere.get((one.code, group[0].about["configuration_id"]), ())
        ]
        for metric, values in scores_of(CanaryTable((*one.canaries.canaries, *more)), one.region).items():
            scores.setdefault(metric, []).extend(values)
    return Calibration(scores)


def _place(folder: Path) -> tuple[str, str]:
    """Return benchmark and back-end of an experiment's folder, by its name."""
    return folder.parent.name, folder.name.rsplit("-", 2)[-2] if folder.name.count("-") >= 2 else ""


def _age(mark: Path) -> float:
    try:
        return (mark.parent / "journal.sqlite").stat().st_mtime
    except OSError:
        return 0.0


def scores_of(table: CanaryTable, region: str) -> dict[str, list[float]]:
    """Return by metric the scores of the configurations that also ran in full, costs by the prices of a region."""
    question = Question(Billing(region))
    groups = by_configuration(table.canaries)
    found: dict[str, list[float]] = {}
    for group in groups.values():
        full = [canary for canary in group if canary.is_full and canary.status == COMPLETED]
        small = [canary for canary in group if not canary.is_full]
        if not full or not small:
            continue
        for one in forecast(CanaryTable(tuple(small)), question):
            measured = [value for canary in full if (value := getattr(canary, one.metric, canary.about.get(one.metric))) is not None]
            if measured and (value := score(one, math.fsum(measured) / len(measured))) is not None:
                found.setdefault(one.metric, []).append(value)
    return found
