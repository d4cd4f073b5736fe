"""What to change about an input pipeline: predicted by ceilings that were measured, beside what came of it where it ran. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarking.report.pipelines import MeasuredPipeline, PipelineOption
from benchmarking.workloads.measuring.advice import predicted_rate
from benchmarking.workloads.measuring.bound import CHECKPOINT, NOT_DECIDED, Ceiling, bound_of
from definitions.datasets import ImagesDataset
from definitions.schema import BenchmarkDefinition

WORTH = 1.05
"""Least gain that is advised."""

MODEL_ERROR = 0.17
"""What predictions are off by beside the errors of their ceilings, as a share: 95 % of the outcomes of tests/performance/advice.py, which
it was taken from, lie within two of it."""

_READING = ("ingestion", "dataset")
_MACHINE = "instance_type"


@dataclass(frozen=True)
class MeasuredOutcome:
    """What came of a change that was measured: the configuration, its gain, and between which it lies (two standard errors)."""

    evaluation: int
    gain: float
    low: float
    high: float


@dataclass(frozen=True)
class PipelineAdvice:
    """Advice for a configuration.

    Args:
        of: the configuration.
        option: the change; None where nothing is predicted to help.
        outcome: what came of it, where that was measured.
    """

    of: MeasuredPipeline
    option: PipelineOption | None
    outcome: MeasuredOutcome | None = None


def advice_for(
    one: MeasuredPipeline, others: Sequence[MeasuredPipeline], definition: BenchmarkDefinition, imitated: Callable[[Mapping[str, Any]], str]
) -> PipelineAdvice:
    """Return the change of a configuration that is predicted to gain most.

    Args:
        one: the configuration.
        others: all that were measured.
        definition: whose space and rules a change keeps to, and whose data sets are read.
        imitated: says of a configuration what of it is no real thing: between two different ones nothing is predicted.
    """
    found = [option for option in options_for(one, others, definition, imitated) if option.gain >= WORTH]
    if not found:
        return PipelineAdvice(one, None)
    best = max(found, key=lambda option: option.gain)
    return PipelineAdvice(one, best, outcome_of(one, best.change, others))


def options_for(
    one: MeasuredPipeline, others: Sequence[MeasuredPipeline], definition: BenchmarkDefinition, imitated: Callable[[Mapping[str, Any]], str]
) -> list[PipelineOption]:
    """Return all changes of a configuration whose gain can be predicted, also those that gain nothing; arguments as for `advice_for`."""
    found = [*one.told]
    if one.bound_by != CHECKPOINT:  # of saves no ceiling of the pipeline says anything
        found += [*_elsewhere(one, others), *_smaller_images(one, definition)]
    kept = []
    for option in found:
        changed = {**one.configuration, **{key: value for key, value in option.change.items() if not key.startswith("datasets.")}}
        if imitated(changed) == imitated(one.configuration) and all(rule.holds(changed) for rule in definition.rules):
            kept.append(_with_model_error(option))
    return kept


def outcome_of(one: MeasuredPipeline, change: Mapping[str, Any], others: Sequence[MeasuredPipeline]) -> MeasuredOutcome | None:
    """Return what a change came to; None where that was not measured.

    Args:
        one: the configuration that is changed.
        change: what is set.
        others: all that were measured.
    """
    wanted = {**one.settings, **change}
    other = next((two for two in others if two is not one and two.settings == wanted), None)
    if other is None or other.rate is None or not one.rate:
        return None
    gain, spread = other.rate / one.rate, 2 * math.hypot(one.error, other.error)
    return MeasuredOutcome(other.evaluation, gain, gain * max(1 - spread, 0.0), gain * (1 + spread))


def _elsewhere(one: MeasuredPipeline, others: Sequence[MeasuredPipeline]) -> Iterator[PipelineOption]:
    """Yield what another way of reading, data set or instance type would give, by the ceilings that others measured there."""
    now = predicted_rate(one.parts, one.shape)
    seen: list[Mapping[str, Any]] = []
    # Who is as like as can be knows best what its parts would give there.
    for other in sorted(others, key=lambda two: _differences(one, two)):
        change = {key: other.settings[key] for key in (*_READING, _MACHINE) if other.settings.get(key) != one.settings.get(key)}
        if not change or change in seen or (_MACHINE in change and len(change) > 1) or _trains_otherwise(one, other):
            continue
        seen.append(change)
        hands = max(one.shape.workers, 1) / max(other.shape.workers, 1)
        parts = replace(one.parts, fetch=_times(other.parts.fetch, hands), store={})
        shape = one.shape
        if "dataset" in change:
            parts = replace(parts, decode=_times(other.parts.decode, hands))
        if _MACHINE in change:
            same_workers = other.shape.workers == one.shape.workers
            parts = replace(parts, compute=other.parts.compute, decode=_times(other.parts.decode, hands))
            parts = replace(parts, handover=other.parts.handover if same_workers else parts.handover)
            shape = replace(shape, cores=other.shape.cores)
        else:
            # Processor seconds of the part that changes are not those that were measured.
            shape = replace(shape, cpu_s=other.shape.cpu_s)
        then = other.bound_by if bound_of(parts).by == "client" and other.bound_by != NOT_DECIDED else bound_of(parts).by
        yield _option(change, now, predicted_rate(parts, shape), then)


def _differences(one: MeasuredPipeline, other: MeasuredPipeline) -> int:
    return sum(one.settings.get(key) != other.settings.get(key) for key in {*one.settings, *other.settings})


def _trains_otherwise(one: MeasuredPipeline, other: MeasuredPipeline) -> bool:
    return any(one.settings.get(key) != other.settings.get(key) for key in ("model", "batch_size", "image_size", "compute_s"))


def _smaller_images(one: MeasuredPipeline, definition: BenchmarkDefinition) -> Iterator[PipelineOption]:
    """Yield what storing images at the size that is trained on would give: decoding takes as long as there are pixels, at best."""
    name, size = str(one.settings.get("dataset") or next(iter(definition.datasets), "")), one.settings.get("image_size", 96)
    dataset = definition.datasets.get(name)
    if not isinstance(dataset, ImagesDataset) or not isinstance(size, int) or dataset.pixels[0] * dataset.pixels[1] <= size * size:
        return
    now, ratio = predicted_rate(one.parts, one.shape), dataset.pixels[0] * dataset.pixels[1] / size**2
    most = replace(one.parts, decode=_times(one.parts.decode, ratio))
    least = replace(one.parts, decode=_times(one.parts.decode, math.sqrt(ratio)))
    free = replace(one.shape, cpu_s=0.0)
    high, low = _option({}, now, predicted_rate(most, free), ""), _option({}, now, predicted_rate(least, free), "")
    change = {f"datasets.{name}.{'image_size' if dataset.resolution is None else 'resolution'}": _sized(dataset, size)}
    yield PipelineOption(change, math.sqrt(high.gain * low.gain), low.low, high.high, bound_of(most).by)


def _sized(dataset: ImagesDataset, size: int) -> Any:
    return size if dataset.resolution is None else f"{size}x{size}"


def _times(ceiling: Ceiling, factor: float) -> Ceiling:
    return Ceiling(ceiling.samples_per_s * factor, ceiling.error)


def _option(change: Mapping[str, Any], now: Ceiling, then: Ceiling, binds: str) -> PipelineOption:
    gain = then.samples_per_s / now.samples_per_s if now.samples_per_s > 0 else 1.0
    spread = 2 * math.hypot(now.error, then.error)
    return PipelineOption(change, gain, gain * max(1 - spread, 0.0), gain * (1 + spread), binds)


def _with_model_error(option: PipelineOption) -> PipelineOption:
    """Return a change whose interval holds what predictions are off by, too; on the scale of ratios."""
    down, up = (abs(math.log(end / option.gain)) if end > 0 else math.inf for end in (option.low, option.high))
    low, high = (math.hypot(end, 2 * MODEL_ERROR) for end in (down, up))
    return replace(option, low=option.gain * math.exp(-low), high=option.gain * math.exp(high))
