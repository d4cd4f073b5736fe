"""What an experiment's state is made of: its trials, open jobs and suggestions as far as they are known. Changed by the state alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from backends.failures import Cause
from benchmarking.analysis.epoch_costs import FIRST_EPOCH, EpochCosts, EpochTimes, epoch_costs, epoch_times, paid_seconds
from benchmarking.analysis.pipeline_figures import own_share
from benchmarking.analysis.service_shares import SERVICE_NAMES, service_shares
from benchmarking.controller.progress_curve import ProgressCurve
from benchmarking.controller.retry_policy import TrialStatus, as_number
from definitions.parts import PER_EPOCH, USD_PER_MILLION
from definitions.schema import DERIVED_OBJECTIVES, Mode, Order
from definitions.trial import TrialSpec

_MOST_LEVELS = 256
"""Of the levels that a job reported so many are kept; of the earlier ones every second is left out where there are more."""


@dataclass(frozen=True)
class StateSetup:
    """What the fold depends on besides the records.

    Args:
        objectives: name -> mode, the primary one first.
        repeats: measurements per evaluation; `order`: of them; `seed`: of a random order.
        level_name: metric that holds the level, where the method hears levels; else None.
        full_level: highest level of a progressive fidelity; None where there is none.
        reported_level: metric that holds the level of a progressive fidelity, whether the method hears it or not; None where there is none.
        waits_for_others: whether jobs wait for what other experiments hold.
        expressions: that find metrics in what a script prints, by metric.
        default_instance_type: what a job runs on whose configuration does not say; empty where that is not known.
    """

    objectives: Mapping[str, Mode]
    repeats: int = 1
    order: Order = "default"
    seed: int = 0
    level_name: str | None = None
    full_level: float | None = None
    default_instance_type: str = ""
    reported_level: str | None = None
    waits_for_others: bool = False
    expressions: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class TrialState:
    """One trial so far.

    Args:
        trial: its number; `evaluation`: the one that it measures; `spec`: what it runs.
        submissions: jobs that were handed to the back-end for it; `starts`: those of them that really ran.
        cost_usd: of all its jobs; None where a price is unknown.
        last, best: last and best value reported under each name.
        causes: how often its jobs ended for each cause.
        code: version of the code that its latest job ran; empty where that is not known.
        epochs: number -> seconds of each, where its script reports them.
        progress: all that the latest job of a canary or a prefix said of how far it is; None where it said nothing, and of other trials.
    """

    trial: int
    evaluation: int
    spec: TrialSpec
    status: TrialStatus = TrialStatus.RUNNING
    cause: Cause | None = None
    message: str = ""
    submissions: int = 0
    starts: int = 0
    reports: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    duration_s: float = 0.0
    billable_s: float = 0.0
    cost_usd: float | None = 0.0
    last: dict[str, Any] = field(default_factory=dict)
    best: dict[str, float] = field(default_factory=dict)
    causes: Counter[Cause] = field(default_factory=Counter)
    log_tail: Sequence[str] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    epochs: dict[int, EpochTimes] = field(default_factory=dict)
    progress: ProgressCurve | None = None

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The point of the search space that it measures."""
        return self.spec.configuration

    @property
    def level(self) -> float | None:
        """Level of a per-job fidelity that the method chose; None for the full job."""
        return self.spec.level

    @property
    def repeat(self) -> int:
        """Number of the repeated measurement, from 0."""
        return self.spec.repeat

    def take(self, metrics: Mapping[str, Any], objectives: Sequence[tuple[str, Mode]]) -> None:
        """Take in a report.

        Args:
            metrics: that it holds.
            objectives: name and mode of those that scripts report.
        """
        self.reports += 1
        self.last.update(metrics)
        times = epoch_times(metrics)
        if times is not None:
            # One that is run again, as nothing of it was kept, counts as it was the last time.
            number = as_number(metrics.get("epoch"))
            self.epochs[len(self.epochs) + 1 if number is None else int(number)] = times
        for name, mode in objectives:
            value = as_number(metrics.get(name))
            if value is None or not math.isfinite(value):
                continue
            best = self.best.get(name)
            if best is None or (value < best if mode == "min" else value > best):
                self.best[name] = value

    @property
    def reused(self) -> Mapping[str, Any] | None:
        """What an earlier measurement took that stands for this trial, which was not run: `from`, duration and costs; None for most."""
        found = self.usage.get("reused")
        return found if isinstance(found, Mapping) else None

    @property
    def epoch_costs(self) -> EpochCosts | None:
        """What its epochs cost; None where its script reports none, or its price is not known."""
        paid_s, download_s = paid_seconds(self.usage)
        # Of several jobs the last one's stages are no measure of what all were billed, nor of a discount.
        seconds = paid_s if paid_s is not None and self.starts == 1 else self.billable_s
        if not self.epochs or self.cost_usd is None or seconds <= 0 or self.reused is not None:
            return None
        return epoch_costs(self.epochs, self.cost_usd / seconds, download_s)

    def value_of(self, objective: str) -> float | None:
        """Return the last value of an objective, derived ones included; None where it has none."""
        if objective in ("cost_usd", "billable_s", *PER_EPOCH) and self.reused is not None:
            return as_number(self.reused.get(objective))
        if objective in ("cost_usd", "billable_s"):
            # What it measured for other trials too is paid for, but no figure of its own.
            paid = self.cost_usd if objective == "cost_usd" else self.billable_s
            return None if paid is None else paid * own_share(self.usage, self.duration_s)
        if objective == USD_PER_MILLION:
            paid, seconds = self.value_of("cost_usd"), self.value_of("billable_s")
            return usd_per_million(paid, seconds, as_number(self.last.get(MAX_RATE)))
        if objective in SERVICE_NAMES:
            return service_shares(self.last, self.usage).get(objective)
        if objective in PER_EPOCH:
            costs = self.epoch_costs
            return None if costs is None else costs.first_usd if objective == FIRST_EPOCH else costs.later_usd
        if objective in DERIVED_OBJECTIVES:
            # Of the script alone, where other commands ran before or after it.
            measured = self.usage.get("measured")
            alone = as_number(measured.get(objective)) if isinstance(measured, Mapping) else None
            if alone is not None:
                return alone
            if objective == "duration_s":
                return self.duration_s * own_share(self.usage, self.duration_s)
            return as_number(self.usage.get(objective))
        return as_number(self.last.get(objective))


