"""Bayesian optimisation by a Gaussian process over configurations and, where there are levels, over these too."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmarking.methods.searchers.base import Observation, Searcher, SearcherSpec
from benchmarking.methods.searchers.encoding import Encoding, allowed
from benchmarking.methods.searchers.gaussian_process import GaussianProcess

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_RETURNED = 20
_REFINED = 5
_ROUNDS = 4
_RANDOM_EVERY = 8
"""Every so many proposals one is random, so that a wrong model is found out."""


class BayesianSearcher(Searcher):
    """Maximises the expected improvement; what runs is taken to come out as predicted.

    With levels, the process has the level (on a log scale) as one more dimension, after what a level gains on average is added; the
    improvement is that at the highest level that has enough observations (after Klein et al., "Model-based Asynchronous
    Hyperparameter and Neural Architecture Search", 2020).

    Args:
        spec: arguments `candidates` and `max_points`; `full` where there are levels.
    """

    def __init__(self, spec: SearcherSpec) -> None:
        self._spec = spec
        self._encoding = Encoding(spec.space)
        self._observations: dict[tuple[int, float], Observation] = {}
        self._vectors: dict[int, list[float]] = {}
        self._chosen: list[tuple[int, float]] = []

    def observe(self, observation: Observation) -> None:
        """Keep the latest value of an evaluation, at the level at which it was measured."""
        level = 1.0 if observation.level is None or self._spec.full is None else self._place(observation.level)
        self._observations[observation.evaluation, level] = observation
        if observation.evaluation not in self._vectors:
            self._vectors[observation.evaluation] = self._encoding.vector(observation.configuration)

    def propose(self, number: int, pending: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the candidates with the largest expected improvement, the best first, those around the incumbent refined."""
        import numpy as np

        if number % _RANDOM_EVERY == _RANDOM_EVERY - 1 or len(self._vectors) < 2:
            return []
        source = self._spec.source(number)
        level = self._target_level()
        inputs, targets = self._data(level)
        process = GaussianProcess(inputs, targets)
        # What runs already is taken to come out as predicted ("kriging believer"; Ginsbourger et al., 2010).
        if pending:
            process = process.with_believed(self._matrix([self._encoding.vector(one) for one in pending], level))
        at_level = inputs[:, -1] == level if self._spec.full is not None else np.ones(len(targets), dtype=bool)
        means, _ = process.predict(inputs[at_level])
        incumbent = float(means.min())

        def improvement(configurations: Sequence[Mapping[str, Any]]) -> NDArray[np.float64]:
            mean, deviation = process.predict(self._matrix([self._encoding.vector(one) for one in configurations], level))
            return _log_improvement(mean, deviation, incumbent)

        # The best of random candidates and of the surroundings of the best observed, refined in narrowing rounds.
        pool = self._spec.candidates(source, int(self._spec.arguments["candidates"]))
        if not pool:
            return []
        order = np.argsort(targets[at_level], kind="stable")
        best = list(np.asarray(self._evaluations_at(level))[order[:_REFINED]])
        pool += self._neighbours([self._configuration(evaluation) for evaluation in best], source, 0.1)
        scores = improvement(pool)
        for round_number in range(_ROUNDS):
            leaders = [pool[k] for k in np.argsort(-scores, kind="stable")[:_REFINED]]
            near = self._neighbours(leaders, source, 0.1 * 0.4**round_number)
            if near:
                pool, scores = pool + near, np.concatenate([scores, improvement(near)])
        return [pool[k] for k in np.argsort(-scores, kind="stable")[:_RETURNED]]

    def _place(self, level: float) -> float:
        """Return where a level lies between 1 (or below) and the full one, on a log scale: the full one at 1."""
        full = float(self._spec.full or 1.0)
        return round(1.0 - math.log(full / level) / math.log(max(full, 2.0)), 9)

    def _target_level(self) -> float:
        counts: dict[float, int] = defaultdict(int)
        for _, level in self._observations:
            counts[level] += 1
        wanted = max(3, min(self._encoding.width, 8))
        enough = [level for level, count in counts.items() if count >= wanted]
        return max(enough) if enough else min(counts)

    def _evaluations_at(self, level: float) -> list[int]:
        return [evaluation for evaluation, there in self._chosen if there == level]

    def _data(self, target: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return inputs (n, d) and targets (n,) of the observations that the process is fitted to: all good ones, else the latest."""
        import numpy as np

        most = int(self._spec.arguments["max_points"])
        keys = list(self._observations)
        # Too many for a fit whose time grows with the cube: half of the rows are the best at the target level, the others the latest.
        if len(keys) > most:
            ranked = sorted((key for key in keys if key[1] == target), key=lambda key: self._observations[key].value)
            first = set(ranked[: most // 2])
            rest = [key for key in keys if key not in first]
            chosen = first | set(rest[len(rest) - (most - len(first)) :])
            keys = [key for key in keys if key in chosen]
        self._chosen = keys
        values = np.array([self._observations[key].value for key in keys])
        # One diverging value must not flatten all others.
        middle = np.median(values)
        spread = np.median(np.abs(values - middle)) or np.abs(values - middle).mean()
        values = np.minimum(values, middle + 5 * spread) if spread else values
        levels = np.array([level for _, level in keys])
        if self._spec.full is not None:
            at_target = {evaluation: value for (evaluation, level), value in zip(keys, values, strict=True) if level == target}
            for level in np.unique(levels[levels != target]):
                there = np.flatnonzero(levels == level)
                # Who gets far is better than the rest, so what a level is worth is seen in those that have reached both.
                gains = [at_target[keys[k][0]] - values[k] for k in there if keys[k][0] in at_target]
                values[there] += np.mean(gains) if gains else np.mean(list(at_target.values())) - values[there].mean()
        vectors = [self._vectors[evaluation] for evaluation, _ in keys]
        return (np.column_stack([np.array(vectors), levels]) if self._spec.full is not None else np.array(vectors)), values

    def _matrix(self, vectors: Sequence[Sequence[float]], level: float) -> NDArray[np.float64]:
        import numpy as np

        found = np.array(vectors)
        return found if self._spec.full is None else np.column_stack([found, np.full(len(found), level)])

    def _configuration(self, evaluation: int) -> Mapping[str, Any]:
        return next(one.configuration for (of, _), one in self._observations.items() if of == evaluation)

    def _neighbours(self, centres: Sequence[Mapping[str, Any]], source: random.Random, width: float) -> list[dict[str, Any]]:
        found = []
        for centre in centres:
            marks = self._encoding.marks(centre)
            for _ in range(10):
                moved = dict(marks)
                for key in self._encoding.varied:
                    if source.random() < max(0.3, 1.0 / len(marks)):
                        if key in self._encoding.unordered:
                            moved[key] = source.randrange(len(self._encoding.unordered[key].grid(0)))
                        else:
                            moved[key] = min(max(float(marks[key]) + source.gauss(0.0, width), 0.0), 1.0)
                configuration = self._encoding.configuration(moved)
                if configuration != centre and allowed(configuration, self._spec.rules):
                    found.append(configuration)
        return found


def _log_improvement(mean: NDArray[np.float64], deviation: NDArray[np.float64], incumbent: float) -> NDArray[np.float64]:
    """Return the logarithm of the expected improvement below the incumbent, stable where that is tiny.

    Args:
        mean: predicted, (n,).
        deviation: of the prediction, (n,), positive.
        incumbent: value to improve on.
    """
    import numpy as np
    from scipy.special import erfcx, log_ndtr

    z = (incumbent - mean) / deviation
    plain = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) + z * np.exp(log_ndtr(z))
    # For z well below 0 both terms cancel: with phi factored out, 1 + z Phi(z) / phi(z), where Phi / phi = sqrt(pi/2) erfcx(-z / sqrt 2).
    low = -0.5 * z**2 - 0.5 * np.log(2 * np.pi) + np.log(np.maximum(1 + z * np.sqrt(np.pi / 2) * erfcx(-z / np.sqrt(2)), 1e-300))
    found: NDArray[np.float64] = np.log(deviation) + np.where(z > -1.0, np.log(np.maximum(plain, 1e-300)), low)
    return found
