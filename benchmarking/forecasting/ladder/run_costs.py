"""What the runs of a race cost. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from benchmarking.forecasting.data.canary import COMPLETED, PREFIX, Canary
from benchmarking.forecasting.ladder.race_status import RaceSettings
from benchmarking.forecasting.model.machine_load import alone, delayed_share
from benchmarking.forecasting.prefix.measured import Rest


def usd_per_second(canary: Canary, settings: RaceSettings) -> float:
    """Return dollars per second of all instances; 1 where prices do not matter or are not known, so that seconds are compared."""
    price = settings.billing.usd_per_hour(canary.instance_type)
    return (1.0 if price is None else price / 3600) * canary.instance_count


def spent_usd(groups: Mapping[str, Sequence[Canary]], settings: RaceSettings) -> float:
    """Return the dollars that the canaries so far have cost."""
    return math.fsum(_usd(canary.total_s or 0.0, canary, settings) for group in groups.values() for canary in group)


def expected_usd(group: Sequence[Canary], level: float, settings: RaceSettings, *, quiet: bool = False) -> float:
    """Return what a run at a level will cost, by the longest run so far: its start-up stays, the rest goes with the data.

    A further prefix of the full job takes twice as long as the longest.

    Args:
        group: runs of the configuration.
        level: of the run.
        settings: of the race.
        quiet: without the time that other programs have the processor, to compare it with full jobs that are without it.
    """
    if quiet:
        group = [_alone(canary) for canary in group]
    begun = [canary for canary in group if canary.status == PREFIX]
    if begun and level >= 1.0:
        return _usd(2 * max(canary.total_s or 0.0 for canary in begun), begun[0], settings)
    told = next((one.progress for one in begun if one.progress is not None and isinstance(one.progress.wall, Rest)), None)
    if told is not None and isinstance(told.wall, Rest):
        return _usd(told.begin_s + (told.end_s - told.begin_s + told.wall.seconds) * level, begun[0], settings)
    longest = max(group, key=lambda canary: canary.fraction)
    fixed_s = longest.startup_s or 0.0
    seconds = fixed_s + max((longest.total_s or 0.0) - fixed_s, 0.0) * level / longest.fraction
    return _usd(seconds, longest, settings)


def is_quiet(group: Sequence[Canary]) -> bool:
    """Return whether a configuration's runs tell what its full job takes without other programs, and that there were any."""
    small = [delayed_share(one) for one in group if one.status == COMPLETED]
    if not any(one.status == PREFIX for one in group):
        return bool(small) and all(share is not None for share in small) and max(share or 0.0 for share in small) > 0
    return any(one.status == PREFIX and one.progress is not None and isinstance(one.progress.quiet, Rest) for one in group)


def _alone(canary: Canary) -> Canary:
    """Return a run as it would have been without other programs, as far as it told of them."""
    told = canary.progress
    if canary.status == COMPLETED:
        return alone(canary)
    if told is None or not told.delayed_s or told.end_s <= 0:
        return canary
    share = max(0.0, 1 - told.delayed_s / told.end_s)
    wall = told.quiet if isinstance(told.quiet, Rest) else told.wall
    without = replace(told, begin_s=told.begin_s * share, end_s=told.end_s * share, wall=wall, delayed_s=0.0)
    return replace(canary, total_s=None if canary.total_s is None else canary.total_s * share, progress=without)


def _usd(seconds: float, canary: Canary, settings: RaceSettings) -> float:
    return (seconds + settings.billing.startup_s) * usd_per_second(canary, settings)
