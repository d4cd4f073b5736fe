"""CQR: candidates are scored by a quantile drawn from conformalised quantile regressions (Salinas et al., ICML 2023).

Syne Tune's own fails on a plain installation, as it imports a package that it does not declare.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarking.methods.searchers.base import Observation, Searcher, SearcherSpec
from benchmarking.methods.searchers.encoding import Encoding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Model: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_CONFORMAL = 32
"""Observations from which on the quantiles are corrected by a part that was held out."""

_HELD_OUT = 0.1
_RETURNED = 20
_TREES = 100


class QuantileRegressionSearcher(Searcher):
    """Fits gradient-boosted quantile regressions; each candidate's score is one of its quantiles, drawn at random (Thompson sampling).

    Args:
        spec: arguments `quantiles` and `candidates`.
    """

    def __init__(self, spec: SearcherSpec) -> None:
        self._spec = spec
        self._encoding = Encoding(spec.space)
        self._latest: dict[int, tuple[list[float], float]] = {}
        self._observed = 0
        self._fitted: tuple[int, Model, NDArray[np.float64]] | None = None

    def observe(self, observation: Observation) -> None:
        """Keep the latest value of an evaluation."""
        self._latest[observation.evaluation] = (self._encoding.vector(observation.configuration), observation.value)
        self._observed += 1

    def propose(self, number: int, pending: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the candidates with the smallest drawn quantile, the best first; none before there are four evaluations."""
        import numpy as np

        if len(self._latest) < 4:
            return []
        source = self._spec.source(number)
        model, corrections = self._fit()
        pool = self._spec.candidates(source, int(self._spec.arguments["candidates"]))
        if not pool:
            return []
        inputs = np.array([self._encoding.vector(configuration) for configuration in pool])
        predicted = model(inputs) + corrections
        drawn = np.random.default_rng(source.getrandbits(64)).integers(predicted.shape[1], size=len(pool))
        order = np.argsort(predicted[np.arange(len(pool)), drawn], kind="stable")
        return [pool[k] for k in order[:_RETURNED]]

    def _fit(self) -> tuple[Model, NDArray[np.float64]]:
        """Return a function from inputs (m, d) to quantiles (m, q), and their corrections (q,); the same until something is observed."""
        import numpy as np
        import xgboost

        if self._fitted is not None and self._fitted[0] == self._observed:
            return self._fitted[1], self._fitted[2]
        inputs = np.array([vector for vector, _ in self._latest.values()])
        targets = np.array([value for _, value in self._latest.values()])
        middle, spread = float(np.median(targets)), float(targets.std()) or 1.0
        levels = np.linspace(0, 1, int(self._spec.arguments["quantiles"]) + 2)[1:-1]
        # Split conformal prediction: a part is held out of the fit, and its residuals correct each quantile (Romano et al., 2019).
        held = np.zeros(len(targets), dtype=bool)
        if len(targets) >= _CONFORMAL:
            shuffled = np.random.default_rng([self._spec.seed, len(targets)]).permutation(len(targets))
            held[shuffled[: max(3, int(len(targets) * _HELD_OUT))]] = True
        settings = {"objective": "reg:quantileerror", "quantile_alpha": levels, "max_depth": 3, "eta": 0.1, "nthread": 1, "verbosity": 0}
        # Standardised, as its regularisation is in units of the target.
        data = xgboost.DMatrix(inputs[~held], (targets[~held] - middle) / spread, nthread=1)
        booster = xgboost.train(settings, data, num_boost_round=_TREES)

        def model(inputs: NDArray[np.float64]) -> NDArray[np.float64]:
            standardised = booster.predict(xgboost.DMatrix(inputs, nthread=1)).reshape(len(inputs), len(levels))
            found: NDArray[np.float64] = middle + spread * standardised
            return found

        corrections = np.zeros(len(levels))
        if held.any():
            residuals = targets[held][:, None] - model(inputs[held])
            corrections = np.array([np.quantile(residuals[:, k], level) for k, level in enumerate(levels)])
        self._fitted = (self._observed, model, corrections)
        return model, corrections
