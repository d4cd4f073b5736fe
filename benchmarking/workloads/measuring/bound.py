"""What bounds a trial: the decision, from ceilings that were measured each by itself. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

NOT_DECIDED = "not decided"

CHECKPOINT = "checkpoint"

BOUNDS = ("compute", "decode", "handover", "client", "store_latency", "store_bandwidth", "start", CHECKPOINT)
"""What a trial may be bound by."""

MORE_IN_FLIGHT = 1.5
"""Gain from more requests at once from which on a store is said to be bound by latency."""

NO_MORE_IN_FLIGHT = 1.25
"""Gain below which it is said to be bound by bandwidth: what a request takes beside its bytes is gained in any case."""

_LEAST_NOISE = 0.03
_OUTSIDE_SHARE = 0.5


@dataclass(frozen=True)
class Ceiling:
    """What a part of the pipeline could give if nothing else took time.

    Args:
        samples_per_s: mean; infinite where the part takes no time.
        error: standard error of the mean over it.
    """

    samples_per_s: float
    error: float = 0.0

    @property
    def low(self) -> float:
        """What it hardly falls below."""
        return self.samples_per_s * max(1 - 2 * max(self.error, _LEAST_NOISE / 2), 0.0)

    @property
    def high(self) -> float:
        """What it hardly exceeds."""
        return self.samples_per_s * (1 + 2 * max(self.error, _LEAST_NOISE / 2))


@dataclass(frozen=True)
class PipelineParts:
    """Ceilings of a trial's parts, each at the trial's own workers, batch and cores.

    Args:
        compute: the model on one batch, over and over.
        decode: from contents to tensors, of all workers together.
        handover: from workers to the training process; None where there are no workers.
        fetch: contents through the reader, without decoding, of all workers together.
        store: number of requests in flight -> the store drained raw so; empty where that was not measured.
        in_flight: requests that the reader has in flight.
    """

    compute: Ceiling
    decode: Ceiling
    handover: Ceiling | None
    fetch: Ceiling
    store: Mapping[int, Ceiling] = field(default_factory=dict)
    in_flight: int = 1

    def by_name(self) -> dict[str, Ceiling]:
        """Return the ceilings by what they would bind a trial by; of fetching those of the store and of the client."""
        found = {"compute": self.compute, "decode": self.decode}
        if self.handover is not None:
            found["handover"] = self.handover
        if not self.store:
            return found | {"client": self.fetch}
        here, most = self.store_here, self.store_most
        if here.samples_per_s >= self.fetch.samples_per_s:
            rest = 1 / self.fetch.samples_per_s - 1 / here.samples_per_s
            client = Ceiling(1 / rest if rest > 0 else math.inf, self.fetch.error)
        else:
            client = Ceiling(math.inf)
        return found | {"client": client, "store_latency": here, "store_bandwidth": most}

    @property
    def store_here(self) -> Ceiling:
        """What the store gives at as many requests in flight as the reader has; between two that were measured, by a power law."""
        known = sorted(self.store)
        if self.in_flight in self.store:
            return self.store[self.in_flight]
        below, above = [n for n in known if n < self.in_flight], [n for n in known if n > self.in_flight]
        if not below or not above:
            return self.store[known[0] if above else known[-1]]
        one, other = self.store[below[-1]], self.store[above[0]]
        place = math.log(self.in_flight / below[-1]) / math.log(above[0] / below[-1])
        rate = math.exp((1 - place) * math.log(one.samples_per_s) + place * math.log(other.samples_per_s))
        return Ceiling(rate, max(one.error, other.error))

    @property
    def store_most(self) -> Ceiling:
        """What the store gives at whatever number of requests is best."""
        return max(self.store.values(), key=lambda ceiling: ceiling.samples_per_s)


@dataclass(frozen=True)
class Bound:
    """What bounds a trial, and the figures that it rests on.

    Args:
        by: one of `BOUNDS`, or `NOT_DECIDED`.
        why: a sentence with the figures.
        ceilings: of the parts, samples per second by name, lowest first.
        headroom: how many times faster the next part is than the one that binds; None where nothing does.
        runner_up: the next part; empty where there is none.
    """

    by: str
    why: str
    ceilings: Mapping[str, float] = field(default_factory=dict)
    headroom: float | None = None
    runner_up: str = ""


def bound_of(parts: PipelineParts, *, start_s: float = 0.0, whole_s: float = 0.0, checkpoint_s: float = 0.0) -> Bound:
    """Return what bounds a trial.

    A trial that spends half of its time before its first batches is bound by its start, one that stands still for half of it while it
    saves by its checkpoints. Else the part with the lowest ceiling binds, if it
    is lower than the next one by more than both were measured to. Fetching is told apart by the store drained raw: where the reader adds
    more than the store takes it is the client; where the store would give more with more requests at once it is its latency, where it
    would not its bandwidth.

    Args:
        parts: ceilings.
        start_s: seconds of the trial's epochs before their first batches, download and listing included.
        whole_s: seconds of its epochs.
        checkpoint_s: seconds for which training stood still for saves in them.
    """
    named = parts.by_name()
    order = {name: named[name].samples_per_s for name in sorted(named, key=lambda name: (named[name].samples_per_s, name))}
    # Step 1: what is beside the steady work: the start, and saves.
    if whole_s > 0 and start_s / whole_s > _OUTSIDE_SHARE:
        return Bound("start", f"{start_s:.3g} s of {whole_s:.3g} s are over before first batches arrive", order)
    if whole_s > 0 and checkpoint_s / whole_s > _OUTSIDE_SHARE:
        why = f"training stands still for saves in {checkpoint_s:.3g} s of {whole_s:.3g} s"
        return Bound(CHECKPOINT, why, order, whole_s / max(whole_s - checkpoint_s, 1e-9), next(iter(order), ""))
    # Step 2: the stages, of which fetching is one.
    stages = {name: ceiling for name, ceiling in named.items() if name in ("compute", "decode", "handover")} | {"fetch": parts.fetch}
    first, second = sorted(stages, key=lambda name: stages[name].samples_per_s)[:2]
    headroom = stages[second].samples_per_s / stages[first].samples_per_s
    figures = f"{_shown(first, stages[first])}, then {_shown(second, stages[second])}"
    if not stages[first].high < stages[second].low:
        spread = ", ".join(f"{name} within {2 * stages[name].error:.0%}" for name in (first, second))
        return Bound(NOT_DECIDED, f"two ceilings are closer than they were measured: {figures} ({spread})", order, headroom, second)
    if first != "fetch":
        return Bound(first, f"the lowest ceiling is that of {figures}", order, headroom, second)
    # Step 3: whose time fetching is.
    return _within_fetching(parts, named, order, headroom, second, figures)


def _within_fetching(
    parts: PipelineParts, named: Mapping[str, Ceiling], order: Mapping[str, float], headroom: float, second: str, figures: str
) -> Bound:
    if not parts.store:
        return Bound("client", f"the lowest ceiling is that of {figures}", order, headroom, second)
    here, most, client = parts.store_here, parts.store_most, named["client"]
    drained = f"the store drained raw gives {here.samples_per_s:.4g}/s with {parts.in_flight} in flight, {most.samples_per_s:.4g}/s at most"
    if math.isinf(here.samples_per_s):
        drained = "nothing waits for the store"
    if client.high < here.low:
        return Bound("client", f"{figures}; {drained}", order, headroom, second)
    if not here.high < client.low:
        return Bound(NOT_DECIDED, f"store and client take alike of fetching: {figures}; {drained}", order, headroom, second)
    # More requests at once help, they do not, or the measurements leave that open.
    if most.low / here.high >= 1 and most.samples_per_s / here.samples_per_s >= MORE_IN_FLIGHT:
        return Bound("store_latency", f"{figures}; {drained}", order, headroom, second)
    if most.samples_per_s / here.samples_per_s < NO_MORE_IN_FLIGHT:
        return Bound("store_bandwidth", f"{figures}; {drained}", order, headroom, second)
    return Bound(NOT_DECIDED, f"whether more requests at once would help is not clear: {figures}; {drained}", order, headroom, second)


def _shown(name: str, ceiling: Ceiling) -> str:
    return f"{name} with {ceiling.samples_per_s:.4g} samples/s"
