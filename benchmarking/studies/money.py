"""How the money of a study is shared between its experiments. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarking.studies.record import PlannedExperiment, StudyFlags
from definitions.errors import UserError

_ROUNDING = 1e-9


def equal_shares(limit_usd: float, spent_usd: Sequence[float]) -> list[float]:
    """Return what each experiment may spend, including what it has spent: equal parts, whose sum is the limit at most.

    Who has spent more than its part already, in a time when there were no parts, keeps that and no more; the others share what is left.

    Args:
        limit_usd: dollars for all together.
        spent_usd: (n_experiments,) what each has spent already.
    """
    beyond: set[int] = set()
    while True:
        left_usd = max(0.0, limit_usd - math.fsum(spent_usd[index] for index in beyond))
        rest = len(spent_usd) - len(beyond)
        part_usd = left_usd / rest if rest else 0.0
        more = {index for index, usd in enumerate(spent_usd) if index not in beyond and usd > part_usd * (1 + _ROUNDING)}
        if not more:
            return [spent_usd[index] if index in beyond else part_usd for index in range(len(spent_usd))]
        beyond |= more


def least_limit_usd(experiments: Sequence[PlannedExperiment]) -> float:
    """Return the least limit under which no share becomes smaller than it is, where some experiments have none yet.

    Args:
        experiments: that share one limit.
    """
    shares = [one.share_usd for one in experiments if one.share_usd is not None]
    return max(shares, default=0.0) * len(experiments)


def with_shares(
    experiments: Sequence[PlannedExperiment], limit_usd: float | None, spent_usd: Sequence[float], about: str, aside_usd: float = 0.0
) -> list[float | None]:
    """Return the share of each of the experiments that have one limit in common; those that were fixed are never less than they were.

    Args:
        experiments: (n_experiments,) with the shares that they have.
        limit_usd: dollars for all together; None where there is no limit.
        spent_usd: (n_experiments,) what each has spent already.
        about: what the limit is called in the message.
        aside_usd: dollars of it that are for something else, and taken from `limit_usd` already; for the message.

    Raises:
        UserError: the limit is less than what is needed to leave the shares that are fixed as they are.
    """
    if limit_usd is None:
        return [None] * len(experiments)
    fixed = [one for one in experiments if one.share_usd is not None]
    if len(fixed) == len(experiments) and math.isclose(math.fsum(one.share_usd or 0.0 for one in fixed), limit_usd, rel_tol=1e-6):
        return [one.share_usd for one in experiments]
    shares = equal_shares(limit_usd, spent_usd)
    if any((one.share_usd or 0.0) > share * (1 + _ROUNDING) for one, share in zip(experiments, shares, strict=True)):
        needed = least_limit_usd(experiments)
        beside = f" and ${aside_usd:.4g} beside" if aside_usd else ""
        raise UserError(
            f"{about} = ${limit_usd + aside_usd:g} for {len(experiments)} experiments{beside}",
            f"{len(fixed)} of them have a fixed share of ${max(one.share_usd or 0.0 for one in fixed):.4g} each, and all get the same",
            f"give --max_cost {math.ceil((needed + aside_usd) * 1e6) / 1e6:g} or more",
        )
    return [*shares]


def limit_of(flags: StudyFlags, benchmark: str) -> str:
    """Return what names the limit that the experiments of a benchmark have: that of the study, or their own."""
    return "" if flags.max_cost is not None else benchmark


def groups(flags: StudyFlags, experiments: Sequence[PlannedExperiment]) -> list[list[PlannedExperiment]]:
    """Return the experiments that share one limit: all, where the study has one, else those of each benchmark."""
    names = dict.fromkeys(limit_of(flags, one.benchmark) for one in experiments)
    return [[one for one in experiments if limit_of(flags, one.benchmark) == name] for name in names]
