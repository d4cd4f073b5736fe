"""Draws of the full job's time from the beginning of it, and from what small jobs show of that which the beginning does not. Pure.

The job takes what its prefix took until its last word, the rest of its loop (`benchmarking.forecasting.running.projection`), and what the
prefix did not see: phases that it had not come to, and what comes after the loop. Each of these has a law of its own in small jobs of the
same code, y = K (s + (1 - s) x^c) as for all phases; a configuration without any goes by those of the others, and all that go by the same
small jobs have the same draws of this part, so that it does not count where they are compared. Where small jobs ran through their loop
with units that get dearer or cheaper, by more than chance, the rest of the loop is bent likewise. What may stop early does as many steps
as small jobs of the same code lead to expect (`benchmarking.forecasting.model.early_stop`). Another run of the same job differs by 4 %
(one standard deviation), and in wall time by half of what the machine's load has added in this one. In processor time a beginning beside
other programs may be dearer than what follows, as they share caches and memory: with the probability 0.5, by up to 0.5 on the log scale
where the wall's clock ran four times as fast as the processor's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmarking.forecasting.data.canary import Canary
from benchmarking.forecasting.model.columns import sizes
from benchmarking.forecasting.model.early_stop import found_counts, share_of_rest
from benchmarking.forecasting.model.noise import noise_prior
from benchmarking.forecasting.model.phases import REST
from benchmarking.forecasting.model.power_law import fit
from benchmarking.forecasting.prefix.measured import ProgressSummary, Rest

if TYPE_CHECKING:
    from benchmarking.analysis.arrays import FloatArray, Generator

REPEAT_SD = 0.04
"""Standard deviation of two runs of one job, on the log scale, in processor time."""

UNSEEN_SHARE = 0.02
"""Mean share of the job that comes after the loop where no small job has shown it (exponentially distributed)."""

_COMMON = 0
"""Seed of what configurations of one code have in common."""

_NOTHING = 1e-12
"""A variance of no more than this is that of rounding."""

_LOAD_PART, _MOST_LOAD = 0.5, 0.3
_BESIDE, _BESIDE_MOST, _BESIDE_LOAD = 0.5, 0.5, math.log(4.0)

LOOP, BEND, COUNT, UNSEEN, AGAIN, BUSY = (
    "rest of the loop", "steps that change on the way", "steps until it stops", "what its beginning did not see",
    "another run of the same job", "load of the machine",
)  # fmt: skip
"""What leaves the time of the full job open."""
_BENDS_SD, _LEAST_BEND, _CARRIED = 2.0, 0.1, 0.3
"""A bend counts from so many standard deviations and so much on; a small job's is the full job's up to a share of it."""

_BUSY_WALL, _BUSY_CPU = 0.4, 0.2
"""By how much ends of one process scatter where the wall's clock runs four times as fast as the processor's."""

_SHORT_S, _SHORT_NOISE = 0.1, 0.3
"""What takes no longer than the first scatters by the second: processor time is counted in ticks of 10 ms."""


def has_rest(canary: Canary) -> bool:
    """Return whether a prefix told what is left of its job."""
    return canary.progress is not None and isinstance(canary.progress.wall, Rest)


def through(canaries: Sequence[Canary]) -> list[Canary]:
    """Return the small jobs that ran through their loop, and said so."""
    return [canary for canary in canaries if canary.progress is not None and canary.progress.ended_through]


def time_draws(
    prefixes: Sequence[Canary],
    small: Sequence[Canary],
    size: int,
    rng: Generator,
    clock: str,
    only: str | None = None,
    lent: Sequence[Canary] = (),
) -> FloatArray | None:
    """Return draws (size,) of the full job's seconds; None where the clock was not read.

    Args:
        prefixes: of one configuration, those that told what is left.
        small: its completed small jobs.
        size: number of draws.
        rng: generator.
        clock: `wall`, `cpu`, or `quiet` (the wall's without the time that other programs had the processor).
        only: the one cause that the draws differ by, all else at its median; None for all of them.
        lent: small jobs of other configurations of the same code, for what its beginning did not see where none of its own shows that.
    """
    import numpy as np

    tails = small if small_known(small) else lent
    known = [canary for canary in prefixes if canary.progress is not None and isinstance(_rest(canary.progress, clock), Rest)]
    if not known:
        return None
    differs = dict.fromkeys((LOOP, BEND, COUNT, UNSEEN, AGAIN, BUSY), 1.0) if only is None else {only: 1.0}
    unseen = _median_unless(
        UNSEEN in differs, sum(unseen_draws(known, tails, size, np.random.default_rng(_COMMON), clock).values(), np.zeros(size))
    )
    after = _median_unless(UNSEEN in differs, rng.exponential(UNSEEN_SHARE, size))
    counts, logs = found_counts(small), []
    for canary in known:
        progress = canary.progress
        rest = None if progress is None else _rest(progress, clock)
        if progress is None or not isinstance(rest, Rest):
            continue
        until_s, whole = _until(progress, clock), _whole(canary, clock)
        if progress.is_through and whole is not None:
            # It ran to its end: nothing is left to be forecast but another run of it.
            logs.append(np.full(size, math.log(max(whole, 1e-6))))
            continue
        left = rest.seconds * np.exp(rest.sd * differs.get(LOOP, 0.0) * rng.standard_t(rest.freedom, size))
        if (progress.share or 1.0) < 0.5:
            left = left * np.exp(_median_unless(BEND in differs, _bend_draws(small, size, rng)))
        if progress.at_most is not None:
            left = left * _median_unless(COUNT in differs, share_of_rest(progress.done, progress.at_most, counts, size, rng))
        if clock == "cpu":
            left = left * np.exp(-differs.get(BUSY, 0.0) * _beside_draws(known, size, rng))
        logs.append(np.log(until_s + left + (unseen if small_known(tails) else (until_s + left) * after)))
    noise = math.hypot(differs.get(AGAIN, 0.0) * REPEAT_SD, differs.get(BUSY, 0.0) * _load(known) if clock == "wall" else 0.0)
    drawn: FloatArray = np.exp(np.mean(logs, axis=0) + noise * math.sqrt(1 + 1 / len(logs)) * rng.standard_normal(size))
    return drawn


def causes_of_time(
    prefixes: Sequence[Canary], small: Sequence[Canary], size: int, rng: Generator, clock: str, lent: Sequence[Canary] = ()
) -> dict[str, float]:
    """Return the variance of the log of the full job's seconds that each cause brings, all else at its median.

    Args:
        prefixes: of one configuration.
        small: its completed small jobs.
        size: number of draws.
        rng: generator.
        clock: `wall`, `cpu`, or `quiet` (the wall's without the time that other programs had the processor).
        lent: as for `time_draws`.
    """
    import numpy as np

    found = {name: time_draws(prefixes, small, size, rng, clock, name, lent) for name in (LOOP, BEND, COUNT, UNSEEN, AGAIN, BUSY)}
    spread = {name: float(np.var(np.log(values))) for name, values in found.items() if values is not None}
    return {name: value for name, value in spread.items() if value > _NOTHING}


def _median_unless(differs: bool, values: FloatArray) -> FloatArray:
    import numpy as np

    return values if differs else np.full(len(values), np.median(values))


def _beside_draws(prefixes: Sequence[Canary], size: int, rng: Generator) -> FloatArray:
    """Return draws (size,) of the log by which the beginning may have been dearer, in processor time, than what follows it."""
    deepest = _BESIDE_MOST * min(1.0, _log_load(prefixes) / _BESIDE_LOAD)
    found: FloatArray = deepest * rng.random(size) * (rng.random(size) < _BESIDE)
    return found


def small_known(small: Sequence[Canary]) -> bool:
    """Return whether small jobs showed what comes after the loop."""
    return bool(through(small))


def unseen_draws(prefixes: Sequence[Canary], small: Sequence[Canary], size: int, rng: Generator, clock: str) -> dict[str, FloatArray]:
    """Return draws (size,) of the seconds of each part of the full job that its prefix did not see, by name; `after` is after the loop.

    Args:
        prefixes: of one configuration.
        small: its completed small jobs.
        size: number of draws.
        rng: generator.
        clock: `wall`, `cpu`, or `quiet` (the wall's without the time that other programs had the processor).
    """
    import numpy as np

    runs = [canary for canary in through(small) if _whole(canary, clock) is not None]
    if not runs:
        return {}
    seen = {name for canary in prefixes if canary.progress is not None for name, seconds in canary.progress.phases if seconds > 0}
    parts = {"after": [tail_s(canary, clock) for canary in runs]}
    for name in sorted({name for canary in runs if canary.progress for name, seconds in canary.progress.phases if seconds > 0} - seen):
        parts[name] = [_phase(canary, name, clock) for canary in runs]
    x = sizes(runs, 1.0)
    found = {}
    for name, seconds in parts.items():
        y = np.maximum(np.array(seconds), 1e-3)
        growth = fit(x, y, REST, noise_prior(_SHORT_NOISE if float(y.max()) <= _SHORT_S else _noise_of(runs, clock)))
        found[name] = growth.sample(1.0, size, rng)
    return found


def _noise_of(runs: Sequence[Canary], clock: str) -> float:
    """Return the standard deviation, on the log scale, by which what comes after the loops of small jobs is taken to scatter.

    Beside other programs the end of a process takes more of either clock: chance must not pass for growth, which is carried on to all data.
    """
    busy = min(1.0, _log_load(runs) / _BESIDE_LOAD)
    return math.hypot(REPEAT_SD, (_BUSY_WALL if clock == "wall" else _BUSY_CPU) * busy)


def tail_s(canary: Canary, clock: str) -> float:
    """Return the seconds of a small job after its last word of progress, by a clock; 0 where they are not known."""
    until_s = 0.0 if canary.progress is None else _until(canary.progress, clock)
    return max(0.0, (_whole(canary, clock) or 0.0) - until_s)


def _until(progress: ProgressSummary, clock: str) -> float:
    """Return the seconds until the last word of progress, by a clock."""
    return progress.end_cpu_s if clock == "cpu" else progress.end_s - (progress.delayed_s if clock == "quiet" else 0.0)


def _whole(canary: Canary, clock: str) -> float | None:
    """Return the seconds of a run, by a clock; None where it was not read. What other programs took after the last word is as before it."""
    if clock != "quiet":
        return canary.cpu_s if clock == "cpu" else canary.total_s
    progress = canary.progress
    if canary.total_s is None or progress is None or progress.end_s <= 0:
        return None
    return canary.total_s * (1 - progress.delayed_s / progress.end_s)


def _phase(canary: Canary, name: str, clock: str) -> float:
    progress = canary.progress
    if progress is None:
        return 0.0
    seconds = dict(progress.phases).get(name, 0.0)
    # The reporter times phases by the wall; their time by another clock goes with that of the whole.
    return seconds if clock == "wall" or not progress.end_s else seconds * _until(progress, clock) / progress.end_s


def _rest(progress: ProgressSummary, clock: str) -> object:
    return {"cpu": progress.cpu, "quiet": progress.quiet}.get(clock, progress.wall)


def _bend_draws(small: Sequence[Canary], size: int, rng: Generator) -> FloatArray:
    """Return draws (size,) of the log by which the rest of the loop is dearer than its beginning, as small jobs showed it."""
    import numpy as np

    found = bend_of(small)
    if found is None:
        return np.zeros(size)
    mean, sd = found
    return mean + math.hypot(sd, _CARRIED * mean) * rng.standard_normal(size)


def bend_of(small: Sequence[Canary]) -> tuple[float, float] | None:
    """Return the bend that small jobs showed (see `ProgressSummary`) and its standard deviation; None where that may be chance."""
    bends = [canary.progress.bend for canary in small if canary.progress is not None and canary.progress.bend is not None]
    if not bends:
        return None
    # Weighed by their precision.
    weights = [1 / max(sd, 0.03) ** 2 for _, sd in bends]
    mean = math.fsum(weight * bend for weight, (bend, _) in zip(weights, bends, strict=True)) / math.fsum(weights)
    sd = 1 / math.sqrt(math.fsum(weights))
    return (mean, sd) if abs(mean) > max(_BENDS_SD * sd, _LEAST_BEND) else None


def _load(prefixes: Sequence[Canary]) -> float:
    """Return the standard deviation that the machine's load adds to wall time, on the log scale."""
    return min(_MOST_LOAD, _LOAD_PART * _log_load(prefixes))


def _log_load(prefixes: Sequence[Canary]) -> float:
    """Return the log of how many times longer loops took by the wall's clock than by the processor's."""
    ratios = [
        (one.end_s - one.begin_s) / (one.end_cpu_s - one.begin_cpu_s)
        for canary in prefixes
        if (one := canary.progress) is not None and one.end_cpu_s > one.begin_cpu_s
    ]
    return max(0.0, math.log(max(ratios))) if ratios else 0.0
