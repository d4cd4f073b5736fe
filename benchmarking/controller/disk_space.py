"""Whether what an experiment will still leave fits the disk: what finished trials left, times what is to come."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from benchmarking.controller.journal import Record
from benchmarking.controller.retry_policy import TrialStatus
from benchmarking.controller.state import ExperimentState
from definitions.quantities import size_text
from definitions.schema import Budget, Keep

DISK = "disk: "
"""Begins what is said of the disk."""
_LOOK_AGAIN = 1.05


@dataclass(frozen=True)
class LeftFiles:
    """What a job left on the disk, in bytes: `spare` goes or stays as `keep` says (checkpoint, model), `lasting` stays (outputs, log)."""

    spare: int
    lasting: int


def left_files(usage: Mapping[str, Any]) -> LeftFiles | None:
    """Return what a closed job left, as its back-end measured it; None where it did not."""
    found = usage.get("left_bytes")
    return LeftFiles(int(found["spare"]), int(found["lasting"])) if isinstance(found, Mapping) else None


@dataclass(frozen=True)
class Outlook:
    """What of an experiment is still to come.

    Args:
        trials: that are still to end.
        workers: of them at once, at most.
        kept: trials whose checkpoints and models are kept already.
        paused: share of all trials that wait for being gone on with, whose files stay meanwhile.
    """

    trials: int
    workers: int
    kept: int = 0
    paused: float = 0.0


def needed_bytes(left: Sequence[LeftFiles], outlook: Outlook, keep: Keep) -> int:
    """Return the bytes that the trials to come take at most at one time, over what is taken now.

    What lasts adds up. Of the rest the running trials hold theirs, each as much as the largest so far, and those that stay the mean.

    Args:
        left: by each finished trial; at least one.
        outlook: what is to come.
        keep: of the definition.
    """
    spare = fmean(one.spare for one in left)
    stay = outlook.paused * outlook.trials
    if keep == "all":
        stay = outlook.trials
    elif isinstance(keep, int):
        stay = min(outlook.trials, stay + max(0, keep - outlook.kept))
    at_once = min(outlook.workers, outlook.trials - stay)
    lasting = outlook.trials * fmean(one.lasting for one in left)
    return math.ceil(lasting + stay * spare + max(0.0, at_once) * max(one.spare for one in left))


def trials_to_come(state: ExperimentState, budget: Budget, elapsed_s: float) -> int:
    """Return how many trials are still to end: as the limits of number and of time let expect, else as many as there were.

    Args:
        state: of the experiment, with at least one trial.
        budget: its limits.
        elapsed_s: seconds that it has run.
    """
    begun = len(state.trials) - state.finished
    counts = []
    if budget.max_num_trials is not None:
        counts.append(budget.max_num_trials - state.finished)
    if budget.max_wallclock_time is not None and elapsed_s > 0:
        counts.append(begun + math.ceil(state.finished * max(0.0, budget.max_wallclock_time / elapsed_s - 1.0)))
    if state.exhausted:
        counts.append(begun + len(state.queue))
    return max(begun, min(counts, default=len(state.trials)))


def shortage(needed: int, free: int, trials: int, keep: Keep, folder: str) -> str:
    """Return a sentence about a disk that will not do; empty where it will.

    Args:
        needed: bytes that are still to be written.
        free: bytes of the disk.
        trials: that are to write them.
        keep: of the definition.
        folder: on that disk.
    """
    if needed <= free:
        return ""
    less = "" if keep == "none" else ", or keep less (keep: none)"
    what = "1 trial to come needs" if trials == 1 else f"{trials} trials to come need"
    return f"{DISK}{what} about {size_text(needed)} at once, {size_text(free)} are free in {folder}; make room{less}"


class DiskWatch:
    """Watches what finished trials leave, and says once that the rest will not fit, before the disk is full; it ends nothing.

    Args:
        budget: the limits.
        keep: of the definition, or `all` where nothing is given up early.
        workers: trials that run at once.
        folder: of the experiment.
        free: returns the bytes that are free there.
        written: returns the bytes that running trials have written so far; asked where it seems tight.
        elapsed_s: returns the seconds that the experiment has run.
        say: takes the sentence.
    """

    def __init__(
        self,
        budget: Budget,
        keep: Keep,
        workers: int,
        folder: str,
        *,
        free: Callable[[], int],
        written: Callable[[ExperimentState], int],
        elapsed_s: Callable[[], float],
        say: Callable[[str], None],
    ) -> None:
        self._budget, self._keep, self._workers, self._folder = budget, keep, workers, folder
        self._free, self._written, self._elapsed_s, self._say = free, written, elapsed_s, say
        self._left: list[LeftFiles] = []
        self._seen: set[int] = set()
        self._looked_at = 0
        self._is_said = False

    def observe(self, record: Record, state: ExperimentState) -> None:
        """Hear of a change; an observer of the loop. What was settled before a controller took over is heard of with the first one."""
        if record.kind != "settle" or self._is_said:
            return
        for trial in state.trials.values() if not self._seen else (state.trials[record.body["trial"]],):
            found = left_files(trial.usage)
            if trial.status.is_final and trial.trial not in self._seen:
                self._seen.add(trial.trial)
                self._left += [found] if found is not None else []
        # A look goes through all trials, so that with many of them one in twenty is enough: what is to come changes no faster.
        if len(self._left) > self._looked_at * _LOOK_AGAIN:
            self._looked_at = len(self._left)
            self._look(state)

    def _look(self, state: ExperimentState) -> None:
        to_come = trials_to_come(state, self._budget, self._elapsed_s())
        paused = sum(trial.status is TrialStatus.PAUSED for trial in state.trials.values()) / max(1, len(state.trials))
        kept = min(state.succeeded, self._keep) if isinstance(self._keep, int) else 0
        needed, free = needed_bytes(self._left, Outlook(to_come, self._workers, kept, paused), self._keep), self._free()
        if needed > free:
            # What running trials have written already is not free any more, and not to be written again.
            needed = max(0, needed - self._written(state))
        sentence = shortage(needed, free, to_come, self._keep, self._folder)
        if sentence:
            self._is_said = True
            self._say(sentence)
