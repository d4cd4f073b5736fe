"""What came of one experiment of a command."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from backends.failures import signature
from benchmarking.archive.dollars import kind_of_dollars
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.archive.stored import load
from benchmarking.controller.ending import Ending, Reason
from benchmarking.experiment import ExperimentResult
from definitions.errors import EXIT_DONE, EXIT_TAKEN_OVER, UserError

logger = logging.getLogger(__name__)

ELSEWHERE = "elsewhere"
"""Reason of an outcome: another controller of the same study runs it."""
DENIED = "denied"
"""Reason of an outcome: whoever runs it lacks a permission, which the next experiment would lack as well."""


@dataclass(frozen=True)
class ExperimentOutcome:
    """What came of one experiment.

    Args:
        spec: the experiment.
        exit_code: as a command that runs it alone would have.
        reason: of its ending; `refused`, `in use`, `fault`, `killed`, `taken over`, `cut off`, `not begun`, `DENIED`, or `ELSEWHERE`.
        cause: in a sentence.
        failure: what its failures have in common, where nothing was measured; else empty.
        result: what it came to; None where it was not run by this command, or by a process of its own that keeps it.
        has_run: whether this command ran it.
    """

    spec: ExperimentSpec
    exit_code: int
    reason: str
    cause: str
    failure: str = ""
    result: ExperimentResult | None = None
    has_run: bool = False

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to say of it but its results."""
        return self.exit_code == EXIT_DONE

    @property
    def ends_all(self) -> bool:
        """Whether no other experiment is to be begun after it."""
        return self.reason in (Reason.INTERRUPTED, Reason.DISK_FULL, Reason.DETACHED, DENIED) or self.exit_code == EXIT_TAKEN_OVER


def outcome_of(result: ExperimentResult) -> ExperimentOutcome:
    """Return the outcome of an experiment that ran."""
    state, ending = result.state, result.ending
    failed = ending.reason in (Reason.ALIKE, Reason.NONE_SUCCEEDED, Reason.FAILURES) and not state.succeeded
    failure = signature(*state.failures[-1]) if failed and state.failures else ""
    return ExperimentOutcome(result.spec, ending.exit_code, str(ending.reason), ending.message, failure, result, has_run=True)


def with_results(outcomes: Sequence[ExperimentOutcome]) -> list[ExperimentOutcome]:
    """Return the outcomes with the results of what other processes, or earlier commands, have run, read from the folders."""
    return [one if one.result is not None else dataclasses.replace(one, result=_stored_result(one)) for one in outcomes]


def _stored_result(outcome: ExperimentOutcome) -> ExperimentResult | None:
    if not (outcome.spec.folder / "experiment.json").is_file():
        return None
    try:
        stored = load(outcome.spec.folder)
        if not stored.is_started:
            return None
        with stored.journal() as journal:
            state = stored.state(journal)
    except UserError as error:
        # The others' results are not to be lost over it.
        logger.warning("%s", error)
        return None
    ended = state.ended
    ending = Ending(Reason.INTERRUPTED, outcome.cause, outcome.exit_code)
    if ended is not None and ended["reason"] in {*Reason}:
        ending = Ending(Reason(ended["reason"]), str(ended["message"]), int(ended["exit_code"]))
    label = kind_of_dollars(stored.folder, stored.spec.backend)
    return ExperimentResult(outcome.spec, ending, state, "" if label == "real" else label, stored.region)
