"""The only place that calls a method: asks, tells, replays. Used by the loop and by resume."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarking.methods.base import Decision, Evaluation, Method, Suggestion
from benchmarking.methods.folding import Tell
from definitions.configuration import configuration_id

logger = logging.getLogger(__name__)

MAX_SKIPPED = 10_000
"""Suggestions in a row that may be ruled out before an open-ended method counts as exhausted."""


@dataclass(frozen=True)
class Answer:
    """What asking a method came to.

    Args:
        suggestion: a valid one; None where nothing is left.
        skipped: suggestions before it that were ruled out.
        last_reason: why the last of those was ruled out.
    """

    suggestion: Suggestion | None
    skipped: int = 0
    last_reason: str = ""


class MethodAdapter:
    """Calls one method for one experiment.

    Args:
        method: the method.
        refuse: returns why a configuration cannot run (a `valid` rule, an ingestion mode, an instance that does not fit), or None.
    """

    def __init__(self, method: Method, refuse: Callable[[Mapping[str, Any]], str | None]) -> None:
        self._method = method
        self._refuse = refuse
        self._evaluations: dict[int, Evaluation] = {}

    @property
    def finite(self) -> bool:
        """Whether the user asked for all suggestions to be evaluated."""
        return self._method.finite

    @property
    def independent(self) -> bool:
        """Whether suggestions may be asked for ahead of time."""
        return self._method.independent

    @property
    def hears_levels(self) -> bool:
        """Whether the method is told of results below the full fidelity."""
        return self._method.hears_levels

    def ask(self, evaluation: int) -> Answer:
        """Return the next valid suggestion, which becomes the evaluation of that id unless it resumes an earlier one."""
        skipped, reason = 0, ""
        while self._method.finite or skipped < MAX_SKIPPED:
            suggestion = self._method.suggest()
            if suggestion is None:
                return Answer(None, skipped, reason)
            if suggestion.resume is None:
                refusal = self._refuse(suggestion.configuration)
                if refusal is not None:
                    skipped, reason = skipped + 1, refusal
                    continue
                self._add(evaluation, suggestion.configuration)
            return Answer(suggestion, skipped, reason)
        return Answer(None, skipped, reason)

    def replay(self, evaluation: int | None, configuration: Mapping[str, Any] | None, next_evaluation: int) -> None:
        """Ask again on resume; where the answer differs from the record, the record wins and a warning says so."""
        answer = self.ask(next_evaluation)
        asked = None if answer.suggestion is None else configuration_id(answer.suggestion.configuration)
        recorded = None if configuration is None else configuration_id(configuration)
        if asked != recorded:
            logger.warning(
                "the method suggests %s where the journal has %s; the journal wins (has the method or its space changed?)",
                answer.suggestion and dict(answer.suggestion.configuration),
                configuration and dict(configuration),
            )
            if evaluation is not None and configuration is not None:
                self._add(evaluation, configuration)

    def tell(self, tell: Tell) -> Decision:
        """Make a due call and return the decision (CONTINUE for all but results)."""
        trial = self._evaluations[tell.evaluation]
        if tell.call == "result":
            decision = Decision(self._method.on_trial_result(trial, tell.result))
            if decision is not Decision.CONTINUE:
                self._method.on_trial_remove(trial)
            return decision
        if tell.call == "complete":
            self._method.on_trial_complete(trial, tell.result)
        else:
            self._method.on_trial_error(trial)
        return Decision.CONTINUE

    def _add(self, evaluation: int, configuration: Mapping[str, Any]) -> None:
        trial = Evaluation(evaluation, configuration)
        self._evaluations[evaluation] = trial
        self._method.on_trial_add(trial)
