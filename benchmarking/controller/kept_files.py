"""Which trials' checkpoints and models are kept: the best ones', and what can still be asked for; the rest goes while the run goes on."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence

from backends.failures import Cause
from benchmarking.controller.journal import Record
from benchmarking.controller.rows import TrialState
from benchmarking.controller.state import ExperimentState
from definitions.schema import Keep, Mode


def disposable(trials: Sequence[TrialState], objectives: Mapping[str, Mode], keep: Keep) -> list[int]:
    """Return the trials whose files nobody needs any more, in their order.

    Args:
        trials: of an experiment, in any state; those that are not over keep their files.
        objectives: name -> mode, the primary one first.
        keep: of the definition.
    """
    if keep == "all":
        return []
    over = [trial for trial in trials if _is_over(trial)]
    best = {number for _, number in sorted(_ranks(over, objectives))[: keep if isinstance(keep, int) else 0]}
    return sorted(trial.trial for trial in over if trial.trial not in best)


class KeptFiles:
    """Watches a run, and gives up the files of trials that are over as soon as it is known that they are not among the best.

    Args:
        objectives: name -> mode, the primary one first.
        keep: of the definition.
        give_up: deletes the files of a trial.
    """

    def __init__(self, objectives: Mapping[str, Mode], keep: Keep, give_up: Callable[[TrialState], None]) -> None:
        self._objectives = objectives
        self._keep = keep
        self._give_up = give_up
        # Of the best ones the worst is on top: a heap of negated ranks, so that a trial costs no look at all others.
        self._best: list[tuple[float, int]] = []
        self._seen: set[int] = set()

    def observe(self, record: Record, state: ExperimentState) -> None:
        """Hear of a change; an observer of the loop. What was settled before a controller took over is heard of with the first one."""
        if record.kind != "settle" or self._keep == "all":
            return
        settled = state.trials.values() if not self._seen else (state.trials[record.body["trial"]],)
        for trial in settled:
            if trial.trial not in self._seen and _is_over(trial):
                self._seen.add(trial.trial)
                self._place(trial, state)

    def _place(self, trial: TrialState, state: ExperimentState) -> None:
        most = self._keep if isinstance(self._keep, int) else 0
        ranks = _ranks([trial], self._objectives)
        if not ranks or not most:
            self._give_up(trial)
            return
        # Of two that are equally good the earlier one is the better.
        rank = (-ranks[0][0], -trial.trial)
        if len(self._best) < most:
            heapq.heappush(self._best, rank)
            return
        _, negated = heapq.heappushpop(self._best, rank)
        self._give_up(state.trials[-negated])


def _is_over(trial: TrialState) -> bool:
    # A paused trial goes on from its checkpoint, also when the run is resumed.
    return trial.status.is_final and trial.cause is not Cause.PAUSED


def _ranks(trials: Sequence[TrialState], objectives: Mapping[str, Mode]) -> list[tuple[float, int]]:
    """Return for each trial with a value of the primary objective the value, less is better, and its number."""
    primary, mode = next(iter(objectives.items()))
    return [
        (value if mode == "min" else -value, trial.trial)
        for trial in trials
        if (value := trial.value_of(primary)) is not None and not math.isnan(value)
    ]
