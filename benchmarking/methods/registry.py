"""Methods by name: the built-in ones, those of plugins (entry points `outrider.methods`), and a definition's variants."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, TypeAlias

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.method import Method, MethodContext
from benchmarking.controller.method_arguments import read_arguments
from benchmarking.methods import asha, search
from benchmarking.methods.canary import CanaryLadder
from benchmarking.methods.grid import Grid
from benchmarking.methods.listed import Listed
from benchmarking.methods.median_stopping import MedianStopping
from benchmarking.methods.pbt import PopulationBasedTraining
from benchmarking.methods.race import Race
from benchmarking.methods.random_search import RandomSearch
from definitions.errors import UserError, did_you_mean
from definitions.plugins import installed
from definitions.resolve import Resolved
from definitions.schema import BenchmarkDefinition, MethodVariant

logger = logging.getLogger(__name__)

MethodFactory: TypeAlias = Callable[[MethodContext], Method]

BUILT_IN: Mapping[str, MethodFactory] = {
    "ASHA": asha.SuccessiveHalving,
    "ASHA_BORE": asha.HalvingWithDensityRatio,
    "ASHA_TPE": asha.HalvingWithParzenEstimator,
    "BO": search.BayesianOptimization,
    "BORE": search.DensityRatio,
    "CANARY": CanaryLadder,
    "CQR": search.ConformalQuantiles,
    "GRID": Grid,
    "LISTED": Listed,
    "MOASHA": asha.MultiObjectiveHalving,
    "MOBSTER": asha.HalvingWithGaussianProcess,
    "MSR": MedianStopping,
    "PBT": PopulationBasedTraining,
    "RACE": Race,
    "REA": search.RegularizedEvolution,
    "RS": RandomSearch,
    "TPE": search.ParzenEstimator,
}


def known_methods(plugins: Iterable[EntryPoint] | None = None) -> dict[str, MethodFactory]:
    """Return all methods by name; a broken plugin is skipped with a warning, a clash of names is an error naming both.

    Raises:
        UserError: two methods of one name.
    """
    methods = dict(BUILT_IN)
    origin = dict.fromkeys(methods, "built-in")
    for point in installed("outrider.methods") if plugins is None else plugins:
        distribution = point.dist.name if point.dist else "unknown distribution"
        if point.name in methods:
            raise UserError(f"two methods are called {point.name!r}", f"{origin[point.name]} and {distribution}", "uninstall one of them")
        try:
            methods[point.name] = point.load()
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything, and must not take us down
            logger.warning("method %s of %s cannot be loaded and is skipped: %s", point.name, distribution, error)
            continue
        origin[point.name] = distribution
    return methods


def default_method(definition: BenchmarkDefinition) -> str:
    """Return the definition's own default, else LISTED for explicit trials and RS for a space."""
    return definition.method or ("LISTED" if definition.trials else "RS")


def build_method(
    name: str,
    definition: BenchmarkDefinition,
    seed: int,
    arguments: Mapping[str, Any],
    methods: Mapping[str, MethodFactory] | None = None,
    region: str = "us-east-1",
) -> Method:
    """Return a new method for one experiment.

    Args:
        name: a known method or one of the definition's variants.
        definition: the resolved definition.
        seed: the experiment's seed.
        arguments: from the command line; they win over those of a variant.
        methods: known methods; those of `known_methods` where None.
        region: whose prices count.

    Raises:
        UserError: unknown method or argument, or a definition that the method cannot handle.
    """
    known = known_methods() if methods is None else methods
    variant = definition.methods.get(name)
    if variant is None:
        if name not in known:
            raise UserError(f"--method {name}: there is no such method", did_you_mean(name, [*known, *definition.methods]))
        variant = MethodVariant(base=name)
    if variant.base not in known:
        raise UserError(f"methods.{name}.base: there is no method {variant.base!r}", did_you_mean(variant.base, list(known)))
    factory = known[variant.base]
    given = {**variant.arguments, **arguments}
    declared = getattr(factory, "arguments", None)
    points = definition.points_to_evaluate
    if points and declared is not None and "points_to_evaluate" in declared:
        given.setdefault("points_to_evaluate", points)
    context = MethodContext(
        space=definition.search_space if definition.space else None,
        configurations=definition.explicit_configurations,
        objectives=definition.objectives,
        fidelity=definition.fidelity,
        seed=seed,
        arguments=given if declared is None else read_arguments(name, declared, given),
        rules=definition.rules,
        repeats=definition.repeats,
        fixed=definition.arguments,
        region=region,
    )
    method = factory(context)
    method.name = name
    return method


def experiment_spec(
    resolved: Resolved,
    method: str,
    seed: int,
    tag: str,
    results_dir: Path,
    arguments: Mapping[str, Any] | None = None,
    number: int = 0,
    methods: Mapping[str, MethodFactory] | None = None,
) -> ExperimentSpec:
    """Return what identifies a new experiment, once its method was built and so is known to suit; see `ExperimentSpec`.

    Raises:
        UserError: as `build_method`.
    """
    built = build_method(method, resolved.definition, seed, arguments or {}, methods)
    return ExperimentSpec(
        resolved,
        method,
        seed,
        tag,
        results_dir,
        dict(arguments or {}),
        number,
        hears_levels=built.hears_levels,
        repeats=1 if built.measures_repeats else resolved.definition.repeats,
    )
