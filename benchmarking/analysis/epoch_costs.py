"""What an epoch costs, the first and later ones apart, and from which epoch on one way of reading is cheaper than another. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from definitions.scalars import is_number, mean

FIRST_EPOCH, LATER_EPOCH = "cost_first_epoch_usd", "cost_per_epoch_usd"
"""Objectives: what the first epoch of a job costs, with listing and download; what each further one does."""

_PAID_STAGES = ("Downloading", "Training", "Uploading")


class EpochTimes(NamedTuple):
    """Seconds of an epoch as a script reports them: all of it, and what of that came before the first batch was asked for."""

    whole_s: float
    before_s: float


def epoch_times(metrics: Mapping[str, Any]) -> EpochTimes | None:
    """Return what a report says of an epoch's seconds; None where it is none of an epoch of a pipeline."""
    whole_s = metrics.get("epoch_s")
    if not is_number(whole_s) or whole_s < 0:
        return None
    before_s = math.fsum(value for name in ("list_s", "download_s") if is_number(value := metrics.get(name)))
    return EpochTimes(float(whole_s), min(max(before_s, 0.0), float(whole_s)))


@dataclass(frozen=True)
class EpochCosts:
    """What epochs of a job cost.

    Args:
        first_usd: the first one, what came before it included.
        later_usd: each further one.
        is_measured: whether a further one ran; else it is the first without listing and download.
    """

    first_usd: float
    later_usd: float
    is_measured: bool

    def after(self, epochs: int) -> float:
        """Return the dollars of so many epochs."""
        return self.first_usd + (epochs - 1) * self.later_usd


def epoch_costs(epochs: Mapping[int, EpochTimes], usd_per_s: float, download_s: float = 0.0) -> EpochCosts | None:
    """Return what the epochs of a job cost; None where it reported none.

    Args:
        epochs: number -> its seconds.
        usd_per_s: of all its instances.
        download_s: paid seconds in which a platform put the data into place, before the script could report anything.
    """
    if not epochs:
        return None
    ordered = [epochs[number] for number in sorted(epochs)]
    later_s = mean([one.whole_s for one in ordered[1:]])
    if later_s is None:
        later_s = ordered[0].whole_s - ordered[0].before_s
    return EpochCosts((ordered[0].whole_s + download_s) * usd_per_s, later_s * usd_per_s, len(ordered) > 1)


def paid_seconds(usage: Mapping[str, Any]) -> tuple[float | None, float]:
    """Return the seconds of a job that are paid for, as its platform's stages say, and those of its download; None where it says nothing.

    Args:
        usage: of the job.
    """
    stages = usage.get("stages_s")
    if not isinstance(stages, Mapping):
        return None, 0.0
    found = {name: float(value) for name in _PAID_STAGES if is_number(value := stages.get(name))}
    return math.fsum(found.values()) or None, found.get("Downloading", 0.0)


def cheaper_from(one: EpochCosts, other: EpochCosts) -> int | None:
    """Return the first epoch after which a job of `one` has cost less than one of `other`; None where it never has.

    After n epochs they have cost `first + (n - 1) x later` each. What costs more at first (a download) and less an epoch is cheaper for
    every n above that at which the two are equal; what is cheaper at first and dearer an epoch is so only until then, and 1 is returned.

    Args:
        one: costs of epochs that may be cheaper.
        other: those that they are compared with.
    """
    if one.first_usd < other.first_usd:
        return 1
    saved = other.later_usd - one.later_usd
    if saved <= 0:
        return None
    epoch = math.floor((one.first_usd - other.first_usd) / saved + 1e-12) + 2
    return epoch if one.after(epoch) < other.after(epoch) else epoch + 1
