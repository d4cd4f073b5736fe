"""How many experiments of a study may run at once, and which may begin now. Pure."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.studies.record import StudyFlags
from definitions.backend_registry import backend_description
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


@dataclass(frozen=True)
class AtOnce:
    """How many experiments of a study run at once.

    Args:
        most: that they are at most.
        asked: how many were asked for, or `auto`; None where nothing was.
        why_not: why they run one after the other although more were asked for; empty where they need not.
        elsewhere: whether their jobs run on other machines.
    """

    most: int
    asked: int | str | None
    why_not: str
    elsewhere: bool

    @property
    def one_by_one(self) -> bool:
        """Whether nobody knows how many have room: see `may_begin`."""
        return self.asked == AUTO and not self.elsewhere

    @property
    def refusal(self) -> str:
        """A sentence where more were asked for than may be; else empty."""
        return f"--parallel {self.asked}: one after the other: {self.why_not}" if self.why_not else ""

    @property
    def text(self) -> str:
        """A sentence that says it."""
        if self.why_not:
            return self.refusal
        if self.most == 1:
            return "one experiment at a time" + (" (--parallel N runs N at once)" if self.asked is None else "")
        room = "" if self.elsewhere else ", each as soon as this machine has cores for all its workers"
        return f"up to {self.most} experiments at once (--parallel {self.asked}){room}"


def changed_text(before: StudyFlags | None, now: StudyFlags) -> str:
    """Return in a line that a study runs another number at once from now on than study.json says; empty where it does not.

    Args:
        before: what study.json says; None where there is none yet.
        now: what it will say.
    """
    if before is None or (before.parallel or 1) == (now.parallel or 1):
        return ""
    return f"--parallel {now.parallel}: kept in study.json in place of {before.parallel or 1}, so that later resumes go by it too"


def at_once(flags: StudyFlags, specs: Sequence[ExperimentSpec], *, cores: int) -> AtOnce:
    """Return how many experiments of a study run at once.

    Args:
        flags: of the study.
        specs: its experiments.
        cores: of this machine.
    """
    described = backend_description(flags.backend)
    # What is simulated runs on processors of this machine too.
    elsewhere = described.runs_programs and not described.shares_this_machine
    most = most_at_once(flags.parallel, len(specs), cores=cores, elsewhere=elsewhere)
    limited = any(spec.definition.budget.max_cost is not None for spec in specs)
    why_not = why_not_at_once(flags, limited=limited) if most > 1 else ""
    return AtOnce(1 if why_not else most, flags.parallel, why_not, elsewhere)


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
