"""What speaks against a forecast from a prefix, and what it leaves open. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.early_stop import found_counts
from benchmarking.forecasting.model.prefix_draws import bend_of, small_known, tail_s, through, unseen_draws
from benchmarking.forecasting.model.result import Status
from benchmarking.forecasting.prefix.measured import Rest

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray

_WAITS, _WAITS_S = 3.0, 0.5
"""What comes after a loop waits where it takes so many times its processor time, at the loop's load, and so many seconds more."""

_COUNTS = 2
"""Small jobs that show how early they stop, before one more is not worth it for that."""

OPEN_SHARE = 0.05
"""What small jobs leave open of the unseen part is worth another one where its 90 % interval is wider than this share of the job."""


def disagreement(prefix: FloatArray, ladder: FloatArray | None, what: str) -> list[tuple[Status, str]]:
    """Return a refusal where prefix and ladder exclude each other.

    Args:
        prefix: (n,) draws of the full job from its beginning.
        ladder: (m,) draws from small jobs alone; None where they carry no forecast of their own.
        what: the quantity's name.
    """
    import numpy as np

    if ladder is None:
        return []
    (low, high), (from_s, to_s) = np.quantile(prefix, (0.05, 0.95)), np.quantile(ladder, (0.05, 0.95))
    if low <= to_s and from_s <= high:
        return []
    where = "before the loop or in it" if from_s > high else "in the loop"
    text = (
        f"{what}: the beginning of the job says {low:.3g} to {high:.3g}, small jobs say {from_s:.3g} to {to_s:.3g}; "
        f"they disagree {where}, which a longer prefix would tell"
    )
    return [(Status.NOT_DECIDED, text)]


def may_do(prefixes: Sequence[Canary]) -> float | None:
    """Return how many steps a job does at most that may stop early; None of others."""
    return max((one.progress.at_most for one in prefixes if one.progress is not None and one.progress.at_most is not None), default=None)


def stops_early(prefixes: Sequence[Canary], small: Sequence[Canary], what: str) -> list[tuple[Status, str]]:
    """Return a refusal where a job may stop early and no small job shows after how many steps.

    Args:
        prefixes: of one configuration.
        small: its completed small jobs.
        what: the quantity's name.
    """
    most = may_do(prefixes)
    if most is None or found_counts(small):
        return []
    text = f"it may stop early: {what} is of all the {most:g} steps that it may do, and no small job shows how many it will"
    return [(Status.NOT_DECIDED, text)]


def remarks_on(prefixes: Sequence[Canary], small: Sequence[Canary], lent: Sequence[Canary] = ()) -> list[str]:
    """Return what a reader should know of a forecast from a prefix; `lent` are small jobs of other configurations that it goes by."""
    shares = [one.progress.share for one in prefixes if one.progress is not None and one.progress.share is not None]
    said = [f"from the first {max(shares):.0%} of the job's own loop"] if shares else []
    if not small_known(small):
        lender = "was seen in small jobs of other configurations" if small_known(lent) else "was not seen"
        said.append(f"what comes after the loop {lender}")
    counts = [steps for _, steps in found_counts(small)]
    if counts and may_do(prefixes) is not None:
        said.append(f"it may stop early, as small jobs did after {min(counts):g} to {max(counts):g} steps")
    found = bend_of(small)
    if found is not None:
        said.append(f"steps get {'dearer' if found[0] > 0 else 'cheaper'} on the way, as small jobs show")
    return said


def why_open(prefixes: Sequence[Canary]) -> str:
    """Return why prefixes told nothing of what is left; empty where one of them did."""
    reasons = []
    for canary in prefixes:
        if canary.progress is None:
            reasons.append("the script said nothing of its progress")
        elif isinstance(canary.progress.wall, Rest):
            return ""
        else:
            reasons.append(str(canary.progress.wall))
    return f"its beginning told nothing: {reasons[-1]}" if reasons else ""


def clock_of_tails(small: Sequence[Canary]) -> str:
    """Return the clock by which to judge what comes after the loops of small jobs: `cpu` where it was read, `wall` where they wait there.

    On a busy machine the wall makes much of next to nothing.
    """
    for canary in through(small):
        wall, cpu, told = tail_s(canary, "wall"), tail_s(canary, "cpu"), canary.progress
        if canary.cpu_s is None or told is None or not told.end_cpu_s:
            return "wall"
        load = max(1.0, told.end_s / told.end_cpu_s)
        if wall > _WAITS * load * cpu + _WAITS_S:
            return "wall"
    return "cpu"


def leaves_open(prefixes: Sequence[Canary], small: Sequence[Canary], total_s: float, clock: str = "wall", seed: int = 0) -> bool:
    """Return whether one more small job would tell something of the full one that its prefix has not.

    Args:
        prefixes: of one configuration, those that told what is left.
        small: its completed small jobs.
        total_s: median of the full job by the clock.
        clock: `wall` or `cpu`.
        seed: of the draws.
    """
    import numpy as np

    if not through(small):
        return True
    if may_do(prefixes) is not None and len(found_counts(small)) < _COUNTS:
        return True
    unseen = unseen_draws(prefixes, small, 1000, np.random.default_rng(seed), clock)
    low, high = np.quantile(sum(unseen.values()), (0.05, 0.95))
    return bool(high - low > OPEN_SHARE * total_s)
