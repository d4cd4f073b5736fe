"""What to change about a pipeline, and what that would gain: by the ceilings of its parts. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from .bound import CHECKPOINT, NOT_DECIDED, Bound, Ceiling, PipelineParts, bound_of

_WORTH = 1.05


@dataclass(frozen=True)
class Advice:
    """One change.

    Args:
        change: what to set, by name; empty where no setting helps.
        gain: how many times as fast the trial would be.
        low, high: between these, by the errors of the ceilings.
        then: what would bind it then.
        why: a sentence.
    """

    change: Mapping[str, int | bool] = field(default_factory=dict)
    gain: float = 1.0
    low: float = 1.0
    high: float = 1.0
    then: str = ""
    why: str = ""


@dataclass(frozen=True)
class BatchWaits:
    """How training waited for its batches in the steady window.

    Args:
        samples_per_s: that were trained on.
        batch_s: seconds from batch to batch, in the mean.
        middle_s, late_s: of waits, the median and the 99 % quantile.
    """

    samples_per_s: float
    batch_s: float
    middle_s: float
    late_s: float

    @property
    def are_bursts(self) -> bool:
        """Whether most batches lie ready and some come late by more than a batch takes: what a larger stock evens out."""
        return self.middle_s < 0.1 * self.batch_s and self.late_s > self.batch_s


@dataclass(frozen=True)
class Shape:
    """What a trial's rate depends on beside its ceilings.

    Args:
        workers: of the loader; `threads`: requests that each has in flight.
        cores: of the trial.
        cpu_s: processor seconds of a sample, of loading and of training together; 0 where not known.
        prefetch: batches that each worker makes ahead.
        waits: how training waited for batches; None where that says nothing, as others used the machine.
    """

    workers: int
    threads: int = 1
    cores: int = 1
    cpu_s: float = 0.0
    prefetch: int = 0
    waits: BatchWaits | None = None


def loader_rate(parts: PipelineParts) -> Ceiling:
    """Return what the loader gives if nobody trains: a worker fetches and decodes by turns, and hands over meanwhile."""
    seconds = 1 / parts.fetch.samples_per_s + 1 / parts.decode.samples_per_s
    error = max(parts.fetch.error, parts.decode.error)
    made = Ceiling(1 / seconds if seconds > 0 else math.inf, error)
    if parts.handover is None or made.samples_per_s <= parts.handover.samples_per_s:
        return made
    return parts.handover


def predicted_rate(parts: PipelineParts, shape: Shape) -> Ceiling:
    """Return the rate of a trial: with workers that of the slower of loading and training, without the two by turns.

    No more than its cores do: samples a second times processor seconds of a sample (the utilisation law; Lazowska et al., Quantitative
    System Performance, 1984, ch. 3).

    Args:
        parts: ceilings.
        shape: of the trial.
    """
    loader, compute = loader_rate(parts), parts.compute
    if shape.workers:
        slower = min(loader, compute, key=lambda ceiling: ceiling.samples_per_s)
    else:
        seconds = 1 / loader.samples_per_s + 1 / compute.samples_per_s
        slower = Ceiling(1 / seconds if seconds > 0 else math.inf, max(loader.error, compute.error))
    most = shape.cores / shape.cpu_s if shape.cpu_s > 0 else math.inf
    return slower if slower.samples_per_s <= most else Ceiling(most, slower.error)


def advised(parts: PipelineParts, shape: Shape, bound: Bound) -> Advice:
    """Return the change that gains most, capped by what binds next; one without a setting where none helps.

    Args:
        parts: ceilings of the trial.
        shape: of the trial.
        bound: what binds it now.
    """
    found = options(parts, shape)
    if found:
        return found[0]
    if bound.by == NOT_DECIDED:
        return Advice(why="nothing that can be set is predicted to help")
    cap = "" if bound.headroom is None else f"; at most {bound.headroom:.2f} times, where {bound.runner_up} binds"
    return Advice(why=f"{_OTHERWISE.get(bound.by, 'nothing that can be set is predicted to help')}{cap}")


def saving_less(bound: Bound, *, is_async: bool) -> Advice:
    """Return what to change where training stands still for its checkpoints, of which no ceiling of the pipeline says anything.

    Args:
        bound: that of the trial, by its checkpoints.
        is_async: whether they are written behind training already.
    """
    most = bound.headroom or 1.0
    if is_async:
        return Advice(why=f"{_OTHERWISE[CHECKPOINT]}; at most {most:.2f} times, where {bound.runner_up} binds")
    # Training still waits for the copy of the state, and how long that takes was not measured: between nothing and all is gained.
    why = f"checkpoint_async=true: up to {most:.2f} times as fast, less what copying the state takes"
    return Advice({"checkpoint_async": True}, math.sqrt(most), 1.0, most, bound.runner_up, why)


def options(parts: PipelineParts, shape: Shape) -> list[Advice]:
    """Return the settings of the loader that are worth a trial, what gains most first; arguments as for `advised`."""
    now = predicted_rate(parts, shape)
    found = [_advice(now, changed, set_, name) for set_, name, changed in _changes(parts, shape)]
    found += _smoother(now, shape)
    return sorted((one for one in found if one.gain >= _WORTH), key=lambda one: -one.gain)


def _smoother(now: Ceiling, shape: Shape) -> list[Advice]:
    """Return a larger stock of batches where they come in bursts: it gains what the ceilings have left at most, and maybe nothing."""
    if shape.waits is None or not shape.workers or not shape.waits.are_bursts or shape.waits.samples_per_s <= 0:
        return []
    gain = now.samples_per_s / shape.waits.samples_per_s
    change = {"prefetch_factor": 2 * max(shape.prefetch, 1)}
    why = f"prefetch_factor={change['prefetch_factor']}: batches come in bursts; up to {gain:.2f} times as fast"
    return [Advice(change, gain, 1.0, gain * (1 + 2 * now.error), "the slowest part", why)]


_OTHERWISE = {
    "compute": "training binds: a faster accelerator, or a smaller model",
    "decode": "decoding binds on all cores: more cores, or images stored at the size that is trained on",
    "handover": "handing over binds: hand over less (smaller images, whole numbers in place of fractions), or load by threads",
    "client": "the reader binds: shards in place of files, larger shards, or another reader",
    "store_bandwidth": "the store gives no more: fewer bytes a sample, or a faster store",
    "store_latency": "the store answers late: more requests at once, or larger objects",
    CHECKPOINT: "saving binds: save more rarely (checkpoint_every), to a faster place, or less (checkpoint_sharding)",
    "start": "the start binds: shards in place of files, less to download, or more epochs a job",
}


def _changes(parts: PipelineParts, shape: Shape) -> Iterator[tuple[Mapping[str, int], str, Ceiling]]:
    # One worker more: they fetch and decode beside each other, as far as the store gives more to more.
    workers = shape.workers + 1
    more = _with_in_flight(parts, workers * shape.threads, workers / max(shape.workers, 1))
    handover = Ceiling(math.inf) if more.handover is None else more.handover
    yield {"loader_workers": workers}, _binds(more), predicted_rate(replace(more, handover=handover), replace(shape, workers=workers))
    # Several times as many requests of each worker, as far as was measured, which only a store that is waited for rewards.
    if parts.store and not math.isinf(parts.store_here.samples_per_s):
        times = [factor for factor in (2, 4, 8) if factor == 2 or parts.in_flight * factor <= max(parts.store)]
        found = [_with_in_flight(parts, parts.in_flight * factor, 1.0) for factor in times]
        rates = [predicted_rate(changed, shape) for changed in found]
        # The fewest that give nearly all that more would.
        most = max(rate.samples_per_s for rate in rates)
        at = next(at for at, rate in enumerate(rates) if rate.samples_per_s * _WORTH >= most)
        yield {"threads_per_worker": shape.threads * times[at]}, _binds(found[at]), rates[at]


def _with_in_flight(parts: PipelineParts, in_flight: int, hands: float) -> PipelineParts:
    """Return the ceilings with another number of requests in flight, and so many times the processes that fetch and decode."""
    decode = Ceiling(parts.decode.samples_per_s * hands, parts.decode.error)
    if not parts.store or math.isinf(parts.store_here.samples_per_s):
        fetch = Ceiling(parts.fetch.samples_per_s * hands, parts.fetch.error)
        return replace(parts, decode=decode, fetch=fetch, in_flight=in_flight)
    # What is not the store's of fetching is the client's, which grows with the processes; the store's part by its own curve.
    client = parts.by_name()["client"].samples_per_s * hands
    store = replace(parts, in_flight=in_flight).store_here
    seconds = 1 / client + 1 / store.samples_per_s
    fetch = Ceiling(1 / seconds, max(parts.fetch.error, store.error))
    return replace(parts, decode=decode, fetch=fetch, in_flight=in_flight)


def _binds(parts: PipelineParts) -> str:
    return bound_of(parts).by


def _advice(now: Ceiling, then: Ceiling, change: Mapping[str, int], binds: str) -> Advice:
    gain = then.samples_per_s / now.samples_per_s if now.samples_per_s > 0 else 1.0
    spread = 2 * math.hypot(now.error, then.error)
    what = ", ".join(f"{name}={value}" for name, value in change.items())
    why = f"{what}: about {gain:.2f} times as fast ({gain * max(1 - spread, 0):.2f} to {gain * (1 + spread):.2f})"
    return Advice(change, gain, gain * max(1 - spread, 0.0), gain * (1 + spread), binds, why)
