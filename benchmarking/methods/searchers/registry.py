"""Which searchers there are, what each needs that a base installation has not, and how each is made."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from typing import TypeAlias

from benchmarking.methods.searchers.base import Searcher, SearcherSpec
from definitions.errors import UserError
from definitions.program import install_extra

SearcherFactory: TypeAlias = Callable[[SearcherSpec], Searcher]

_NEEDS: Mapping[str, tuple[str, str]] = {
    "REA": ("syne_tune", "syne-tune"),
    "TPE": ("syne_tune", "syne-tune"),
    "BORE": ("syne_tune", "syne-tune"),
    "CQR": ("xgboost", "trees"),
}
"""The module that a searcher imports, and the extra of `setup.cfg` that brings it."""


def extra_of(method: str) -> str:
    """Return the extra of `setup.cfg` that a method needs beyond a base installation; empty where none."""
    return _NEEDS.get(method.removeprefix("ASHA_"), ("", ""))[1]


def _is_installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def check_installed(method: str, kind: str, is_installed: Callable[[str], bool] = _is_installed) -> None:
    """Refuse a searcher whose packages are not there, before anything is started.

    Args:
        method: the method's name, for the message.
        kind: the searcher.
        is_installed: whether a module can be imported.

    Raises:
        UserError: it cannot; the message names the extra.
    """
    module, extra = _NEEDS.get(kind, ("", ""))
    if module and not is_installed(module):
        fact = f"it needs the package {module}, which a base installation does not have"
        raise UserError(f"method {method}", fact, install_extra(extra))


def make_searcher(spec: SearcherSpec) -> Searcher:
    """Return the searcher that a spec describes, with the imports it needs; raises `ValueError` where there is no such kind."""
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
