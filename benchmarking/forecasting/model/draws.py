"""Draws of each metric of the full job, from the laws that fit a configuration's canaries. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import operator
import statistics
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import PREFIX
from benchmarking.forecasting.model.billing import Billing, billable_draws, cost_draws
from benchmarking.forecasting.model.calibration import Calibration
from benchmarking.forecasting.model.columns import column_of
from benchmarking.forecasting.model.evidence import hides_growth
from benchmarking.forecasting.model.fit import Fitted
from benchmarking.forecasting.model.memory import in_blocks
from benchmarking.forecasting.model.phases import Laws
from benchmarking.forecasting.model.prefix_draws import time_draws
from benchmarking.forecasting.model.prefix_memory import peak_draws
from benchmarking.forecasting.model.result import UTILISATIONS
from benchmarking.forecasting.model.unseen_terms import with_hidden_term
from benchmarking.forecasting.model.utilisation import utilisation_draws
from definitions.instances import is_nominal

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

DRAWS = 3000

_HIDDEN, _HIDDEN_SQUARE, _HIDDEN_DECADES = 0.4, 0.7, 2.0
"""A fit phase too short to show its growth hides, so probably, a part within two decades below it, mostly growing with the square."""


@dataclass(frozen=True)
class Question:
    """What is asked of the canaries.

    Args:
        billing: how time becomes money.
        at: nominal fraction of the full job.
        calibration: learnt from finished jobs of this installation.
        draws: number of draws behind the quantiles.
        seed: of the draws.
    """

    billing: Billing
    at: float = 1.0
    calibration: Calibration = field(default_factory=Calibration)
    draws: int = DRAWS
    seed: int = 0


def draw(item: Fitted, question: Question) -> dict[str, FloatArray]:
    """Return draws (n,) by metric of the full job, of what was measured; the same canaries and seed give the same draws.

    Args:
        item: a fitted configuration.
        question: what is asked; `n` is its number of draws.
    """
    import numpy as np

    # A generator of its own for each configuration, so that one's draws do not depend on which others are forecast.
    digest = hashlib.sha256(f"{question.seed}-{item.name}".encode()).digest()
    rng, size, at = np.random.default_rng(int.from_bytes(digest[:8])), question.draws, 1.0
    values: dict[str, FloatArray] = {}
    # The beginning of the full job goes before what small jobs say of it.
    if item.prefixes:
        return _from_prefixes(item, question, rng)
    # Wall time: the sum of its parts.
    parts = {} if item.time is None else {name: part.sample(at, size, rng) for name, part in item.time.parts.items()}
    if item.time is not None and item.time.loaded:
        # What slows the fit phase of a run slows its other phases as well: their draws are put into the same order.
        ranks = np.argsort(np.argsort(parts[item.time.main]))
        parts = {name: drawn if name == item.time.main else np.sort(drawn)[ranks] for name, drawn in parts.items()}
    if item.time is not None and hides_growth(item, item.time, "total_s"):
        parts[item.time.main] = _with_unseen_growth(item.time, item, "train_s", parts[item.time.main], rng)
    if parts:
        values["total_s"] = reduce(operator.add, parts.values())
        if "train" in parts:
            values["train_s"] = parts["train"]
    if item.quiet is not None:
        values["quiet_s"] = reduce(operator.add, (part.sample(at, size, rng) for part in item.quiet.parts.values()))
    # Processor time likewise.
    if item.cpu is not None:
        cpu = {name: part.sample(at, size, rng) for name, part in item.cpu.parts.items()}
        if hides_growth(item, item.cpu, "cpu_s"):
            cpu[item.cpu.main] = _with_unseen_growth(item.cpu, item, "train_cpu_s", cpu[item.cpu.main], rng)
        values["cpu_s"] = reduce(operator.add, cpu.values())
    # Peak memory.
    if item.rss is not None:
        values["rss_bytes"] = item.rss.draws(size, rng)
    if item.gpu is not None:
        values["gpu_bytes"] = in_blocks(item.gpu.sample(at, size, rng))
    if parts:
        values |= _billed(item, question, values["total_s"])
    # Mean utilisation, by the share of the time outside start-up.
    steady = 1.0 - parts["startup"] / values["total_s"] if "startup" in parts else 1.0
    for name in UTILISATIONS:
        found = utilisation_draws(item.used, name, steady, size, rng)
        if found is not None:
            values[name] = found
    return values


def ladder_draws(item: Fitted, question: Question) -> dict[str, FloatArray]:
    """Return what `draw` does, from small jobs alone."""
    return draw(dataclasses.replace(item, canaries=tuple(one for one in item.canaries if one.status != PREFIX)), question)


def _from_prefixes(item: Fitted, question: Question, rng: Generator) -> dict[str, FloatArray]:
    """Return draws by metric from the beginning of the full job, and from small jobs what it does not show."""
    values: dict[str, FloatArray] = {}
    for metric, clock in (("total_s", "wall"), ("cpu_s", "cpu"), ("quiet_s", "quiet")):
        found = time_draws(item.prefixes, item.used, question.draws, rng, clock, lent=item.lent)
        if found is not None:
            values[metric] = found
    peaks = peak_draws(item.prefixes, item.used, item.rss, question.draws, rng)
    if peaks is not None:
        values["rss_bytes"] = peaks
    gpu = [canary.gpu_bytes for canary in item.prefixes if canary.gpu_bytes]
    if gpu:
        values["gpu_bytes"] = in_blocks(max(gpu) * (1 + 0.01 * abs(rng.standard_normal(question.draws))))
    for name in UTILISATIONS:
        found = utilisation_draws(item.prefixes, name, 1.0, question.draws, rng)
        if found is not None:
            values[name] = found
    return values | _billed(item, question, values["total_s"])


def _billed(item: Fitted, question: Question, total_s: FloatArray) -> dict[str, FloatArray]:
    """Return draws of what the full job is billed: the bill follows from the time, and is never extrapolated itself."""
    values: dict[str, FloatArray] = {}
    price = question.billing.usd_per_hour(item.instance_type)
    if item.instance_type:
        billable = billable_draws(total_s, question.billing, item.instance_type, _billed_startup_s(item))
        # Where nothing is known of the bill it is the time in whole seconds, which needs no row of its own.
        if not is_nominal(item.instance_type) and (question.billing.says_more or any("billable_s" in one.about for one in item.used)):
            values["billable_s"] = billable
        if price is not None:
            values["cost_usd"] = cost_draws(billable, price, item.instance_count)
    return values


def _billed_startup_s(item: Fitted) -> float:
    """Return by how much the bills of the canaries were longer than their time; 0 where that was not measured."""
    more = [canary.about["billable_s"] - canary.total_s for canary in item.used if "billable_s" in canary.about and canary.total_s]
    return max(0.0, statistics.median(more)) if more else 0.0


def _with_unseen_growth(laws: Laws, item: Fitted, column: str, draws: FloatArray, rng: Generator) -> FloatArray:
    """Return draws of the fit phase that allow for growth which short canaries cannot show."""
    measured = column_of(item.used, column)
    if laws.growth is None or measured is None or len(measured) != len(laws.growth.x):
        return draws
    top = float(laws.growth.x.max())
    seen = float(measured[laws.growth.x >= 0.9 * top].mean())
    return with_hidden_term(draws, seen, top, rng, chance=_HIDDEN, squares=_HIDDEN_SQUARE, decades=_HIDDEN_DECADES)
