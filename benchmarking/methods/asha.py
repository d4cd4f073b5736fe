"""ASHA: asynchronous successive halving, stopping or pausing and promoting; and its kin with other searchers or objectives.

Li et al., "A System for Massively Parallel Hyperparameter Tuning", 2018. The stopping type decides as Syne Tune's does.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from benchmarking.controller.method import Decision, Evaluation, Method, MethodContext, PastEvaluation, Suggestion
from benchmarking.controller.method_arguments import STARTING_POINTS, Argument, Arguments, one_of
from benchmarking.methods.best_share import BestShare
from benchmarking.methods.direction import Primary, need_levels
from benchmarking.methods.points import need_choice, need_space
from benchmarking.methods.proposals import Proposals
from benchmarking.methods.rungs import RUNG_ARGUMENTS, bracket_rungs, choose_bracket
from benchmarking.methods.search import BORE_ARGUMENTS, GP_ARGUMENTS, TPE_ARGUMENTS, parzen_initial
from definitions.space import SearchSpace

ASHA_ARGUMENTS: Mapping[str, Argument] = {
    "type": one_of("stopping", ("stopping", "promotion"), "stop the others, or pause all and go on with the best from their checkpoints"),
    **RUNG_ARGUMENTS,
    **STARTING_POINTS,
}


class Share(Protocol):
    """Who at a rung belongs to the best share; see `best_share` and `pareto_share`."""

    def add(self, key: int, value: Any) -> bool:
        """Add a value and return whether it belongs to the best share."""
        ...

    def best(self) -> int | None:
        """Return the best of the share that was not taken."""
        ...

    def holds(self, key: int) -> bool:
        """Return whether a key belongs to the best share now."""
        ...

    def take(self, key: int) -> None:
        """Let `best` never return this key again."""
        ...


@dataclass(slots=True)
class _Place:
    """Where an evaluation stands: its bracket, and the number of rungs that it has passed."""

    bracket: int
    passed: int = 0


class SuccessiveHalving(Method):
    """Compares evaluations at rungs; of those at a rung one in `reduction_factor` goes on.

    The stopping type stops an evaluation that is not among the best when it arrives. The promotion type pauses it; a free worker goes on
    with the best paused one of the highest rung that has room, or starts a new one. One that arrives among the best just goes on. A
    report that jumps over rungs counts for the highest that it passes.

    Args:
        context: its fidelity must be progressive.
    """

    learns = True
    title: ClassVar[str] = "ASHA"
    searcher: ClassVar[str | None] = None
    all_objectives: ClassVar[bool] = False
    arguments: ClassVar[Arguments] = ASHA_ARGUMENTS

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where space, fidelity, objectives or arguments do not suit."""
        space = need_space(self.title, context) if self.searcher is None else need_choice(self.title, context)
        fidelity = need_levels(self.title, context, all_objectives=self.all_objectives)
        given = context.arguments
        self._level_name, self._full = fidelity.reported_as, float(fidelity.full)
        self._seed = context.seed
        self._promotes = given["type"] == "promotion"
        self.needs_checkpoints = self._promotes
        self.brackets = bracket_rungs(self.title, given, self._full)
        share = 1 / given["reduction_factor"]
        self._shares: list[list[Share]] = [[self._make_share(share) for _ in rungs] for rungs in self.brackets]
        levels = [(level, bracket, rung) for bracket, rungs in enumerate(self.brackets) for rung, level in enumerate(rungs)]
        self._downwards = [(bracket, rung) for _, bracket, rung in sorted(levels, key=lambda at: (-at[0], at[1]))]
        self._primary = Primary(context.objectives)
        self._proposals = Proposals(
            self.title, context, space, searcher=self.searcher, initial=self._initial(context, space), full=self._full
        )
        self.replays_without_asking = self._proposals.replays_without_asking
        self._places: dict[int, _Place] = {}
        self._running: set[int] = set()

    def suggest(self) -> Suggestion | None:
        """Resume the best paused evaluation of the highest rung with room, else propose a new configuration; None for neither."""
        resumed = self.resume_only()
        if resumed is not None:
            return resumed
        self._proposals.refuse = self.refuse
        configuration = self._proposals.next()
        return None if configuration is None else Suggestion(configuration)

    def ready(self) -> bool:
        """Return whether `suggest` would answer at once; after the last configuration, only once nothing runs that may make room."""
        if self._promotes and self._promotable() is not None:
            return True
        if self._proposals.exhausted:
            # What still runs may yet make room for a paused one.
            return not (self._promotes and self._running)
        return self._proposals.ready()

    def resume_only(self) -> Suggestion | None:
        """Resume the best paused evaluation of the highest rung with room; None where there is none, always so in the stopping type."""
        found = self._promotable() if self._promotes else None
        if found is None:
            return None
        self._resume(found)
        return Suggestion({}, resume=found)

    def on_suggestion(self, suggestion: Suggestion | None, skipped: int) -> None:
        """Take in a recorded suggestion: what was resumed is taken from its rung, and what was proposed is not proposed again."""
        if suggestion is not None and suggestion.resume is not None:
            self._resume(suggestion.resume)
        else:
            self._proposals.skip(skipped + 1)

    def learn(self, past: Sequence[PastEvaluation]) -> None:
        """Let past values count at the rungs that they passed, in each bracket, and tell the searcher of them; none is ever resumed."""
        for index, one in enumerate(past):
            number = -1 - index
            for rungs, shares in zip(self.brackets, self._shares, strict=True):
                self._count_past(number, one, rungs, shares)
            for result in one.results:
                level = float(result[self._level_name])
                if level < self._full and any(level in rungs for rungs in self.brackets):
                    self._proposals.observed(number, one.configuration, self._primary.value(result), level)
            if one.final is not None:
                self._proposals.observed(number, one.configuration, self._primary.value(one.final), self._full)

    def _count_past(self, number: int, past: PastEvaluation, rungs: Sequence[float], shares: Sequence[Share]) -> None:
        passed = 0
        for result in past.results:
            level, value = float(result[self._level_name]), self._value(result)
            reached = bisect.bisect_right(rungs, level)
            if value is None or level >= self._full or reached <= passed:
                continue
            passed = reached
            shares[passed - 1].add(number, value)
            shares[passed - 1].take(number)

    def on_trial_add(self, evaluation: Evaluation) -> None:
        """Draw the evaluation's bracket and count it among those that run."""
        self._places[evaluation.id] = _Place(choose_bracket(self.brackets, self._seed, evaluation.id))
        self._running.add(evaluation.id)
        self._proposals.added(evaluation.id, evaluation.configuration)

    def on_trial_result(self, evaluation: Evaluation, result: Mapping[str, Any]) -> Decision:
        """Rank the value at the highest rung passed; one that is not among the best share is stopped, or paused in the promotion type."""
        value, level = self._value(result), float(result[self._level_name])
        place = self._places.get(evaluation.id)
        if value is None or place is None or level >= self._full:
            return Decision.CONTINUE
        passed = bisect.bisect_right(self.brackets[place.bracket], level)
        if passed <= place.passed:
            return Decision.CONTINUE
        place.passed = passed
        share = self._shares[place.bracket][passed - 1]
        good = share.add(evaluation.id, value)
        self._proposals.observed(evaluation.id, evaluation.configuration, self._primary.value(result), level)
        if not self._promotes:
            return Decision.CONTINUE if good else Decision.STOP
        if share.holds(evaluation.id):
            share.take(evaluation.id)
            return Decision.CONTINUE
        return Decision.PAUSE

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, Any]) -> None:
        """Tell the searcher the final value and forget the evaluation."""
        self._proposals.observed(
            evaluation.id, evaluation.configuration, self._primary.value(result), result.get(self._level_name, self._full)
        )
        self._end(evaluation.id)

    def on_trial_error(self, evaluation: Evaluation) -> None:
        """Take a failed evaluation out of what may be resumed, and forget it; its value still counts at its rung."""
        place = self._places.get(evaluation.id)
        if place is not None and place.passed:
            self._shares[place.bracket][place.passed - 1].take(evaluation.id)
        self._end(evaluation.id)

    def on_trial_remove(self, evaluation: Evaluation) -> None:
        """Let a paused evaluation no longer count as running (promotion type), or forget a stopped one."""
        if self._promotes:
            self._running.discard(evaluation.id)
        else:
            self._end(evaluation.id)

    def start_worker(self, wake: Callable[[], None]) -> None:
        """Let the searcher compute in a child process; `wake` is called, from another thread, when it has an answer."""
        self._proposals.start_worker(wake)

    @property
    def is_computing(self) -> bool:
        """Whether the searcher is at work on an answer."""
        return self._proposals.is_computing

    def close(self) -> None:
        """End the searcher's process."""
        self._proposals.close()

    def _make_share(self, share: float) -> Share:
        return BestShare(share)

    def _value(self, result: Mapping[str, Any]) -> Any:
        """Return what a result is compared by; None where it cannot be compared."""
        return self._primary.value(result)

    def _initial(self, context: MethodContext, space: SearchSpace) -> int:
        """Return how many evaluations must be observed before the searcher is asked."""
        return int(context.arguments.get("init_random", 0))

    def _promotable(self) -> int | None:
        for bracket, rung in self._downwards:
            found = self._shares[bracket][rung].best()
            if found is not None:
                return found
        return None

    def _resume(self, evaluation: int) -> None:
        place = self._places.get(evaluation)
        if place is not None and place.passed:
            self._shares[place.bracket][place.passed - 1].take(evaluation)
        self._running.add(evaluation)

    def _end(self, evaluation: int) -> None:
        self._places.pop(evaluation, None)
        self._running.discard(evaluation)
        self._proposals.over(evaluation)


