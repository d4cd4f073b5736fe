"""What was measured of each configuration's input pipeline: its rate, and the ceilings of its parts. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarking.analysis.pipeline_figures import BOUND_BY, ceilings_in, is_disturbed
from benchmarking.controller.retry_policy import TrialStatus, as_number
from benchmarking.controller.rows import TrialState
from benchmarking.workloads.measuring.advice import Shape
from benchmarking.workloads.measuring.bound import Ceiling, PipelineParts
from definitions.scalars import is_number, mean

RATE = "samples_per_s"


@dataclass(frozen=True)
class PipelineOption:
    """A change of a configuration.

    Args:
        change: what to set, by key; data sets are set by `datasets.NAME.KEY`.
        gain: how many times as fast; `low`, `high`: between these.
        then: what would bind it then.
    """

    change: Mapping[str, Any]
    gain: float
    low: float
    high: float
    then: str


@dataclass(frozen=True)
class MeasuredPipeline:
    """A configuration whose script says what bounds it.

    Args:
        evaluation: its number; `configuration`: it; `settings`: that and the fixed arguments.
        rates: number of the repeat -> samples per second of its last epoch's steady window; empty where all were too short.
        parts: ceilings of its last repeat.
        shape: of its loader.
        bound_by: as most repeats say.
        told: what its script says could be changed.
        disturbed: whether all repeats were measured beside other load.
    """

    evaluation: int
    configuration: Mapping[str, Any]
    settings: Mapping[str, Any]
    rates: Mapping[int, float]
    parts: PipelineParts
    shape: Shape
    bound_by: str
    told: Sequence[PipelineOption] = field(default=())
    disturbed: bool = False

    @property
    def rate(self) -> float | None:
        """Mean of its rates; None where there are none."""
        return mean([*self.rates.values()])

    @property
    def error(self) -> float:
        """Standard error of that mean over it; 0 where it was measured once."""
        values = [*self.rates.values()]
        middle = mean(values)
        if len(values) < 2 or not middle:
            return 0.0
        variance = math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1)
        return math.sqrt(variance / len(values)) / middle


def measured_pipeline(evaluation: int, trials: Sequence[TrialState], fixed: Mapping[str, Any]) -> MeasuredPipeline | None:
    """Return what the repeats of a configuration say of its pipeline; None where its script measures no ceilings.

    Args:
        evaluation: its number.
        trials: its repeats.
        fixed: arguments that all configurations have.
    """
    done = [trial for trial in trials if trial.status is TrialStatus.COMPLETED and trial.last.get(BOUND_BY)]
    if not done:
        return None
    last = done[-1].last
    named = {name: Ceiling(rate, error or 0.0) for name, (rate, error) in ceilings_in(last).items()}
    if "reader" not in named:
        return None
    endless = Ceiling(math.inf)
    settings = {**fixed, **done[-1].configuration}
    workers, threads = (_whole(settings.get(name), usual) for name, usual in (("loader_workers", 0), ("threads_per_worker", 1)))
    parts = PipelineParts(
        named.get("compute", endless), named.get("decode", endless), named.get("handover", endless) if workers else None, named["reader"]
    )
    shape = Shape(workers, threads, _whole(last.get("cores"), 1), as_number(last.get("cpu_s_per_sample")) or 0.0)
    bounds = [str(trial.last[BOUND_BY]) for trial in done]
    return MeasuredPipeline(
        evaluation,
        done[-1].configuration,
        settings,
        {trial.repeat: float(value) for trial in done if is_number(value := trial.last.get(RATE))},
        parts,
        shape,
        max(dict.fromkeys(bounds), key=bounds.count),
        _told(last.get("advice_options")),
        all(is_disturbed(trial.last) for trial in done),
    )


def _told(found: Any) -> list[PipelineOption]:
    options = []
    for one in found if isinstance(found, (list, tuple)) else ():
        change = one.get("change") if isinstance(one, Mapping) else None
        gain, low, high = (one.get(name) if change else None for name in ("gain", "low", "high"))
        if isinstance(change, Mapping) and is_number(gain) and is_number(low) and is_number(high):
            options.append(PipelineOption(dict(change), float(gain), float(low), float(high), str(one.get("then") or "")))
    return options


def _whole(value: Any, usual: int) -> int:
    return int(value) if is_number(value) else usual
