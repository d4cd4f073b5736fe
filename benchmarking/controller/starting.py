"""Which job starts for a trial: a new trial's first one, or a further attempt of one that goes on. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarking.controller.state import ExperimentState
from definitions.trial import TrialSpec


@dataclass(frozen=True)
class PlannedStart:
    """A job that may start now.

    Args:
        trial: its id; the next free one for a new trial.
        evaluation: the evaluation that it measures.
        repeat: which of the evaluation's repeats, from 0.
        attempt: which job of its trial it is, from 1.
        spec: what it runs.
        checkpoint_of: the trial whose checkpoint it starts from, if there is one; None for a start from nothing.
    """

    trial: int
    evaluation: int
    repeat: int
    attempt: int
    spec: TrialSpec
    checkpoint_of: int | None


def first_attempt(state: ExperimentState, entry: tuple[int, int]) -> PlannedStart:
    """Return the first job of a new trial: an evaluation and its repeat, from the queue."""
    evaluation, repeat = entry
    known = state.evaluations[evaluation]
    source = None if known.checkpoint_from is None else state.evaluations[known.checkpoint_from].trials[0]
    return PlannedStart(len(state.trials), evaluation, repeat, 1, known.trial(repeat), source)


def next_attempt(state: ExperimentState, trial: int) -> PlannedStart:
    """Return the next job of a trial that was started before; it goes on from its own checkpoint."""
    known = state.trials[trial]
    repeat = known.spec.repeat - state.evaluations[known.evaluation].first.repeat
    return PlannedStart(trial, known.evaluation, repeat, known.submissions + 1, known.spec, trial)


def start_body(planned: PlannedStart, job: str, restore_from: str | None, worst_usd: float | None) -> dict[str, Any]:
    """Return the body of the record that a job is about to be submitted.

    Args:
        planned: what it is of.
        job: its name.
        restore_from: key of the checkpoint that it goes on from; None for none.
        worst_usd: dollars that it costs at most; None where that is not known.
    """
    return {
        "trial": planned.trial,
        "evaluation": planned.evaluation,
        "repeat": planned.repeat,
        "attempt": planned.attempt,
        "job": job,
        "restore_from": restore_from,
        "worst_usd": worst_usd,
    }
