"""Methods that evaluate at full fidelity what a searcher proposes: REA, TPE, BORE, CQR, BO."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from benchmarking.controller.method import Evaluation, Method, MethodContext, PastEvaluation, Suggestion
from benchmarking.controller.method_arguments import STARTING_POINTS, Argument, Arguments, number, whole
from benchmarking.methods.direction import Primary
from benchmarking.methods.points import need_choice
from benchmarking.methods.proposals import Proposals
from definitions.space import SearchSpace

REA_ARGUMENTS: Mapping[str, Argument] = {
    "population_size": whole(100, 2, "evaluations that parents are drawn from; random ones until there are as many"),
    "sample_size": whole(10, 1, "members drawn, of which the best becomes the parent"),
}
TPE_ARGUMENTS: Mapping[str, Argument] = {
    "top_n_percent": whole(15, 1, "percent of the evaluations that count as good"),
    "min_bandwidth": number(1e-3, "smallest bandwidth of a density", above=0),
    "num_candidates": whole(64, 1, "candidates drawn from the good density"),
    "bandwidth_factor": number(3.0, "by which the candidates spread wider", above=0),
    "random_fraction": number(0.33, "share of random suggestions", lower=0, upper=1),
}
BORE_ARGUMENTS: Mapping[str, Argument] = {
    "gamma": number(0.25, "share of the evaluations that count as good", lower=0.01, upper=0.99),
    "feval_acq": whole(500, 1, "random candidates of which the best is suggested"),
    "random_prob": number(0.0, "share of random suggestions", lower=0, upper=1),
    "init_random": whole(6, 2, "random evaluations before the first fit"),
}
CQR_ARGUMENTS: Mapping[str, Argument] = {
    "quantiles": whole(5, 2, "quantiles that are fitted"),
    "candidates": whole(2000, 1, "random candidates of which the best is suggested"),
    "init_random": whole(5, 4, "random evaluations before the first fit"),
}
GP_ARGUMENTS: Mapping[str, Argument] = {
    "candidates": whole(1000, 10, "random candidates; the best are refined"),
    "max_points": whole(300, 20, "evaluations that the Gaussian process is fitted to"),
    "init_random": whole(5, 2, "random evaluations before the first fit"),
}


class SearchMethod(Method):
    """Evaluates what a searcher proposes, and tells it the final value of the primary objective.

    Args:
        context: its arguments are those of the searcher.
    """

    searcher: ClassVar[str]
    title: ClassVar[str]
    hears_levels = False
    learns = True
    replays_without_asking = True

    def __init__(self, context: MethodContext) -> None:
        """Raise `UserError` where there is no space, or only one configuration in it."""
        space = need_choice(self.title, context)
        self._primary = Primary(context.objectives)
        self._proposals = Proposals(self.title, context, space, searcher=self.searcher, initial=self.initial(context, space))

    def initial(self, context: MethodContext, space: SearchSpace) -> int:
        """Return how many evaluations must be observed before the searcher is asked."""
        return int(context.arguments["init_random"])

    def learn(self, past: Sequence[PastEvaluation]) -> None:
        """Tell the searcher of what was measured to its end as if it were of this experiment, under ids of its own."""
        for index, one in enumerate(past):
            if one.final is not None:
                self._proposals.observed(-1 - index, one.configuration, self._primary.value(one.final))

    def suggest(self) -> Suggestion | None:
        """Return what the searcher proposes, or a random configuration until it is asked; None where nothing new is left."""
        self._proposals.refuse = self.refuse
        configuration = self._proposals.next()
        return None if configuration is None else Suggestion(configuration)

    def ready(self) -> bool:
        """Return whether `suggest` would answer at once; where not, the searcher begins to compute."""
        return self._proposals.ready()

    def on_suggestion(self, suggestion: Suggestion | None, skipped: int) -> None:
        """Take in recorded suggestions, so that the next proposal has the number that it would have had."""
        self._proposals.skip(skipped + 1)

    def on_trial_add(self, evaluation: Evaluation) -> None:
        """Tell the searcher that the configuration is pending."""
        self._proposals.added(evaluation.id, evaluation.configuration)

    def on_trial_complete(self, evaluation: Evaluation, result: Mapping[str, Any]) -> None:
        """Tell the searcher the final value of the primary objective."""
        self._proposals.over(evaluation.id)
        self._proposals.observed(evaluation.id, evaluation.configuration, self._primary.value(result))

    def on_trial_error(self, evaluation: Evaluation) -> None:
        """Let a failed evaluation no longer be pending; the searcher learns nothing from it."""
        self._proposals.over(evaluation.id)

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


class RegularizedEvolution(SearchMethod):
    """REA: mutates the best of a sample of the latest evaluations (Real et al., AAAI 2019; Syne Tune's)."""

    searcher = title = "REA"
    arguments: ClassVar[Arguments] = {**REA_ARGUMENTS, **STARTING_POINTS}

    def initial(self, context: MethodContext, space: SearchSpace) -> int:
        """Return the size of the population, as parents are drawn from a whole one."""
        return int(context.arguments["population_size"])


class ParzenEstimator(SearchMethod):
    """TPE: maximises the ratio of the densities of good and other configurations (Bergstra et al., 2011; Syne Tune's)."""

    searcher = title = "TPE"
    arguments: ClassVar[Arguments] = {**TPE_ARGUMENTS, **STARTING_POINTS}

    def initial(self, context: MethodContext, space: SearchSpace) -> int:
        """Return how many evaluations two density estimates need."""
        return parzen_initial(space)


class DensityRatio(SearchMethod):
    """BORE: maximises a classifier's belief that a configuration is a good one (Tiao et al., ICML 2021; Syne Tune's)."""

    searcher = title = "BORE"
    arguments: ClassVar[Arguments] = {**BORE_ARGUMENTS, **STARTING_POINTS}


class ConformalQuantiles(SearchMethod):
    """CQR: samples from conformalised quantile regressions (Salinas et al., ICML 2023)."""

    searcher = title = "CQR"
    arguments: ClassVar[Arguments] = {**CQR_ARGUMENTS, **STARTING_POINTS}


class BayesianOptimization(SearchMethod):
    """BO: maximises the expected improvement under a Gaussian process."""

    searcher = "GP"
    title = "BO"
    arguments: ClassVar[Arguments] = {**GP_ARGUMENTS, **STARTING_POINTS}


def parzen_initial(space: SearchSpace) -> int:
    """Return how many evaluations two density estimates need: each more than there are dimensions."""
    varied = sum(domain.size != 1 for domain in space.domains.values())
    return 2 * (varied + 2)
