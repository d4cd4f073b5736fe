"""The only place that calls a method: asks, tells, replays."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from backends.capabilities import Capabilities
from benchmarking.controller.aggregation import Tell
from benchmarking.controller.method import Decision, Evaluation, Method, PastEvaluation, Suggestion
from definitions.configuration import configuration_id
from definitions.errors import EXIT_FAULT, OutriderError, UserError
from definitions.trial import TrialSpec

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)

MAX_SKIPPED = 10_000
"""Suggestions in a row that may be ruled out before an open-ended method counts as exhausted."""


class MethodError(UserError):
    """A method failed: a fault of whoever wrote it, shown without a traceback as the user can but report it."""

    exit_code = EXIT_FAULT


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
        refuse: returns why a trial cannot run (a `valid` rule, an ingestion mode, an instance that does not fit), or None.
    """

    def __init__(self, method: Method, refuse: Callable[[TrialSpec], str | None]) -> None:
        self._method = method
        self._refuse = refuse
        self._last_reason = ""
        self._evaluations: dict[int, Evaluation] = {}
        method.refuse = self._refused

    @property
    def finite(self) -> bool:
        """Whether the user asked for all suggestions to be evaluated."""
        return self._method.finite

    @property
    def independent(self) -> bool:
        """Whether suggestions may be asked for ahead of time."""
        return self._method.independent

    @property
    def is_computing(self) -> bool:
        """Whether a suggestion is computed elsewhere, so that there will be one although nothing runs."""
        return self._method.is_computing

    def attach(self, capabilities: Capabilities, wake: Callable[[], None]) -> None:
        """Prepare for the back-end that the experiment runs on.

        On a virtual clock the method computes in this process, as nothing is delayed by it; else in a worker, so that nothing is.

        Args:
            capabilities: the back-end's.
            wake: makes the loop look again; called from any thread.

        Raises:
            UserError: the method pauses or copies evaluations, and the back-end keeps no checkpoints.
        """
        if self._method.needs_checkpoints and not capabilities.checkpoints:
            raise UserError(
                f"method {self._title} goes on from checkpoints",
                "this back-end keeps none beyond the end of a job",
                "use ASHA with type=stopping, or a back-end that keeps checkpoints",
            )
        if not capabilities.virtual_time:
            self._method.start_worker(wake)

    def learn(self, body: Mapping[str, Any]) -> None:
        """Tell the method what a `learn` record holds of earlier experiments; raises `MethodError`."""
        self._called("learn", self._method.learn, [PastEvaluation(**one) for one in body["results"]])

    def conclude(self) -> tuple[bool, str] | None:
        """Return whether the method decided what it was to decide, and in words what; None for most; raises `MethodError`."""
        return self._called("conclude", self._method.conclude)

    def close(self) -> None:
        """Release what the method holds."""
        self._method.close()

    def ask(self, evaluation: int) -> Answer | None:
        """Return the next valid suggestion, which becomes the evaluation of that id unless it resumes an earlier one.

        Returns:
            None where the method has none yet: it is to be asked again when something has happened.

        Raises:
            MethodError: the method failed.
        """
        if not self._called("suggest", self._method.ready):
            return None
        answer = self._next()
        if answer.suggestion is not None and answer.suggestion.resume is None:
            self._add(evaluation, answer.suggestion)
        return answer

    def ask_resume(self) -> Suggestion | None:
        """Return a paused evaluation to go on with where no new one may start, or None; raises `MethodError`."""
        return self._called("resume_only", self._method.resume_only)

    def replay(self, recorded: Suggestion | None, evaluation: int, *, limited: bool = False, skipped: int = 0) -> None:
        """Ask again on resume, or just tell where that is enough; where an answer differs from the record, the record wins.

        Args:
            recorded: the recorded suggestion; None where nothing was left.
            evaluation: id of the next new evaluation, which it becomes unless it resumes an earlier one.
            limited: whether only a paused evaluation to go on with was asked for.
            skipped: suggestions before it that were ruled out.

        Raises:
            MethodError: the method failed.
        """
        if self._method.replays_without_asking:
            self._called("on_suggestion", self._method.on_suggestion, recorded, skipped)
        else:
            asked = self.ask_resume() if limited else self._next().suggestion
            if _identity(asked) != _identity(recorded):
                logger.warning(
                    "the method suggests %s where the journal has %s; the journal wins (has the method or its space changed?)",
                    _words(asked),
                    _words(recorded),
                )
                if recorded is not None and recorded.resume is not None:
                    self._called("on_suggestion", self._method.on_suggestion, recorded, 0)
            elif asked is not None:
                recorded = asked
        if recorded is not None and recorded.resume is None:
            self._add(evaluation, recorded)

    def tell(self, tell: Tell) -> Decision:
        """Make a due call and return the decision (CONTINUE for all but results); raises `MethodError`."""
        evaluation = self._evaluations[tell.evaluation]
        if tell.call == "result":
            return self._called("on_trial_result", self._decide, evaluation, tell.result)
        if tell.progress is not None:
            decision = self._called("on_progress", self._method.on_progress, evaluation, tell.progress)
            if tell.call == "progress":
                return Decision(decision)
        if tell.call == "complete":
            self._called("on_trial_complete", self._method.on_trial_complete, evaluation, tell.result)
        else:
            self._called("on_trial_error", self._method.on_trial_error, evaluation)
        return Decision.CONTINUE

    def _decide(self, evaluation: Evaluation, result: Mapping[str, Any]) -> Decision:
        decision = Decision(self._method.on_trial_result(evaluation, result))
        if decision is not Decision.CONTINUE:
            self._method.on_trial_remove(evaluation)
        return decision

    def _next(self) -> Answer:
        skipped, reason = 0, ""
        self._last_reason = ""
        while self._method.finite or skipped < MAX_SKIPPED:
            suggestion = self._called("suggest", self._method.suggest)
            if suggestion is None:
                return Answer(None, skipped, reason or self._last_reason)
            refusal = None if suggestion.resume is not None else self._refuse(suggestion.trial)
            if refusal is None:
                return Answer(suggestion, skipped, reason)
            skipped, reason = skipped + 1, refusal
        return Answer(None, skipped, reason)

    def _refused(self, configuration: Mapping[str, Any]) -> str | None:
        """Tell the method why a configuration cannot run, and remember it in case that nothing else is left to say."""
        found = self._refuse(TrialSpec(configuration))
        self._last_reason = found or self._last_reason
        return found

    def _add(self, number: int, suggestion: Suggestion) -> None:
        evaluation = Evaluation(number, suggestion.configuration, suggestion.level, suggestion.repeat, suggestion.prefix_s)
        self._evaluations[number] = evaluation
        self._called("on_trial_add", self._method.on_trial_add, evaluation)

    @property
    def _title(self) -> str:
        return self._method.name or type(self._method).__name__

    def _called(self, name: str, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call the method, and turn whatever it raises into an error that names it."""
        try:
            return call(*args, **kwargs)
        except OutriderError:
            raise
        except Exception as error:
            logger.debug("method %s failed in %s", self._title, name, exc_info=True)
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = "" if place is None else f" ({place.tb_frame.f_code.co_filename}:{place.tb_lineno})"
            raise MethodError(
                f"method {self._title} failed in {name}: {type(error).__name__}: {error}",
                f"what was measured is kept{where}",
                "mend the method and resume, or use another one under another tag",
            ) from error


def _identity(suggestion: Suggestion | None) -> tuple[object, ...] | None:
    if suggestion is None:
        return None
    if suggestion.resume is not None:
        return (suggestion.resume,)
    return configuration_id(suggestion.configuration), suggestion.level, suggestion.repeat, suggestion.prefix_s is not None


def _words(suggestion: Suggestion | None) -> str:
    if suggestion is None:
        return "nothing"
    if suggestion.resume is not None:
        return f"to go on with {suggestion.resume}"
    prefix = "" if suggestion.prefix_s is None else ", as a prefix"
    at = "" if suggestion.level is None else f" at level {suggestion.level:g}, repeat {suggestion.repeat}{prefix}"
    return f"{dict(suggestion.configuration)}{at}"
