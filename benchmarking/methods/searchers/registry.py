"""Which searchers there are, and how each is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from benchmarking.methods.searchers.base import Searcher, SearcherSpec

SearcherFactory: TypeAlias = Callable[[SearcherSpec], Searcher]


def make_searcher(spec: SearcherSpec) -> Searcher:
    """Return the searcher that a spec describes, with the imports it needs."""
    if spec.kind in ("REA", "TPE", "BORE"):
        from benchmarking.methods.searchers.syne_tune import SyneTuneSearcher

        return SyneTuneSearcher(spec)
    if spec.kind == "CQR":
        from benchmarking.methods.searchers.quantile_regression import QuantileRegressionSearcher

        return QuantileRegressionSearcher(spec)
    if spec.kind == "GP":
        from benchmarking.methods.searchers.bayesian import BayesianSearcher

        return BayesianSearcher(spec)
    raise ValueError(f"there is no searcher {spec.kind!r}")
