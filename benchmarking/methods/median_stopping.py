"""MSR: random search that stops what is worse than the median at its level (Golovin et al., KDD 2017)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from benchmarking.controller.method import Decision, Evaluation, Method, MethodContext, PastEvaluation, Suggestion
from benchmarking.controller.method_arguments import STARTING_POINTS, Arguments, flag, number, whole
from benchmarking.methods.best_share import BestShare
from benchmarking.methods.direction import Primary, need_levels
from benchmarking.methods.points import need_space
from benchmarking.methods.proposals import Proposals


class MedianStopping(Method):
    """Stops an evaluation whose value, averaged over its levels so far, ranks below the cut-off among those at the same level.

    Args:
        context: its fidelity must be progressive.
    """

    learns = True
    arguments: ClassVar[Arguments] = {
        "running_average": flag(True, "compare the mean over all levels so far, not the value itself"),
        "grace_period": number(1.0, "lowest level at which anything is stopped", above=0),
        "grace_population": whole(5, 1, "evaluations at a level before anything is stopped there"),
        "rank_cutoff": number(0.5, "share that goes on", lower=0.01, upper=0.99),
        **STARTING_POINTS,
    }

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where space, fidelity or objectives do not suit."""
        fidelity = need_levels("MSR", context)
        self._level_name, self._full = fidelity.reported_as, fidelity.full
        self._given = context.arguments
        self._primary = Primary(context.objectives)
        self._proposals = Proposals("MSR", context, need_space("MSR", context))
        self._levels: dict[float, BestShare] = {}
        self._sums: dict[int, tuple[float, int]] = {}

    def learn(self, past: Sequence[PastEvaluation]) -> None:
        """Let past values count at their levels, as those of this experiment do."""
        for index, one in enumerate(past):
            for result in one.results:
                if float(result[self._level_name]) < self._full:
                    self._is_good(-1 - index, result)
            self._sums.pop(-1 - index, None)

    def suggest(self) -> Suggestion | None:
        """Draw a configuration at random; None where all were drawn."""
        configuration = self._proposals.next()
        return None if configuration is None else Suggestion(configuration)

    def on_trial_result(self, evaluation: Evaluation, result: Mapping[str, Any]) -> Decision:
        """Stop an evaluation whose value, or mean so far, is not among the best share at its level, once the grace is over."""
        level = float(result[self._level_name])
        if level >= self._full:
            return Decision.CONTINUE
        good = self._is_good(evaluation.id, result)
        spared = len(self._levels[level]) < self._given["grace_population"] or level < self._given["grace_period"]
        return Decision.CONTINUE if good or spared else Decision.STOP

    def _is_good(self, key: int, result: Mapping[str, Any]) -> bool:
        """Add a value, or the mean so far, to those at its level, and return whether it belongs to the best share of them."""
        level, value = float(result[self._level_name]), self._primary.value(result)
        if self._given["running_average"]:
            total, count = self._sums.get(key, (0.0, 0))
            self._sums[key] = total, count = total + value, count + 1
            value = total / count
        return self._levels.setdefault(level, BestShare(self._given["rank_cutoff"])).add(key, value)

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, Any]) -> None:
        """Forget the evaluation's running sum; its values go on to count at their levels."""
        self._sums.pop(evaluation.id, None)

    def on_trial_error(self, evaluation: Evaluation) -> None:
        """Forget the evaluation's running sum; its values go on to count at their levels."""
        self._sums.pop(evaluation.id, None)

    def on_trial_remove(self, evaluation: Evaluation) -> None:
        """Forget the evaluation's running sum; its values go on to count at their levels."""
        self._sums.pop(evaluation.id, None)
