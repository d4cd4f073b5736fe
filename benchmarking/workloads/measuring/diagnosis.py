"""Puts a trial's ceilings together, each measured once for all trials that share what it depends on, and says what bounds the trial."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .advice import BatchWaits, Shape, advised, loader_rate, options, predicted_rate, saving_less
from .bound import CHECKPOINT, NOT_DECIDED, Bound, Ceiling, PipelineParts, bound_of
from .ceiling_file import CeilingFiles
from .ceilings import MeasuredCeiling, from_memory, loader_ceiling, model_ceiling, size_only, some_samples
from .draining import Drained
from .timed import Load

_MACHINE = ("instance_type", "cores", "device")
_LOADER = ("batch_size", "loader_workers", "prefetch_factor", "threads_per_worker", "pin_memory", "start_method", "loader")
_DATA = ("dataset", "location", "layout")
_OF_COMPUTE = (*_MACHINE, "model", "batch_size", "image_size", "torch_threads", "compute_s")
_OF_LOADER = (*_MACHINE, *_LOADER, *_DATA, "model", "image_size", "torch_threads")
_OF_READER = (*_MACHINE, *_LOADER, *_DATA, "reader", "s3_reader", "s3_buffer", "page_cache")
_OF_STORE = (*_MACHINE, *_DATA, "store", "page_cache")
NEEDED = tuple(dict.fromkeys((*_OF_COMPUTE, *_OF_LOADER, *_OF_READER, *_OF_STORE)))
"""Facts that a trial has to tell."""


@dataclass(frozen=True)
class Trial:
    """A trial whose ceilings are wanted.

    Args:
        facts: what ceilings depend on, by name: all of `NEEDED`.
        workers: of its loader; `prefetch`: batches that each makes ahead; `threads`: requests that each has in flight.
        cpu_s: processor seconds of a sample.
        samples_per_object: of the data set; None where the trial did not read all of it.
        dataset: what it read, of raw samples; None where data can be read once only.
        load: from a raw sample to what its model trains on; `train`: takes a step of it.
        batch: one of its batches.
        loader: makes a loader like the trial's for a map-style data set without end.
        reading: makes the trial's own loader, with another way of loading samples; None likewise.
        drain: drains the store raw; None where that cannot be.
        wait: returns when the device has done its work.
        before_reading: brings the page cache into the trial's state.
        waits: how its training waited; None where that says nothing.
    """

    facts: Mapping[str, Any]
    workers: int
    prefetch: int
    threads: int
    cpu_s: float
    samples_per_object: float | None
    dataset: Any
    load: Load
    train: Callable[[Any], Any]
    batch: Any
    loader: Callable[[Any], Iterable[Any]]
    reading: Callable[[Load], Iterable[Any]] | None
    drain: Callable[[], Mapping[int, Drained]] | None = None
    wait: Callable[[], Any] = lambda: None
    before_reading: Callable[[], Any] = lambda: None
    waits: BatchWaits | None = None


def parts_of(trial: Trial, files: CeilingFiles) -> tuple[PipelineParts | None, dict[str, MeasuredCeiling]]:
    """Return a trial's ceilings, and as they were measured; no parts where one of them gave too little to tell.

    Args:
        trial: whose.
        files: where those are that were measured before.
    """
    samples: list[Any] = []

    def memory(*, decoded: bool) -> MeasuredCeiling | None:
        if trial.dataset is None:
            return None
        if not samples:
            samples.extend(some_samples(trial.dataset))
        return loader_ceiling(trial.loader(from_memory(samples, trial.load, decoded=decoded)), trial.workers, trial.prefetch)

    def reader() -> MeasuredCeiling | None:
        if trial.reading is None:
            return None
        trial.before_reading()
        return loader_ceiling(trial.reading(size_only), trial.workers, trial.prefetch)

    measure: dict[str, tuple[Sequence[str], Callable[[], MeasuredCeiling | None]]] = {
        "compute": (_OF_COMPUTE, lambda: model_ceiling(trial.train, trial.batch, trial.wait)),
        "memory": (_OF_LOADER, lambda: memory(decoded=False)),
        "handover": (_OF_LOADER, lambda: memory(decoded=True)),
        "reader": (_OF_READER, reader),
    }
    found: dict[str, MeasuredCeiling] = {}
    for kind, (facts, one) in measure.items():
        known = files.get(kind, {name: trial.facts[name] for name in facts}, _documented(one))
        if known is not None:
            found[kind] = MeasuredCeiling(**known)
    if len(found) < len(measure):
        return None, found
    store = _store(trial, files)
    parts = PipelineParts(
        found["compute"].ceiling,
        found["memory"].decode_ceiling(trial.workers),
        found["handover"].ceiling if trial.workers else None,
        found["reader"].ceiling,
        store,
        max(trial.workers, 1) * trial.threads,
    )
    return parts, found


def _documented(measure: Callable[[], MeasuredCeiling | None]) -> Callable[[], Mapping[str, Any] | None]:
    def measured() -> Mapping[str, Any] | None:
        found = measure()
        return None if found is None else found.document()

    return measured


def _store(trial: Trial, files: CeilingFiles) -> dict[int, Ceiling]:
    if trial.drain is None or trial.samples_per_object is None:
        return {}
    drain = trial.drain

    def measured() -> Mapping[str, Any]:
        trial.before_reading()
        return {str(count): [one.objects_per_s, one.bytes_per_s, one.error] for count, one in drain().items()}

    known = files.get("store", {name: trial.facts[name] for name in _OF_STORE}, measured) or {}
    return {int(count): Ceiling(rate * trial.samples_per_object, error) for count, (rate, _, error) in known.items()}


def reported(bound: Bound, found: Mapping[str, MeasuredCeiling], parts: PipelineParts | None) -> dict[str, float | str]:
    """Return what a trial reports of its bound: the word, why, the headroom, and each ceiling with its error, infinite ones left out.

    Args:
        bound: of the trial.
        found: ceilings as they were measured.
        parts: those that it was decided by; None where one was missing.
    """
    rows: dict[str, float | str] = {"bound_by": bound.by, "bound_why": bound.why}
    if bound.headroom is not None and math.isfinite(bound.headroom):
        rows |= {"bound_headroom": bound.headroom, "bound_next": bound.runner_up}
    named = {} if parts is None else parts.by_name()
    if "memory" in found:
        named["memory"] = found["memory"].ceiling
    if "reader" in found:
        named["reader"] = found["reader"].ceiling
    for name, ceiling in named.items():
        if math.isfinite(ceiling.samples_per_s):
            rows |= {f"ceiling_{name}": ceiling.samples_per_s, f"ceiling_{name}_error": ceiling.error}
    return rows


def diagnosed(trial: Trial, files: CeilingFiles, start_s: float, whole_s: float, checkpoint_s: float = 0.0) -> dict[str, Any]:
    """Return what a trial reports of its bound.

    Args:
        trial: whose.
        files: where ceilings are that were measured before.
        start_s: seconds of its epochs before their first batches.
        whole_s: seconds of its epochs.
        checkpoint_s: seconds for which training stood still for saves in them.
    """
    try:
        parts, found = parts_of(trial, files)
    except Exception as error:  # noqa: BLE001 (the trial is over: what it measured is not lost by what fails now)
        return {"bound_by": NOT_DECIDED, "bound_why": f"its ceilings could not be measured: {type(error).__name__}: {error}"}
    if parts is None:
        missing = sorted({"compute", "memory", "handover", "reader"} - set(found))
        return reported(Bound(NOT_DECIDED, f"ceilings gave too little to tell: {', '.join(missing)}"), found, None)
    bound = bound_of(parts, start_s=start_s, whole_s=whole_s, checkpoint_s=checkpoint_s)
    shape = Shape(trial.workers, trial.threads, int(trial.facts["cores"]), trial.cpu_s, trial.prefetch, trial.waits)
    return reported(bound, found, parts) | _advice(parts, shape, bound, is_async=trial.facts.get("checkpoint_async") is True)


def _advice(parts: PipelineParts, shape: Shape, bound: Bound, *, is_async: bool) -> dict[str, Any]:
    """Return the rate that ceilings predict, what the loader gives by itself, and what to change: the best setting, and all others."""
    advice = saving_less(bound, is_async=is_async) if bound.by == CHECKPOINT else advised(parts, shape, bound)
    rows: dict[str, Any] = {"advice": advice.why, "cores": shape.cores, "cpu_s_per_sample": shape.cpu_s}
    rows["advice_options"] = [
        {"change": dict(one.change), "gain": one.gain, "low": one.low, "high": one.high, "then": one.then}
        for one in (options(parts, shape) if bound.by != CHECKPOINT else [advice] if advice.change else [])
    ]
    for name, ceiling in (("predicted_samples_per_s", predicted_rate(parts, shape)), ("loader_samples_per_s", loader_rate(parts))):
        if math.isfinite(ceiling.samples_per_s):
            rows[name] = ceiling.samples_per_s
    if advice.change:
        rows |= {
            "advice_change": " ".join(f"{name}={str(value).lower()}" for name, value in advice.change.items()),
            "advice_then": advice.then,
        }
        rows |= {"advice_gain": advice.gain, "advice_gain_low": advice.low, "advice_gain_high": advice.high}
    return rows
