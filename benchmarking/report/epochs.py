"""From which epoch on one way of reading is cheaper than another, in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.analysis.epoch_costs import EpochCosts, cheaper_from
from benchmarking.analysis.stand_ins import StandIns
from benchmarking.report.text import configuration_text
from definitions.scalars import mean

WAY = "ingestion"
"""The key by which ways of reading are told apart."""

_MOST = 6
_SOON = 1000


@dataclass(frozen=True)
class ReadCosts:
    """What epochs of a configuration cost.

    Args:
        evaluation: its number; `configuration`: it.
        repeats: number of the repeat -> its epochs' costs, at least one.
    """

    evaluation: int
    configuration: Mapping[str, Any]
    repeats: Mapping[int, EpochCosts]

    @property
    def middle(self) -> EpochCosts:
        """The means of its repeats."""
        all_ = [*self.repeats.values()]
        first, later = (mean([getattr(one, name) for one in all_]) or 0.0 for name in ("first_usd", "later_usd"))
        return EpochCosts(first, later, all(one.is_measured for one in all_))


def overtaking_lines(read: Sequence[ReadCosts], keys: Sequence[str], stood_in: StandIns) -> list[str]:
    """Return a sentence for each pair of ways of reading of which one costs more in the first epoch and less from a later one on.

    Pairs differ in `ingestion` alone. The epoch is that of the means; over the repeats of equal number it lies between the two that are
    said. Where a way of reading is imitated that is said, as its seconds are not the platform's.

    Args:
        read: (n_configurations,) what epochs of each cost.
        keys: of the configurations, in the order of the definition.
        stood_in: what was measured in place of something else.
    """
    lines = []
    for number, one in enumerate(read):
        for other in read[number + 1 :]:
            if _rest(one) != _rest(other) or one.configuration.get(WAY) == other.configuration.get(WAY):
                continue
            for late, early in ((one, other), (other, one)):
                epoch = cheaper_from(late.middle, early.middle)
                if epoch is not None and 1 < epoch <= _SOON:
                    lines.append(_sentence(late, early, epoch, keys, stood_in))
    return lines[:_MOST] + ([f"... and {len(lines) - _MOST} more pairs"] if len(lines) > _MOST else [])


def _rest(one: ReadCosts) -> dict[str, Any]:
    return {key: value for key, value in one.configuration.items() if key != WAY}


def _sentence(late: ReadCosts, early: ReadCosts, epoch: int, keys: Sequence[str], stood_in: StandIns) -> str:
    names = [str(stood_in.shown(WAY, one.configuration[WAY])) for one in (late, early)]
    others = [key for key in keys if key != WAY and key in late.configuration]
    place = f" ({configuration_text(late.configuration, others)})" if others else ""
    common = sorted({*late.repeats} & {*early.repeats})
    found = [cheaper_from(late.repeats[repeat], early.repeats[repeat]) for repeat in common]
    spread = ""
    if len(found) > 1:
        known = [value for value in found if value is not None]
        never = len(found) - len(known)
        ends = f"{min(known)} to {max(known)}" if known else "never"
        spread = f"; over {len(found)} repeats {ends}" + (f", never in {never}" if never and known else "")
    derived = "" if late.middle.is_measured and early.middle.is_measured else "; a later epoch is the first without listing and download"
    imitated = stood_in.emulation(late.configuration) != stood_in.emulation(early.configuration)
    decided = "; not decided: emulated" if imitated else ""
    return f"From epoch {epoch} on {names[0]} is cheaper than {names[1]}{place}{spread}{derived}{decided}."