class MultiObjectiveHalving(SuccessiveHalving):
    """MOASHA: successive halving by non-dominated fronts of all objectives, each in its own direction.

    A report that lacks an objective is not compared.
    """

    title = "MOASHA"
    all_objectives = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` as ASHA does, and where an objective is known only when a job has ended."""
        super().__init__(context)
        self._signs = {name: -1.0 if mode == "max" else 1.0 for name, mode in context.objectives.items()}

    def _make_share(self, share: float) -> Share:
        from benchmarking.methods.pareto_share import ParetoShare

        return ParetoShare(share)

    def _value(self, result: Mapping[str, Any]) -> Any:
        if any(name not in result for name in self._signs):
            return None
        return [sign * result[name] for name, sign in self._signs.items()]


class HalvingWithDensityRatio(SuccessiveHalving):
    """ASHA_BORE: ASHA whose new configurations are BORE's, from the latest rung of each evaluation."""

    title, searcher = "ASHA_BORE", "BORE"
    arguments: ClassVar[Arguments] = {**ASHA_ARGUMENTS, **BORE_ARGUMENTS}


class HalvingWithParzenEstimator(SuccessiveHalving):
    """ASHA_TPE: ASHA whose new configurations are TPE's, from the latest rung of each evaluation (as in BOHB, Falkner et al., 2018)."""

    title, searcher = "ASHA_TPE", "TPE"
    arguments: ClassVar[Arguments] = {**ASHA_ARGUMENTS, **TPE_ARGUMENTS}

    def _initial(self, context: MethodContext, space: SearchSpace) -> int:
        return parzen_initial(space)


class HalvingWithGaussianProcess(SuccessiveHalving):
    """MOBSTER: ASHA whose new configurations come from a Gaussian process over configurations and levels (Klein et al., 2020)."""

    title, searcher = "MOBSTER", "GP"
    arguments: ClassVar[Arguments] = {**ASHA_ARGUMENTS, **GP_ARGUMENTS}
