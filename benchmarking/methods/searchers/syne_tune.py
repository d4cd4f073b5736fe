"""Syne Tune's searchers (REA, TPE, BORE) behind our interface, made repeatable. Imported where one of them is used."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarking.methods.searchers.base import Observation, Searcher, SearcherSpec
from benchmarking.methods.searchers.encoding import Encoding

_ATTEMPTS = 8
"""Suggestions per call that the rules may turn down."""


class SyneTuneSearcher(Searcher):
    """One of Syne Tune's searchers, over the unit cube: ordered dimensions as quantiles, the others as choices of an index.

    Its searchers draw from the global generators whatever seed they are given, so these, and every generator that the searcher holds,
    are seeded anew from (seed, call number) before each call; afterwards the global ones are as they were.

    Args:
        spec: `kind` is `REA`, `TPE` or `BORE`; of the arguments those that the searcher takes.
    """

    def __init__(self, spec: SearcherSpec) -> None:
        self._spec = spec
        self._encoding = Encoding(spec.space)
        self._latest: dict[int, Observation] = {}
        self._searcher: Any = None
        self._sent: dict[int, Observation] = {}

    def observe(self, observation: Observation) -> None:
        """Keep the value until the next proposal."""
        self._latest[observation.evaluation] = observation

    def propose(self, number: int, pending: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return what Syne Tune's searcher suggests after everything observed."""
        import numpy as np

        found: list[dict[str, Any]] = []
        with _global_generators_kept(), np.errstate(all="ignore"):
            # They cannot take an observation back: where an evaluation went on to another value, one starts over.
            if self._searcher is None or any(self._latest[evaluation] is not known for evaluation, known in self._sent.items()):
                self._searcher, self._sent = self._make(), {}
            for evaluation, observation in self._latest.items():
                if evaluation not in self._sent:
                    self._searcher.on_trial_complete(evaluation, self._theirs(observation.configuration), observation.value)
                    self._sent[evaluation] = observation
            for attempt in range(_ATTEMPTS):
                self._seed(number, attempt)
                suggested = self._searcher.suggest()
                if suggested is None:
                    break
                configuration = self._encoding.configuration(
                    {key: int(value) if key in self._encoding.unordered else value for key, value in suggested.items()}
                )
                found.append(configuration)
                if all(rule.holds(configuration) for rule in self._spec.rules):
                    break
        return found[::-1]

    def _make(self) -> Any:
        from syne_tune.config_space import choice, uniform

        space = {
            key: choice([str(k) for k in range(len(self._encoding.unordered[key].grid(0)))])
            if key in self._encoding.unordered
            else uniform(0.0, 1.0)
            for key in self._encoding.varied
        }
        given = self._spec.arguments
        if self._spec.kind == "REA":
            from syne_tune.optimizer.schedulers.searchers.regularized_evolution import RegularizedEvolution

            sizes = {name: given[name] for name in ("population_size", "sample_size")}
            return RegularizedEvolution(space, random_seed=self._spec.seed, **sizes)
        if self._spec.kind == "TPE":
            from syne_tune.optimizer.schedulers.searchers.kde import KernelDensityEstimator

            names = ("top_n_percent", "min_bandwidth", "num_candidates", "bandwidth_factor", "random_fraction")
            settings = {name: given[name] for name in names}
            # Its default, the number of dimensions, keeps the model from being fitted until a hundred trials are in.
            return KernelDensityEstimator(space, random_seed=self._spec.seed, num_min_data_points=len(space) + 1, **settings)
        from syne_tune.optimizer.schedulers.searchers.bore import Bore

        settings = {name: given[name] for name in ("gamma", "feval_acq", "random_prob")}
        return Bore(space, random_seed=self._spec.seed, init_random=0, **settings)

    def _theirs(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        marks = self._encoding.marks(configuration)
        return {key: str(mark) if key in self._encoding.unordered else mark for key, mark in marks.items()}

    def _seed(self, number: int, attempt: int) -> None:
        import numpy as np

        source = random.Random(f"{self._spec.kind}-{self._spec.seed}-{number}-{attempt}")
        random.seed(source.getrandbits(64))
        np.random.seed(source.getrandbits(32))
        for held in vars(self._searcher).values():
            if isinstance(held, np.random.RandomState):
                held.seed(source.getrandbits(32))


@contextlib.contextmanager
def _global_generators_kept() -> Iterator[None]:
    """Leave the process's global generators as they are."""
    import numpy as np

    ours, numpys = random.getstate(), np.random.get_state()
    try:
        yield
    finally:
        random.setstate(ours)
        np.random.set_state(numpys)