MAX_RATE = "max_rate_per_s"
"""What a load reports the largest rate as that it passed at."""


def usd_per_million(cost_usd: float | None, billable_s: float | None, max_rate_per_s: float | None) -> float | None:
    """Return the dollars of a million requests at the largest rate that passed; None where a number is unknown, or no rate passed.

    Args:
        cost_usd: that a trial was billed for `billable_s` seconds, so that their ratio is what an endpoint costs a second.
        billable_s: see there.
        max_rate_per_s: requests a second.
    """
    if cost_usd is None or not billable_s or max_rate_per_s is None or not max_rate_per_s > 0:
        return None
    return cost_usd / billable_s * 1e6 / max_rate_per_s


@dataclass(slots=True)
class JobState:
    """One open job.

    `levels` are those of a progressive fidelity that it reported, each with the seconds since its start; `memo` is what its back-end noted
    of it for who takes it over.
    """

    name: str
    trial: int
    attempt: int
    submitted_at: float
    restore_from: str | None
    worst_usd: float | None
    accepted_at: float | None = None
    started: bool = False
    started_at: float | None = None
    ended: bool = False
    incarnation: int = 0
    reports: int = 0
    last_event_at: float | None = None
    stop_requested_at: float | None = None
    stop_reason: Cause | None = None
    stop_message: str = ""
    stage: str = ""
    progress: ProgressCurve | None = None
    levels: list[tuple[float, float]] = field(default_factory=list)
    pool_booked: bool = False
    memo: Mapping[str, Any] = field(default_factory=dict)

    def take(self, metrics: Mapping[str, Any], elapsed_s: float, level_name: str | None) -> None:
        """Take in a report of its current life.

        Args:
            metrics: that it holds.
            elapsed_s: seconds since its start.
            level_name: what of them says how far it is; None for nothing.
        """
        self.reports += 1
        if level_name is not None and (level := as_number(metrics.get(level_name))) is not None:
            self.levels.append((elapsed_s, level))
            if len(self.levels) > _MOST_LEVELS:
                del self.levels[1 : _MOST_LEVELS // 2 : 2]

    def begin_anew(self, incarnation: int) -> None:
        """Begin another life of its script."""
        self.incarnation, self.reports, self.levels = incarnation, 0, []


@dataclass(slots=True)
class EvaluationState:
    """A suggestion: what it runs, the trials that measure it, and whether the method has ended it.

    `undelivered` are trials that came to an end of their own while it was ended or paused, whose results the method has not had.
    """

    first: TrialSpec
    checkpoint_from: int | None
    trials: list[int] = field(default_factory=list)
    undelivered: list[int] = field(default_factory=list)
    removed: bool = False

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The point of the search space that it measures."""
        return self.first.configuration

    def trial(self, repeat: int) -> TrialSpec:
        """Return what the trial of a repeat runs, the definition's repeats counted from 0."""
        return replace(self.first, repeat=self.first.repeat + repeat) if repeat else self.first
