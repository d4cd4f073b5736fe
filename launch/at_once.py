"""How many experiments of a study may run at once, and which may begin now. Pure."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from benchmarking.studies.record import StudyFlags
from definitions.errors import UserError

AUTO = "auto"
MOST_ELSEWHERE = 4
"""Experiments at once where jobs run on machines of others, whose services are asked for each of them."""


class Stage(enum.Enum):
    """How far an experiment that was begun is."""

    PREPARES = "prepares"
    WAITS = "waits"
    """For cores or GPUs that others hold."""
    RUNS = "runs"


def check_parallel(parallel: Any) -> None:
    """Raise `UserError` where this is no number of experiments, nor `auto`, nor None."""
    if parallel is None or parallel == AUTO or (type(parallel) is int and parallel >= 1):
        return
    raise UserError(f"--parallel {parallel}", "it is how many experiments run at once", f"give 1 or more, or {AUTO}: as many as have room")


def most_at_once(parallel: int | str | None, experiments: int, *, cores: int, elsewhere: bool) -> int:
    """Return how many experiments run at once at most.

    Args:
        parallel: what was asked for; None for one after the other.
        experiments: how many there are.
        cores: of this machine.
        elsewhere: whether their jobs run on other machines.
    """
    if parallel is None:
        return 1
    if parallel == AUTO:
        return min(experiments, MOST_ELSEWHERE if elsewhere else cores)
    return min(experiments, int(parallel))


def why_not_at_once(flags: StudyFlags, *, limited: bool) -> str:
    """Return why the experiments of a study must run one after the other; empty where they need not.

    Args:
        flags: of the study.
        limited: whether money is.
    """
    if flags.shares == "first_come" and limited:
        return "with `shares: first_come` each must know what those before it spent of max_cost"
    return ""


def may_begin(most: int, stages: Sequence[Stage], *, one_by_one: bool) -> bool:
    """Return whether the next experiment in order may begin.

    Never while one waits for cores: the next one would but wait behind it, and hold memory meanwhile.

    Args:
        most: how many may run at once.
        stages: of those that were begun and are not over.
        one_by_one: whether nobody knows how many have room, so that each must have its cores before the next one begins.
    """
    if len(stages) >= most or Stage.WAITS in stages:
        return False
    return not (one_by_one and Stage.PREPARES in stages)
