"""What the runs of a race cost. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from benchmarking.forecasting.data.canary import PREFIX, Canary
from benchmarking.forecasting.ladder.race_status import RaceSettings
from benchmarking.forecasting.prefix.measured import Rest


def usd_per_second(canary: Canary, settings: RaceSettings) -> float:
    """Return dollars per second of all instances; 1 where prices do not matter or are not known, so that seconds are compared."""
    price = settings.billing.usd_per_hour(canary.instance_type)
    return (1.0 if price is None else price / 3600) * canary.instance_count


def spent_usd(groups: Mapping[str, Sequence[Canary]], settings: RaceSettings) -> float:
    """Return the dollars that the canaries so far have cost."""
    return math.fsum(_usd(canary.total_s or 0.0, canary, settings) for group in groups.values() for canary in group)


def expected_usd(group: Sequence[Canary], level: float, settings: RaceSettings) -> float:
    """Return what a run at a level will cost, by the longest run so far: its start-up stays, the rest goes with the data.

    A further prefix of the full job takes twice as long as the longest.
    """
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


def _usd(seconds: float, canary: Canary, settings: RaceSettings) -> float:
    return (seconds + settings.billing.startup_s) * usd_per_second(canary, settings)
